#include "tasks/embed/embed.hpp"
#include "tasks/make_pipeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/json/json_writer.hpp"
#include "tasks/reading/encoder_job.hpp"
#include "tasks/reading/input_tokens.hpp"
#include "tasks/result_writer.hpp"
#include "text/model_input.hpp"

namespace glassformer {
std::unique_ptr<Job> EmbedPipeline::begin(const TaskInputs& inputs, const TaskOptions& options) {
  return begin(inputs_of<TextInput>(inputs), read_options<EmbedOptions>(options));
}

std::unique_ptr<TypedJob<Embedded>> EmbedPipeline::begin(std::span<const TextInput> texts,
                                                         const EmbedOptions& options) {
  check_ranges(options);
  return std::make_unique<EncoderJob<EmbedPipeline>>(*this, texts, options);
}

Embedded EmbedPipeline::embed(std::string_view text, const EmbedOptions& options) {
  return only(embed_batch(std::span(&text, 1), options));
}

Results<Embedded> EmbedPipeline::embed_batch(std::span<const std::string_view> texts,
                                             const EmbedOptions& options) {
  return run_all(*begin(std::vector<TextInput>(texts.begin(), texts.end()), options));
}

std::string_view EmbedPipeline::prompt_of(const EmbedOptions& options) const {
  const VectorConfig& vectors = config().vectors;
  if (options.prompt && options.prompt_name) {
    refuse_option("prompt", {"expected it or {}, got both", {Field("prompt_name")}});
  }
  if (options.prompt) return *options.prompt;
  const std::string& name = options.prompt_name ? *options.prompt_name : vectors.default_prompt;
  if (const std::string* text = vectors.find_prompt(name)) return *text;
  if (!options.prompt_name) return {};
  std::string known;
  for (const auto& prompt : vectors.prompts) {
    known.append(known.empty() ? "one of " : ", ").append(describe(prompt.first));
  }
  refuse_option("prompt_name",
                {"expected {}, got {}",
                 {known.empty() ? "a model that has prompts" : known, describe(name)}});
}

std::vector<EncoderInput> EmbedPipeline::read(const TextInput& text,
                                              const EmbedOptions& options) const {
  const std::string_view prompt = prompt_of(options);
  if (prompt.empty()) return {reader().read(text.alone())};
  EncoderInput input = reader().read(std::string(prompt).append(text.alone()));
  leave_out_prefix(input.tokens, prompt);
  return {std::move(input)};
}

// Returns the number of tokens of a prompt, including the special ones before it. As in the
// library, one special token at its end is not counted.
std::size_t EmbedPipeline::prompt_tokens(std::string_view prompt) const {
  const std::vector<Token> tokens = reader().read(prompt).tokens;
  return tokens.size() - (tokenizer().is_control(tokens.back().id) ? 1 : 0);
}

Embedded EmbedPipeline::answer(std::vector<EncoderAnswer> windows, std::string_view,
                               const EmbedOptions& options) {
  EncoderAnswer& answer = windows[0];
  const std::size_t count = answer.input.tokens.size();
  const std::string_view prompt = prompt_of(options);
  const bool excluded = !config().vectors.include_prompt && !prompt.empty();
  const std::size_t first = excluded ? std::min(prompt_tokens(prompt), count - 1) : 0;
  const std::vector<std::size_t>& masked = options.encoder.mask_tokens;
  std::vector<std::size_t> tokens;  // positions of the tokens to pool
  for (std::size_t i = first; i < count; ++i) {
    if (std::ranges::find(masked, i) == masked.end()) tokens.push_back(i);
    if (answer.input.tokens[i].id == config().vectors.end_id) break;
  }
  if (tokens.empty()) tokens.push_back(first);  // only the prompt is left
  Embedded result;
  const bool own = options.poolings.empty();
  result.embedding = pool(const_view(answer.rows.data(), {count, answer.columns}), tokens,
                          own ? config().vectors.poolings : options.poolings, first);
  // The modules expect the vectors of the model's own poolings.
  if (own) result.embedding = model()->finish_vector(std::move(result.embedding), model().session);
  if (options.normalize.value_or(config().vectors.normalize)) normalize(result.embedding);
  for (const float number : result.embedding) {
    if (std::isfinite(number)) continue;
    throw_error(ErrorCode::non_finite,
                "embedding: expected finite numbers, got others: the model's activations exceed "
                "the range of floats");
  }
  result.tokens = input_tokens(answer.input.tokens, tokenizer());
  result.clipped = answer.input.clipped;
  result.attention = std::move(answer.attention);
  result.trace = std::move(answer.trace);
  return result;
}

std::unique_ptr<Pipeline> make_embed(PipelineParts& parts) {
  return std::make_unique<EmbedPipeline>(std::move(parts.config), std::move(parts.tokenizer),
                                         parts.compute);
}

}  // namespace glassformer
