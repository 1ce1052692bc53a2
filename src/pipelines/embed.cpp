#include "pipelines/embed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "io/json_writer.hpp"
#include "pipelines/encoder_job.hpp"
#include "pipelines/input_tokens.hpp"
#include "pipelines/result_writer.hpp"

namespace glassformer {
namespace {

TokenPooling parse_pooling(const OptionsReader& reader, JsonValue value) {
  static constexpr std::array<std::pair<std::string_view, TokenPooling>, 4> names = {{
      {"mean", TokenPooling::mean},
      {"cls", TokenPooling::cls},
      {"max", TokenPooling::max},
      {"mean_sqrt_len", TokenPooling::mean_sqrt_len},
  }};
  for (const auto& [name, pooling] : names) {
    if (value.is_string() && value.string() == name) return pooling;
  }
  reader.fail("pooling", "\"mean\", \"cls\", \"max\", \"mean_sqrt_len\" or several of them", value);
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

Embedded EmbedPipeline::answer(EncoderAnswer answer, std::string_view,
                               const EmbedOptions& options) const {
  const std::size_t count = answer.input.tokens.size();
  const std::vector<std::size_t>& masked = options.encoder.mask_tokens;
  std::vector<std::size_t> tokens;  // that count
  for (std::size_t i = 0; i < count; ++i) {
    if (std::ranges::find(masked, i) == masked.end()) tokens.push_back(i);
  }
  Embedded result;
  result.embedding = pool(const_view<2>(answer.rows.data(), {count, answer.columns}), tokens,
                          options.poolings.empty() ? config().poolings : options.poolings);
  if (options.normalize.value_or(config().normalize)) normalize(result.embedding);
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
    return {std::move(line)};
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

}  // namespace glassformer
