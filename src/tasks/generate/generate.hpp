#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/tasks/generate.hpp"
#include "base/error.hpp"
#include "search/constraints.hpp"
#include "search/sampling_search.hpp"
#include "tasks/generate/generation_model.hpp"
#include "tasks/pipeline.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// How a text is continued, according to the options of the call, the folder and the defaults.
struct GenerationPlan {
  TokenChoice choice;
  Constraints constraints;
  SearchOptions search;
};
/// Returns the plan. Throws `invalid_option` for options that are invalid or conflict, and
/// `unsupported` for a folder that requests both sampling and beams.
GenerationPlan plan_of(const GenerateOptions& options, const GenerationConfig& folder);
/// Returns how a single token is chosen, and the constraints on it.
TokenChoice choice_of(const SampleOptions& options, const GenerationConfig& folder);
Constraints constraints_of(const SampleOptions& options, const GenerationConfig& folder);
/// The maximum number of tokens to write, if neither the call nor the folder tells.
inline constexpr std::size_t usual_new_tokens = 64;
/// Returns the maximum number of tokens to write after the decoder has read `read` tokens. The
/// model may have fewer positions.
std::size_t most_new_tokens(const GenerateOptions& options, const GenerationConfig& folder,
                            std::size_t read);

/// Returns the tokens of words that must not be written: for each word, those at the start of a
/// text and those after a space. End tokens are left out. Throws `invalid_option` for a word
/// without tokens.
std::vector<std::vector<std::int32_t>> tokens_of_words(std::span<const std::string> words,
                                                       const Tokenizer& tokenizer,
                                                       std::span<const std::int32_t> ends);

/// Continues or answers texts, one after the other. A step reads a text, feeds some of its tokens,
/// writes a token, or ends a text.
class GenerationJob : public TypedJob<Generation> {
 public:
  /// With options.stream: the token that the last step wrote, if it adds to the text. `show` writes
  /// it as {token, text, promptTokens?, attention?: {encoder?, decoder, cross?}}; promptTokens and
  /// `encoder` with a text's first token.
  virtual const std::optional<GenerationStep>& streamed() const = 0;
};

/// Continues texts or, for a model with an encoder, answers them.
class GeneratePipeline final : public Pipeline {
 public:
  using Options = GenerateOptions;
  static constexpr std::array tasks = {Task::text_generation, Task::text2text_generation};
  /// The longest text, in bytes.
  static constexpr std::size_t max_text_bytes = 1 << 20;

  /// Throws `wrong_task` unless the configuration describes a model that writes texts, and the
  /// errors of make_generation_model.
  GeneratePipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                   Compute compute = Compute::f32);
  GeneratePipeline(const GeneratePipeline&) = delete;
  GeneratePipeline& operator=(const GeneratePipeline&) = delete;

  std::vector<NamedParameter> parameters() override { return model_->parameters(); }
  const ModelConfig& config() const override { return config_; }
  Compute compute() const override { return model_->decoder().compute(); }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const Tokenizer* vocabulary() const override { return tokenizer_.get(); }
  const GenerationModel& model() const { return *model_; }
  WriterRunner runner() { return {model_->decoder(), session()}; }

  /// Starts answering several texts. Throws `invalid_option` for options, heads or names that do
  /// not exist. An error in one text does not affect the others: `empty_input` for a text without
  /// tokens, `too_large` for a text over max_text_bytes or if its search or trace may take too much
  /// memory, `non_finite`. The pipeline must outlive the job.
  std::unique_ptr<GenerationJob> begin(std::span<const std::string_view> texts,
                                       const GenerateOptions& options);
  /// Starts listing the tokens that may come next.
  std::unique_ptr<TypedJob<Prediction>> begin(std::span<const std::string_view> texts,
                                              const NextOptions& options);
  /// Options with the field `count` are NextOptions, all others GenerateOptions.
  std::unique_ptr<Job> begin(const TaskInputs& inputs, const TaskOptions& options) override;

 private:
  friend class GeneratingJob;
  friend class PredictionJob;

  // Returns the folder's settings, with those of the requested task.
  GenerationConfig settings(const TaskPromptOptions& options) const;

  ModelConfig config_;
  std::unique_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<GenerationModel> model_;
};

/// The models that summarize texts.
inline constexpr std::array summarizers = {Task::text2text_generation};
/// Returns the options with which a model summarizes: the folder's settings for the task
/// "summarization", if it has any and the options name no other task.
GenerateOptions summarizing(GenerateOptions options, const ModelConfig& config);

}  // namespace glassformer
