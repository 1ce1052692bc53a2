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

/// Options of a QuestionAnswerer, with the names and defaults of the question-answering pipeline of
/// Transformers 4. Of the encoder's options it uses attention, trace, gradients, patch
/// and ablate.
struct AnswerOptions {
  EncoderOptions encoder = {};
  std::size_t max_seq_len = 384;  ///< tokens that the model reads at once; at most its own maximum
  /// Tokens of the context that a window shares with the one before. Default: 128, or half of
  /// max_seq_len if that is less.
  std::optional<std::size_t> doc_stride = {};
  std::size_t max_answer_len = 15;        ///< in tokens, at least 1
  bool handle_impossible_answer = false;  ///< allow the answer that there is no answer
};

/// An answer, and the window of the context, of T tokens, in which the model found it.
struct Answer {
  std::string answer;                   ///< the context from start to end; empty: no answer
  float score;                          ///< 0 to 1
  std::uint32_t start, end;             ///< its position in the context, in UTF-16 code units
  std::vector<InputToken> tokens = {};  ///< [T] of the question, sequence 0, and of the context
  std::optional<AttentionMap> attention = {};  ///< [layers, heads, T, T], if requested
  std::vector<TracedTensor> trace = {};        ///< the requested tensors, in the order of the run
  std::vector<TracedTensor> gradients = {};    ///< of the answer, in the order of the run
};

/// Finds the answer to a question in a text. Any number of threads may call it at a time.
class QuestionAnswerer {
 public:
  /// Opens a model folder. Throws the same errors as Classifier::load.
  static QuestionAnswerer load(const std::filesystem::path& folder,
                               const LoadOptions& options = {});
  explicit QuestionAnswerer(std::unique_ptr<AnswerPipeline> pipeline);
  QuestionAnswerer(QuestionAnswerer&&) noexcept;
  QuestionAnswerer& operator=(QuestionAnswerer&&) noexcept;
  ~QuestionAnswerer();

  Compute compute() const;

  /// Answers a question. Throws `empty_input` if the question or the context has no tokens,
  /// `too_large` if the question leaves no tokens for the context, `invalid_option`, and
  /// `non_finite` if a logit is not finite.
  Answer answer(std::string_view question, std::string_view context,
                const AnswerOptions& options = {});

 private:
  std::unique_ptr<AnswerPipeline> pipeline_;
};

}  // namespace glassformer
