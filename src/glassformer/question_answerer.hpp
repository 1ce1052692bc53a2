#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "glassformer/compute.hpp"
#include "glassformer/encoder_options.hpp"
#include "glassformer/error.hpp"
#include "glassformer/tokens.hpp"

namespace glassformer {

class AnswerPipeline;

/// What may be asked of a QuestionAnswerer: names and defaults of the question-answering pipeline
/// of Transformers 4. Of the encoder's options, attention, trace, patch and
/// ablate.
struct AnswerOptions {
  EncoderOptions encoder = {};
  std::size_t max_seq_len = 384;  ///< tokens that the model reads at once; at most its own maximum
  /// Tokens of the context that a window shares with the one before; by default 128, or half of
  /// max_seq_len where that is less.
  std::optional<std::size_t> doc_stride = {};
  std::size_t max_answer_len = 15;        ///< tokens, at least 1
  bool handle_impossible_answer = false;  ///< the answer may be that there is none
};

/// An answer, and the window of the context, of T tokens, that the model read it from.
struct Answer {
  std::string answer;                   ///< the context from start to end; empty: there is none
  float score;                          ///< 0 to 1
  std::uint32_t start, end;             ///< its place in the context, in UTF-16 code units
  std::vector<InputToken> tokens = {};  ///< [T] the question's, sequence 0, and the context's
  std::optional<AttentionMap> attention = {};  ///< [layers, heads, T, T], if asked for
  std::vector<TracedTensor> trace = {};        ///< what was asked for, in the order of the run
};

/// A question and a text that may answer it to the place in the text that does. It answers one call
/// at a time; use one per thread.
class QuestionAnswerer {
 public:
  /// Opens a model folder. Throws what Classifier::load does.
  static QuestionAnswerer load(const std::filesystem::path& folder,
                               const LoadOptions& options = {});
  explicit QuestionAnswerer(std::unique_ptr<AnswerPipeline> pipeline);
  QuestionAnswerer(QuestionAnswerer&&) noexcept;
  QuestionAnswerer& operator=(QuestionAnswerer&&) noexcept;
  ~QuestionAnswerer();

  Compute compute() const;

  /// Throws `empty_input` where the question or the context has no tokens, `too_large` for a
  /// question that leaves the context no room, `invalid_option`, and `non_finite` where a logit is
  /// not a finite number.
  Answer answer(std::string_view question, std::string_view context,
                const AnswerOptions& options = {});

 private:
  std::unique_ptr<AnswerPipeline> pipeline_;
};

}  // namespace glassformer
