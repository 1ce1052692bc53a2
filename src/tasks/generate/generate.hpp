#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "glassformer/generator.hpp"
#include "search/beam_search.hpp"
#include "search/sampling.hpp"
#include "tasks/generate/generation_model.hpp"
#include "tasks/pipeline.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// What a call asks for: a continuation, or what may come next.
using GenerateTask = std::variant<GenerateOptions, NextOptions>;

/// {"maxNewTokens": int, "minNewTokens": int, "beams": int, "lengthPenalty": number,
/// "earlyStopping": bool or "never", "stopStrings": [text], "hypotheses": bool, "stream": bool} or
/// {"next": int}, which is NextOptions::count, and with either {"sample": bool, "temperature":
/// number, "topK": int, "topP": number, "seed": int, "repetitionPenalty": number,
/// "noRepeatNgramSize": int, "badWords": [text], "suppressTokens": [id], "beginSuppressTokens":
/// [id], "task": text, "prefix": bool, "attention": bool, "trace": [name], "patch": [see
/// OptionsReader], "ablate": [{"attention": "decoder", "layer": int, "head": int}]}, every field
/// optional. Throws `invalid_option` naming the field for anything else.
GenerateTask parse_generate_options(const TaskOptions& task);

/// How a text is continued, after all that says so: the call's options, the folder, what is usual.
struct GenerationPlan {
  TokenChoice choice;
  SearchOptions search;
};
/// Throws `invalid_option` for what does not exist, or not together.
GenerationPlan plan_of(const GenerateOptions& options, const GenerationConfig& folder);
/// Of one token alone.
TokenChoice choice_of(const SampleOptions& options, const GenerationConfig& folder);
/// The most tokens that are written behind so many that the decoder has read, if all fit.
std::size_t most_new_tokens(const GenerateOptions& options, const GenerationConfig& folder,
                            std::size_t read);

/// The tokens of words that are not to be written: of each, at the start of a text and behind a
/// space. An end token is none. Throws `invalid_option` for a word without tokens.
std::vector<std::vector<std::int32_t>> tokens_of_words(std::span<const std::string> words,
                                                       const Tokenizer& tokenizer,
                                                       std::span<const std::int32_t> ends);

class GenerationJob;

/// Text to its continuation or, of a model with an encoder, to the answer.
class GeneratePipeline final : public Pipeline {
 public:
  static constexpr std::array tasks = {Task::text_generation, Task::text2text_generation};
  /// The longest text, in bytes.
  static constexpr std::size_t max_text_bytes = 1 << 20;

  /// Throws `wrong_task` unless the configuration describes a model that writes texts, and what
  /// make_generation_model does.
  GeneratePipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                   Compute compute = Compute::f32);
  GeneratePipeline(const GeneratePipeline&) = delete;
  GeneratePipeline& operator=(const GeneratePipeline&) = delete;

  std::vector<NamedParameter> parameters() override { return model_->parameters(); }
  const ModelConfig& config() const override { return config_; }
  Compute compute() const override { return model_->decoder().compute(); }
  const Tokenizer& tokenizer() const override { return *tokenizer_; }
  GenerationModel& model() { return *model_; }

  /// Starts on several texts. Throws `invalid_option` for options, heads or names that do not
  /// exist. Of one text's error the others hear nothing: `empty_input` for a text without tokens,
  /// `too_large` for one of over max_text_bytes or one whose search or trace may take too much
  /// memory, `non_finite`. The pipeline outlives the job.
  GenerationJob begin(std::span<const std::string_view> texts, const GenerateTask& options,
                      ResultForm form = ResultForm::json);
  std::unique_ptr<Job> begin(std::span<const TextInput> texts, const TaskOptions& options,
                             ResultForm form) override;

 private:
  friend class GenerationJob;

  // The folder's settings, with those of the task that is asked for.
  GenerationConfig settings(const TaskPromptOptions& options) const;

  ModelConfig config_;
  std::unique_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<GenerationModel> model_;
};

/// Texts that are being continued, or answered, one after the other.
class GenerationJob final : public Job {
 public:
  GenerationJob(GenerationJob&&) noexcept;
  GenerationJob& operator=(GenerationJob&&) noexcept;
  ~GenerationJob() override;

  /// Reads a text, feeds some of its tokens, writes one, or ends it.
  bool step() override;

  /// With options.stream: the token that the last step wrote, if it did and it adds to the text.
  const std::optional<GenerationStep>& streamed() const;
  /// streamed() as {token, text, promptTokens?, attention?: {encoder?, decoder, cross?}};
  /// promptTokens and `encoder` with a text's first token.
  std::optional<Result> progress() override;

  /// One a text, in their order, once done; they are moved out.
  std::vector<std::variant<Generation, Error>> take_generations();
  std::vector<std::variant<Prediction, Error>> take_predictions();
  std::vector<Outcome> end() override;

 private:
  friend class GeneratePipeline;
  struct State;
  explicit GenerationJob(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

/// As text: what was written, line breaks as "\n"; or {text, score, tokens: [{id, text, start, end,
/// logprob}], promptTokens: [{id, text, start, end}], clipped, ended, attention?: {encoder?,
/// decoder, cross?}, trace?, hypotheses?: [{text, score, tokens}]}.
Result to_result(Generation generation, ResultForm form);
/// As text: tokens and their probabilities, with tabs between; or {next: [{id, text, logprob,
/// probability}], promptTokens, clipped, attention?, trace?}.
Result to_result(Prediction prediction, ResultForm form);
/// See GenerationJob::progress.
Result to_result(GenerationStep step, const std::vector<InputToken>* prompt, ResultForm form);

}  // namespace glassformer
