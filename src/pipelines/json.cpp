#include "pipelines/json.hpp"

#include <algorithm>
#include <array>
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
  return json;
}

Json token_json(const Token& token, const Tokenizer& tokenizer) {
  return {{"id", token.id},
          {"text", tokenizer.piece(token.id)},
          {"start", token.start},
          {"end", token.end}};
}

Json token_json(const OutputToken& token, const Tokenizer& tokenizer) {
  return {{"id", token.id},
          {"text", tokenizer.piece(token.id)},
          {"start", token.start},
          {"end", token.end},
          {"logprob", token.logprob}};
}

template <class AnyToken>
Json tokens_json(const std::vector<AnyToken>& tokens, const Tokenizer& tokenizer) {
  Json json = Json::array();
  for (const AnyToken& token : tokens) json.push_back(token_json(token, tokenizer));
  return json;
}

Json output_json(const OutputText& output, const Tokenizer& tokenizer) {
  return {{"text", output.text},
          {"score", output.score},
          {"tokens", tokens_json(output.tokens, tokenizer)}};
}

Json range_json(TextRange range) { return {{"start", range.start}, {"end", range.end}}; }

Json sentence_json(const SentenceTranslation& sentence, const TranslatePipeline& pipeline,
                   AttentionData data) {
  Json json = output_json(sentence.output, pipeline.target_tokenizer());
  json["start"] = sentence.start;
  json["end"] = sentence.end;
  json["targetStart"] = sentence.target_start;
  json["targetEnd"] = sentence.target_end;
  json["clipped"] = sentence.clipped;
  json["sourceTokens"] = tokens_json(sentence.source_tokens, pipeline.source_tokenizer());
  if (sentence.cross) {
    json["attention"] = {{"encoder", attention_json(*sentence.encoder, data)},
                         {"decoder", attention_json(*sentence.decoder, data)},
                         {"cross", attention_json(*sentence.cross, data)}};
  }
  if (sentence.alignment) {
    Json& links = json["alignment"] = Json::array();
    for (const AlignmentLink& link : *sentence.alignment) {
      links.push_back({{"target", range_json(link.target)},
                       {"source", range_json(link.source)},
                       {"weight", link.weight}});
    }
  }
  if (sentence.tree.empty()) return json;
  Json& hypotheses = json["hypotheses"] = Json::array();
  for (const OutputText& hypothesis : sentence.hypotheses) {
    hypotheses.push_back(output_json(hypothesis, pipeline.target_tokenizer()));
  }
  Json& tree = json["tree"] = Json::array();
  for (const Candidate& candidate : sentence.tree) {
    tree.push_back({{"parent", candidate.parent},
                    {"id", candidate.id},
                    {"text", pipeline.target_tokenizer().piece(candidate.id)},
                    {"logprob", candidate.logprob},
                    {"total", candidate.total},
                    {"kept", candidate.kept}});
  }
  return json;
}

std::size_t index(JsonObject& object, const char* key) {
  return static_cast<std::size_t>(object.integer(key, 0, any_index));
}

// The indices in an array; `key` names it in errors.
std::vector<std::size_t> indices(JsonObject& object, const char* key, std::string_view expected) {
  const nlohmann::json& array = object.require(key);
  if (!array.is_array()) object.fail(key, "an array", array);
  std::vector<std::size_t> values;
  for (const nlohmann::json& value : array) {
    if (!value.is_number_unsigned()) object.fail(key, expected, value);
    values.push_back(value.get<std::size_t>());
  }
  return values;
}

// The heads of option "ablate", of the first `sites` kinds of attention.
std::vector<HeadIndex> ablated_heads(JsonObject& object, std::size_t sites) {
  static constexpr std::array names = {"encoder", "decoder", "cross"};
  const nlohmann::json& ablate = object.require("ablate");
  if (!ablate.is_array()) object.fail("ablate", "an array", ablate);
  std::vector<HeadIndex> heads;
  for (std::size_t i = 0; i < ablate.size(); ++i) {
    JsonObject head(ablate[i], options_source, "ablate[" + std::to_string(i) + "]");
    const std::string name = head.string("attention");
    const auto known = names.begin() + static_cast<std::ptrdiff_t>(sites);
    const auto site = std::find(names.begin(), known, name);
    if (site == known) {
      head.fail("attention", sites == 1 ? "\"encoder\"" : "\"encoder\", \"decoder\" or \"cross\"",
                head.require("attention"));
    }
    heads.push_back({.layer = index(head, "layer"),
                     .head = index(head, "head"),
                     .attention = static_cast<AttentionSite>(site - names.begin())});
    head.finish();
  }
  return heads;
}

}  // namespace

