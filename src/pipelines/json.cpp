#include "pipelines/json.hpp"

#include <cstring>

#include "io/json.hpp"

namespace glassformer {
namespace {

using Json = nlohmann::ordered_json;

constexpr JsonSource options_source = {ErrorCode::invalid_option, "options"};
constexpr std::uint64_t any_index = std::numeric_limits<std::uint32_t>::max();

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string base64(const std::vector<float>& values) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = group << 8 | (j < count ? bytes[i + j] : 0u);
    for (std::size_t j = 0; j < 4; ++j) {
      text += j <= count ? digits[group >> (18 - 6 * j) & 63u] : '=';
    }
  }
  return text;
}

Json attention_json(const AttentionMap& map, AttentionData data) {
  Json json = {
      {"layers", map.layers}, {"heads", map.heads}, {"queries", map.queries}, {"keys", map.keys}};
  if (data == AttentionData::base64) json["data"] = base64(map.data);
  return {{"encoder", json}};
}

}  // namespace

ClassifyOptions parse_classify_options(std::string_view json) {
  const nlohmann::json document = parse_json(json, options_source);
  JsonObject object(document, options_source);
  ClassifyOptions options;
  if (object.find("attention")) options.attention = object.boolean("attention");
  if (object.find("contributions")) options.contributions = object.boolean("contributions");
  if (const nlohmann::json* ablate = object.find("ablate")) {
    if (!ablate->is_array()) object.fail("ablate", "an array", *ablate);
    for (std::size_t i = 0; i < ablate->size(); ++i) {
      JsonObject head((*ablate)[i], options_source, "ablate[" + std::to_string(i) + "]");
      if (head.string("attention") != "encoder") {
        head.fail("attention", "\"encoder\"", head.require("attention"));
      }
      const auto index = [&](const char* key) {
        return static_cast<std::size_t>(head.integer(key, 0, any_index));
      };
      options.ablate.push_back({.layer = index("layer"), .head = index("head")});
      head.finish();
    }
  }
  if (const nlohmann::json* masks = object.find("maskTokens")) {
    if (!masks->is_array()) object.fail("maskTokens", "an array", *masks);
    for (const nlohmann::json& position : *masks) {
      if (!position.is_number_unsigned()) {
        object.fail("maskTokens", "positions of tokens", position);
      }
      options.mask_tokens.push_back(position.get<std::size_t>());
    }
  }
  object.finish();
  return options;
}

std::string to_json(const Classification& result, const ClassifyPipeline& pipeline,
                    AttentionData data) {
  const std::vector<std::string>& labels = pipeline.config().labels;
  Json json = {{"label", labels[result.label]}, {"score", result.scores[result.label]}};
  Json& scores = json["scores"] = Json::object();
  Json& logits = json["logits"] = Json::object();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    scores[labels[i]] = result.scores[i];
    logits[labels[i]] = result.logits[i];
  }
  Json& tokens = json["tokens"] = Json::array();
  for (const Token& token : result.tokens) {
    tokens.push_back({{"id", token.id},
                      {"text", pipeline.tokenizer().piece(token.id)},
                      {"start", token.start},
                      {"end", token.end}});
  }
  json["clipped"] = result.clipped;
  if (result.attention) json["attention"] = attention_json(*result.attention, data);
  if (!result.contributions.empty()) {
    Json& contributions = json["contributions"] = Json::object();
    for (std::size_t label = 0; label < labels.size(); ++label) {
      Json& column = contributions[labels[label]] = Json::array();
      for (std::size_t i = 0; i < result.tokens.size(); ++i) {
        column.push_back(result.contributions[i * labels.size() + label]);
      }
    }
  }
  return dump(json);
}

std::string to_json(const Error& error) {
  return dump({{"error", {{"code", to_string(error.code())}, {"message", error.what()}}}});
}

std::string describe_json(const ModelConfig& config, std::size_t parameters) {
  return dump({{"task", config.task},
               {"labels", config.labels},
               {"layers", config.encoder_layers},
               {"heads", config.n_heads},
               {"d_model", config.d_model},
               {"vocab_size", config.vocab_size},
               {"max_source_length", config.max_source_length},
               {"parameters", parameters}});
}

}  // namespace glassformer
