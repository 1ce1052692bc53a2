#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/trace/trace_plan.hpp"
#include "tasks/generate/generate.hpp"
#include "tasks/limits.hpp"
#include "tasks/writing/writing.hpp"

// What writing a text and listing its next tokens share.

namespace glassformer {

/// A text on its way into the decoder, which reads it before it writes.
struct Prompt {
  std::vector<InputToken> tokens;  ///< of the text
  bool clipped;                    ///< the text had more tokens
  std::vector<std::int32_t> ids;   ///< read by the decoder; at least one
  std::size_t max_new;             ///< the maximum number of tokens to write
  DecodingLimits limits;
  std::optional<Seq2Seq::Encoded> encoded = {};  ///< for a model with an encoder
  std::optional<DecodingState> state = {};
  std::size_t fed = 0;  ///< how many ids the decoder has read

  const Seq2Seq::Encoded* sources() const { return encoded ? &*encoded : nullptr; }
};

/// Reads prompts.
class PromptReader {
 public:
  /// Throws `invalid_option` for heads and names that do not exist. The pipeline and the settings,
  /// those of the folder and the task, must outlive this.
  PromptReader(GeneratePipeline& pipeline, const GenerationConfig& settings,
               const DecoderOptions& options);

  const TraceRequest& request() const { return trace_.request(); }

  /// Reads a text, and encodes it if the model has an encoder. `most_new(read)`: the maximum number
  /// of tokens to write after the decoder has read `read` tokens. Throws the errors of
  /// GenerationModel::read, and `too_large` if the text, a search with `beams` hypotheses or the
  /// requested tensors may take too much memory.
  Prompt read(std::string_view text, std::size_t beams,
              const std::function<std::size_t(std::size_t read)>& most_new);
  /// Feeds some tokens to the decoder: all but the last one, which is fed to get the next token.
  /// Returns whether there were any.
  bool feed_some(Prompt& prompt) const;

 private:
  GeneratePipeline& pipeline_;
  const GenerationConfig& settings_;
  TracePlan trace_;
  TraceBudget budget_;
};

/// Returns constraints that also forbid the words and tokens which the call names. Throws
/// `invalid_option` for ids that do not exist.
Constraints with_forbidden(Constraints constraints, const SampleOptions& options,
                           const GeneratePipeline& pipeline);

/// Returns the number of tokens that both the tokenizer and the model have.
std::size_t vocab_size_of(const GeneratePipeline& pipeline);

/// Adds what the encoder computed for a prompt, and moves it.
Captured with_encoder(Captured captured, Prompt& prompt);

/// Answers texts one after the other. An error in one text does not affect the others.
template <class Typed, class Base = TypedJob<Typed>>
class PromptJob : public Base {
 public:
  explicit PromptJob(std::span<const std::string_view> texts)
      : texts_(texts.begin(), texts.end()) {}

  bool step() final {
    if (results_.size() == texts_.size()) return false;
    try {
      if (!std::exchange(begun_, true)) {
        begin_text(std::exchange(texts_[results_.size()], std::string()));
        return true;
      }
      std::optional<Typed> result = go_on();
      if (!result) return true;
      results_.emplace_back(*std::move(result));
    } catch (const Error& error) {
      results_.emplace_back(error);
    }
    end_text();
    begun_ = false;
    return results_.size() < texts_.size();
  }
  Results<Typed> take() final { return std::move(results_); }

 private:
  /// Reads the next text.
  virtual void begin_text(const std::string& text) = 0;
  /// Does the next piece of work on it. Returns its result at the end.
  virtual std::optional<Typed> go_on() = 0;
  /// Drops what was needed for it. Also called after an error.
  virtual void end_text() = 0;
  void write_fields(ResultWriter& writer, Typed& result) final { fields(writer, result); }

  std::vector<std::string> texts_;  // until they are read
  Results<Typed> results_;
  bool begun_ = false;  // the first text that has no result
};

}  // namespace glassformer
