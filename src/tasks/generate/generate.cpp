#include "tasks/generate/generate.hpp"

#include <algorithm>

#include "base/strings/decimal.hpp"
#include "families/config/generation_config.hpp"
#include "tasks/limits.hpp"
#include "tasks/search_plan.hpp"

#include "tasks/make_pipeline.hpp"

namespace glassformer {
namespace {

// The library's default if a folder requests sampling without a number of tokens.
constexpr std::size_t usual_top_k = 50;
// Logits divided by a smaller number would overflow. 0 selects the most probable token.
constexpr float least_temperature = 1e-30f;

// Returns true if an option requests sampling, false if one forbids it, otherwise nothing.
std::optional<bool> wants_to_sample(const SampleOptions& options) {
  if (options.sample) return options.sample;
  if (options.temperature && *options.temperature <= 0) return false;
  if (options.temperature || options.top_k || options.top_p || options.min_p || options.typical_p ||
      options.seed) {
    return true;
  }
  return std::nullopt;
}

// Returns the options, with the folder's values of those that are not given.
SampleOptions completed(SampleOptions options, const GenerationConfig& folder) {
  complete(static_cast<SamplingSettings&>(options), folder.sampling);
  check_ranges(options);
  return options;
}

std::vector<std::int32_t> ids_or(const std::optional<std::vector<std::size_t>>& option,
                                 const std::vector<std::int32_t>& folder) {
  if (!option) return folder;
  std::vector<std::int32_t> ids;
  for (const std::size_t id : *option) ids.push_back(static_cast<std::int32_t>(id));
  return ids;
}

[[noreturn]] void refuse_task(const std::string& task, std::span<const TaskSettings> tasks) {
  std::string known;
  for (const TaskSettings& other : tasks) {
    known.append(known.empty() ? "one of " : ", ").append(describe(other.name));
  }
  refuse_option("task",
                {"expected {}, got {}",
                 {known.empty() ? "a model that has settings for tasks" : known, describe(task)}});
}

}  // namespace

std::vector<std::vector<std::int32_t>> tokens_of_words(std::span<const std::string> words,
                                                       const Tokenizer& tokenizer,
                                                       std::span<const std::int32_t> ends) {
  std::vector<std::vector<std::int32_t>> result;
  for (const std::string& word : words) {
    for (const std::string& text : {word, " " + word}) {
      std::vector<std::int32_t> ids;
      for (const Token& token : tokenizer.encode(text)) ids.push_back(token.id);
      if (ids.empty()) {
        refuse_option("bad_words", {"expected texts that have tokens, got {}", {describe(word)}});
      }
      // End tokens cannot be forbidden.
      const bool end = ids.size() == 1 && std::ranges::find(ends, ids[0]) != ends.end();
      if (!end && std::ranges::find(result, ids) == result.end()) result.push_back(std::move(ids));
    }
  }
  return result;
}

TokenChoice choice_of(const SampleOptions& options, const GenerationConfig& folder) {
  const SampleOptions all = completed(options, folder);
  TokenChoice choice;
  choice.samples = wants_to_sample(options).value_or(folder.sample) && all.temperature != 0;
  SamplingOptions& sampling = choice.sampling;
  if (all.temperature.value_or(0) != 0) sampling.temperature = *all.temperature;
  if (sampling.temperature < least_temperature) {
    refuse_option("temperature",
                  {"expected 0, or at least {}, got {}",
                   {shortest_decimal(least_temperature), shortest_decimal(sampling.temperature)}});
  }
  const bool folders = folder.sample && choice.samples;
  sampling.top_k = all.top_k.value_or(folders ? usual_top_k : 0);
  sampling.top_p = all.top_p.value_or(1.0f);
  sampling.min_p = all.min_p.value_or(0.0f);
  sampling.typical_p = all.typical_p.value_or(1.0f);
  choice.seed = all.seed.value_or(0);
  return choice;
}

Constraints constraints_of(const SampleOptions& options, const GenerationConfig& folder) {
  const SampleOptions all = completed(options, folder);
  Constraints constraints;
  constraints.repetition_penalty = all.repetition_penalty.value_or(1.0f);
  constraints.encoder_repetition_penalty = all.encoder_repetition_penalty.value_or(1.0f);
  constraints.rules = {
      .no_repeat_ngram = all.no_repeat_ngram_size.value_or(0),
      .ends = folder.end_ids,
      .never = options.bad_words ? std::vector<std::vector<std::int32_t>>() : folder.never,
      .not_first = ids_or(options.begin_suppress_tokens, folder.not_first),
      .second = folder.second_token};
  for (const std::int32_t id : ids_or(options.suppress_tokens, folder.suppressed)) {
    constraints.rules.never.push_back({id});
  }
  return constraints;
}

GenerationPlan plan_of(const GenerateOptions& options, const GenerationConfig& folder) {
  check_ranges(options);
  GenerationPlan plan = {.choice = choice_of(options, folder),
                         .constraints = constraints_of(options, folder),
                         .search = {}};
  const bool asked_to_sample = wants_to_sample(options).value_or(false);
  const std::size_t beams = options.beams.value_or(asked_to_sample ? 1 : folder.beams.value_or(1));
  plan.search = library_search({beams, options.length_penalty, options.early_stopping}, folder);
  if (beams > 1 && plan.choice.samples) {
    if (!asked_to_sample && !options.beams) {
      throw_error(
          ErrorCode::unsupported,
          {"{}: do_sample is true, and {}: num_beams is {}, but a beam search does not sample "
           "here; set option {} to false to search, or {} to 1 to sample",
           {folder.sample_in, folder.beams_in, beams, Field("sample"), Field("beams")}});
    }
    if (asked_to_sample) {
      refuse_option(
          "beams", {"expected 1 if tokens are sampled, got {}; leave out {}, {}, {}, {} and {}, or "
                    "set {} to false",
                    {beams, Field("sample"), Field("temperature"), Field("top_k"), Field("top_p"),
                     Field("seed"), Field("sample")}});
    }
  }
  if (beams > 1) plan.choice.samples = false;
  if (beams == 1) plan.search.renormalize = false;  // log-probabilities stay the model's
  return plan;
}

std::size_t most_new_tokens(const GenerateOptions& options, const GenerationConfig& folder,
                            std::size_t read) {
  if (options.max_new_tokens) return *options.max_new_tokens;
  if (folder.max_new_tokens) return *folder.max_new_tokens;
  if (folder.max_length) return std::max(*folder.max_length, read + 1) - read;
  return usual_new_tokens;
}

GeneratePipeline::GeneratePipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                                   Compute compute)
    : config_(expect_task(std::move(config), tasks)),
      tokenizer_(std::move(tokenizer)),
      model_(make_generation_model(config_, *tokenizer_, compute)) {}

