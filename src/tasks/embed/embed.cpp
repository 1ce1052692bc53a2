#include "tasks/embed/embed.hpp"
#include "tasks/make_pipeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/json_writer.hpp"
#include "tasks/reading/encoder_job.hpp"
#include "tasks/reading/input_tokens.hpp"
#include "tasks/result_writer.hpp"
#include "text/model_input.hpp"

namespace glassformer {
namespace {

TokenPooling parse_pooling(const OptionsReader& reader, JsonValue value) {
  static constexpr std::array<std::pair<std::string_view, TokenPooling>, 6> names = {{
      {"mean", TokenPooling::mean},
      {"cls", TokenPooling::cls},
      {"max", TokenPooling::max},
      {"mean_sqrt_len", TokenPooling::mean_sqrt_len},
      {"weightedmean", TokenPooling::weighted_mean},
      {"lasttoken", TokenPooling::last_token},
  }};
  for (const auto& [name, pooling] : names) {
    if (value.is_string() && value.string() == name) return pooling;
  }
  reader.fail("pooling",
              "\"mean\", \"cls\", \"max\", \"mean_sqrt_len\", \"weightedmean\", \"lasttoken\" or "
              "several of them",
              value);
}

}  // namespace

EmbedOptions parse_embed_options(const TaskOptions& task) {
  OptionsReader reader(task);
  EmbedOptions options;
  options.encoder = read_encoder_options(reader);
  if (const JsonValue* pooling = reader.find("pooling")) {
    if (pooling->is_array()) {
      for (JsonEntries entry(*pooling); entry.next();) {
        options.poolings.push_back(parse_pooling(reader, entry.value()));
      }
    } else {
      options.poolings = {parse_pooling(reader, *pooling)};
    }
  }
  if (reader.find("normalize")) options.normalize = reader.boolean("normalize");
  if (reader.find("prompt")) options.prompt = reader.string("prompt");
  if (reader.find("promptName")) options.prompt_name = reader.string("promptName");
  reader.finish();
  return options;
}

std::unique_ptr<Job> EmbedPipeline::begin(std::span<const TextInput> texts,
                                          const TaskOptions& options, ResultForm form) {
  return std::make_unique<EncoderJob<EmbedPipeline, EmbedOptions>>(
      *this, texts, parse_embed_options(options), form);
}

Embedded EmbedPipeline::embed(std::string_view text, const EmbedOptions& options) {
  return only(embed_batch(std::span(&text, 1), options));
}

std::vector<std::variant<Embedded, Error>> EmbedPipeline::embed_batch(
    std::span<const std::string_view> texts, const EmbedOptions& options) {
  return run_all(*this, to_inputs(texts), options);
}

std::string_view EmbedPipeline::prompt_of(const EmbedOptions& options) const {
  const VectorConfig& vectors = config().vectors;
  if (options.prompt && options.prompt_name) {
    refuse_option("prompt: expected it or promptName, got both");
  }
  if (options.prompt) return *options.prompt;
  const std::string& name = options.prompt_name ? *options.prompt_name : vectors.default_prompt;
  if (const std::string* text = vectors.find_prompt(name)) return *text;
  if (!options.prompt_name) return {};
  std::string known;
  for (const auto& prompt : vectors.prompts) {
    known.append(known.empty() ? "one of " : ", ").append(describe(prompt.first));
  }
  refuse_option({"promptName: expected {}, got {}",
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

// How many tokens a prompt has, with the special ones before it. As in the library, one special
// token at its end is not counted.
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
  std::vector<std::size_t> tokens;  // that count
  for (std::size_t i = first; i < count; ++i) {
    if (std::ranges::find(masked, i) == masked.end()) tokens.push_back(i);
  }
  if (tokens.empty()) tokens.push_back(first);  // only the prompt is left
  Embedded result;
  const bool own = options.poolings.empty();
  result.embedding = pool(const_view<2>(answer.rows.data(), {count, answer.columns}), tokens,
                          own ? config().vectors.poolings : options.poolings, first);
  // The modules take the vectors that the model's own poolings give.
  if (own) result.embedding = model()->finish_vector(std::move(result.embedding), model().session);
  if (options.normalize.value_or(config().vectors.normalize)) normalize(result.embedding);
  for (const float number : result.embedding) {
    if (std::isfinite(number)) continue;
    throw_error(ErrorCode::non_finite,
                "embedding: expected finite numbers, got others: the model's weights lead out of "
                "the range of floats");
  }
  result.tokens = input_tokens(answer.input.tokens, tokenizer());
  result.clipped = answer.input.clipped;
  result.attention = std::move(answer.attention);
  result.trace = std::move(answer.trace);
  return result;
}

Result EmbedPipeline::to_result(Embedded result, ResultForm form) const {
  if (is_line(form)) {
    std::string line;
    for (const float number : result.embedding) {
      JsonWriter text;
      text.value(number);
      line.append(line.empty() ? "" : " ").append(text.take());
    }
    return {.text = std::move(line), .clipped = result.clipped};
  }
  ResultWriter json(form);
  json.object([&] {
    std::vector<TracedTensor> tensors;
    if (json.embeds()) {
      json.key("embedding");
      json.array(result.embedding, [&](float number) { json.value(number); });
    } else {
      tensors.push_back({"embedding", {result.embedding.size()}, std::move(result.embedding)});
    }
    json.key("tokens");
    write(json, result.tokens);
    json.field("clipped", result.clipped);
    if (result.attention) {
      tensors.push_back(to_tensor("attention.encoder", std::move(*result.attention)));
    }
    json.tensors(std::move(tensors));
    json.trace(std::move(result.trace));
  });
  return json.take_result();
}

std::unique_ptr<Pipeline> make_embed(PipelineParts& parts) {
  return std::make_unique<EmbedPipeline>(std::move(parts.config), std::move(parts.tokenizer),
                                         parts.compute);
}

}  // namespace glassformer