ClassifyOptions parse_classify_options(std::string_view json) {
  const nlohmann::json document = parse_json(json, options_source);
  JsonObject object(document, options_source);
  ClassifyOptions options;
  if (object.find("attention")) options.attention = object.boolean("attention");
  if (object.find("contributions")) options.contributions = object.boolean("contributions");
  if (object.find("ablate")) options.ablate = ablated_heads(object, 1);
  if (object.find("maskTokens")) {
    options.mask_tokens = indices(object, "maskTokens", "positions of tokens");
  }
  object.finish();
  return options;
}

TranslateOptions parse_translate_options(std::string_view json) {
  const nlohmann::json document = parse_json(json, options_source);
  JsonObject object(document, options_source);
  TranslateOptions options;
  if (object.find("beams")) options.beams = index(object, "beams");
  if (object.find("lengthPenalty")) {
    options.length_penalty = static_cast<float>(object.number("lengthPenalty"));
  }
  if (object.find("maxLength")) {
    options.max_length = static_cast<std::size_t>(object.integer("maxLength", 1, any_index));
  }
  if (object.find("attention")) options.attention = object.boolean("attention");
  if (object.find("hypotheses")) options.hypotheses = object.boolean("hypotheses");
  if (object.find("stream")) options.stream = object.boolean("stream");
  if (object.find("ablate")) options.ablate = ablated_heads(object, 3);
  if (const nlohmann::json* wanted = object.find("alignment")) {
    if (wanted->is_object()) {
      JsonObject fields(*wanted, options_source, "alignment");
      options.alignment.emplace();
      if (fields.find("layer")) options.alignment->layer = index(fields, "layer");
      if (fields.find("heads")) {
        options.alignment->heads = indices(fields, "heads", "heads' numbers");
      }
      fields.finish();
    } else if (object.boolean("alignment")) {
      options.alignment.emplace();
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
  json["tokens"] = tokens_json(result.tokens, pipeline.tokenizer());
  json["clipped"] = result.clipped;
  if (result.attention) json["attention"] = {{"encoder", attention_json(*result.attention, data)}};
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

std::string to_json(const Translation& result, const TranslatePipeline& pipeline,
                    AttentionData data) {
  Json json = {{"text", result.text}, {"score", result.score}};
  Json& sentences = json["sentences"] = Json::array();
  for (const SentenceTranslation& sentence : result.sentences) {
    sentences.push_back(sentence_json(sentence, pipeline, data));
  }
  return dump(json);
}

std::string to_json(const TranslatePipeline::Session& session, const TranslatePipeline& pipeline,
                    AttentionData data) {
  Json json = {{"done", session.done()}};
  if (!session.streamed()) return dump(json);
  const StreamedToken& streamed = *session.streamed();
  const SentenceTranslation& sentence = session.sentence();
  const bool first = sentence.output.tokens.size() == 1;
  Json& step = json["step"];
  step["token"] = token_json(streamed.token, pipeline.target_tokenizer());
  step["text"] = session.text(streamed.text);
  if (first) {
    step["sentence"] = {
        {"index", streamed.sentence},
        {"start", sentence.start},
        {"end", sentence.end},
        {"targetStart", sentence.target_start},
        {"sourceTokens", tokens_json(sentence.source_tokens, pipeline.source_tokenizer())}};
  }
  if (streamed.cross) {
    Json& attention = step["attention"];
    if (first) attention["encoder"] = attention_json(*sentence.encoder, data);
    attention["decoder"] = attention_json(*streamed.decoder, data);
    attention["cross"] = attention_json(*streamed.cross, data);
  }
  return dump(json);
}

std::string to_json(const Error& error) {
  return dump({{"error", {{"code", to_string(error.code())}, {"message", error.what()}}}});
}

std::string describe_json(const ModelConfig& config, std::size_t parameters, Compute compute) {
  Json json = {{"task", config.task},
               {"layers", config.encoder_layers},
               {"heads", config.n_heads},
               {"d_model", config.d_model},
               {"vocab_size", config.vocab_size},
               {"max_source_length", config.max_source_length},
               {"parameters", parameters},
               {"compute", compute == Compute::int8 ? "int8" : "f32"}};
  if (config.is_translation()) {
    json["source_language"] = config.source_language;
    json["target_language"] = config.target_language;
    json["decoder_layers"] = config.decoder_layers;
    json["target_vocab_size"] = config.target_vocab_size;
    json["max_target_length"] = config.max_target_length;
  } else {
    json["labels"] = config.labels;
  }
  return dump(json);
}

}  // namespace glassformer