GenerationConfig GeneratePipeline::settings(const TaskPromptOptions& options) const {
  GenerationConfig settings = config_.generation;
  if (!options.special_tokens && config_.architecture.encoder) {
    refuse_option("special_tokens", "expected true for a model with an encoder, got false");
  }
  settings.special_tokens = options.special_tokens;
  if (options.task) {
    const std::vector<TaskSettings>& known = config_.generation.tasks;
    const auto task = std::ranges::find(known, *options.task, &TaskSettings::name);
    if (task == known.end()) refuse_task(*options.task, known);
    settings = with_task(std::move(settings), *task, config_.decoder().vocab_size());
  }
  if (!options.prefix) settings.prefix.clear();
  // As in the library, a prefix does not count towards the maximum length.
  if (settings.max_length && !config_.architecture.encoder) {
    *settings.max_length += tokenizer_->encode(settings.prefix).size();
  }
  return settings;
}

GenerateOptions summarizing(GenerateOptions options, const ModelConfig& config) {
  constexpr const char* task = "summarization";
  const std::vector<TaskSettings>& known = config.generation.tasks;
  const bool has_settings = std::ranges::find(known, task, &TaskSettings::name) != known.end();
  if (has_settings && !options.task) options.task = task;
  return options;
}

std::unique_ptr<Job> GeneratePipeline::begin(const TaskInputs& inputs, const TaskOptions& options) {
  const std::vector<std::string_view> texts = single_texts(inputs_of<TextInput>(inputs));
  if (OptionsReader(options).find("count")) return begin(texts, read_options<NextOptions>(options));
  return begin(texts, read_options<GenerateOptions>(options));
}

std::unique_ptr<Pipeline> make_generate(PipelineParts& parts) {
  return std::make_unique<GeneratePipeline>(std::move(parts.config), std::move(parts.tokenizer),
                                            parts.compute);
}

}  // namespace glassformer
