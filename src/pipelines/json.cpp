#include "pipelines/json.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "io/json.hpp"
#include "io/json_writer.hpp"

namespace glassformer {
namespace {

constexpr JsonSource options_source = {ErrorCode::invalid_option, "options"};
constexpr std::uint64_t any_index = std::numeric_limits<std::uint32_t>::max();

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

void write(JsonWriter& json, const AttentionMap& map, AttentionData data) {
  json.object([&] {
    json.field("layers", map.layers);
    json.field("heads", map.heads);
    json.field("queries", map.queries);
    json.field("keys", map.keys);
    if (data == AttentionData::base64) json.field("data", base64(map.data));
  });
}

void write_fields(JsonWriter& json, const Token& token, const Tokenizer& tokenizer) {
  json.field("id", token.id);
  json.field("text", tokenizer.display_text(token.id));
  json.field("start", token.start);
  json.field("end", token.end);
}

void write(JsonWriter& json, const Token& token, const Tokenizer& tokenizer) {
  json.object([&] { write_fields(json, token, tokenizer); });
}

void write(JsonWriter& json, const OutputToken& token, const Tokenizer& tokenizer) {
  json.object([&] {
    write_fields(json, {token.id, token.start, token.end}, tokenizer);
    json.field("logprob", token.logprob);
  });
}

template <class AnyToken>
void write(JsonWriter& json, const std::vector<AnyToken>& tokens, const Tokenizer& tokenizer) {
  json.array(tokens, [&](const AnyToken& token) { write(json, token, tokenizer); });
}

void write_fields(JsonWriter& json, const OutputText& output, const Tokenizer& tokenizer) {
  json.field("text", output.text);
  json.field("score", output.score);
  json.key("tokens");
  write(json, output.tokens, tokenizer);
}

void write(JsonWriter& json, TextRange range) {
  json.object([&] {
    json.field("start", range.start);
    json.field("end", range.end);
  });
}

void write(JsonWriter& json, const AlignmentLink& link) {
  json.object([&] {
    json.key("target");
    write(json, link.target);
    json.key("source");
    write(json, link.source);
    json.field("weight", link.weight);
  });
}

void write(JsonWriter& json, const Candidate& candidate, const Tokenizer& tokenizer) {
  json.object([&] {
    json.field("parent", candidate.parent);
    json.field("id", candidate.id);
    json.field("text", tokenizer.display_text(candidate.id));
    json.field("logprob", candidate.logprob);
    json.field("total", static_cast<float>(candidate.total));
    json.field("kept", candidate.kept);
  });
}

void write(JsonWriter& json, const SentenceTranslation& sentence, const TranslatePipeline& pipeline,
           AttentionData data) {
  const Tokenizer& target = pipeline.target_tokenizer();
  json.object([&] {
    write_fields(json, sentence.output, target);
    json.field("start", sentence.start);
    json.field("end", sentence.end);
    json.field("targetStart", sentence.target_start);
    json.field("targetEnd", sentence.target_end);
    json.field("clipped", sentence.clipped);
    json.key("sourceTokens");
    write(json, sentence.source_tokens, pipeline.source_tokenizer());
    if (sentence.cross) {
      json.key("attention");
      json.object([&] {
        json.key("encoder");
        write(json, *sentence.encoder, data);
        json.key("decoder");
        write(json, *sentence.decoder, data);
        json.key("cross");
        write(json, *sentence.cross, data);
      });
    }
    if (sentence.alignment) {
      json.key("alignment");
      json.array(*sentence.alignment, [&](const AlignmentLink& link) { write(json, link); });
    }
    if (sentence.tree.empty()) return;
    json.key("hypotheses");
    json.array(sentence.hypotheses, [&](const OutputText& hypothesis) {
      json.object([&] { write_fields(json, hypothesis, target); });
    });
    json.key("tree");
    json.array(sentence.tree, [&](const Candidate& candidate) { write(json, candidate, target); });
  });
}

// {"positive": 0.9, ...}: of each label what `write_value` writes for its index.
template <class WriteValue>
void write_by_label(JsonWriter& json, const std::vector<std::string>& labels,
                    const WriteValue& write_value) {
  json.object([&] {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      json.key(labels[i]);
      write_value(i);
    }
  });
}

void write_step(JsonWriter& json, const TranslatePipeline::Session& session,
                const TranslatePipeline& pipeline, AttentionData data) {
  const StreamedToken& streamed = *session.streamed();
  const SentenceTranslation& sentence = session.sentence();
  const bool first = sentence.output.tokens.size() == 1;
  json.key("token");
  write(json, streamed.token, pipeline.target_tokenizer());
  json.field("text", sentence.output.text);
  if (first) {
    json.field("before", streamed.before);
    json.key("sentence");
    json.object([&] {
      json.field("index", streamed.sentence);
      json.field("start", sentence.start);
      json.field("end", sentence.end);
      json.field("targetStart", sentence.target_start);
      json.key("sourceTokens");
      write(json, sentence.source_tokens, pipeline.source_tokenizer());
    });
  }
  if (!streamed.cross) return;
  json.key("attention");
  json.object([&] {
    if (first) {
      json.key("encoder");
      write(json, *sentence.encoder, data);
    }
    json.key("decoder");
    write(json, *streamed.decoder, data);
    json.key("cross");
    write(json, *streamed.cross, data);
  });
}

std::size_t index(JsonObject& object, const char* key) {
  return static_cast<std::size_t>(object.integer(key, 0, any_index));
}

// The indices in an array; `key` names it in errors.
std::vector<std::size_t> indices(JsonObject& object, const char* key, std::string_view expected) {
  const JsonValue& array = object.require(key);
  if (!array.is_array()) object.fail(key, "an array", array);
  std::vector<std::size_t> values;
  for (JsonEntries entry(array); entry.next();) {
    const JsonValue value = entry.value();
    if (!value.is_whole() || value.whole() > any_index) object.fail(key, expected, value);
    values.push_back(static_cast<std::size_t>(value.whole()));
  }
  return values;
}

// The heads of option "ablate", of the first `sites` kinds of attention.
std::vector<HeadIndex> ablated_heads(JsonObject& object, std::size_t sites) {
  static constexpr std::array names = {"encoder", "decoder", "cross"};
  const JsonValue& ablate = object.require("ablate");
  if (!ablate.is_array()) object.fail("ablate", "an array", ablate);
  std::vector<HeadIndex> heads;
  for (JsonEntries entry(ablate); entry.next();) {
    JsonObject head(entry.value(), options_source, "ablate[" + std::to_string(heads.size()) + "]");
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
  JsonObject object(parse_json(json, options_source), options_source);
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
  JsonObject object(parse_json(json, options_source), options_source);
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
  if (const JsonValue* wanted = object.find("alignment")) {
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
  JsonWriter json;
  json.object([&] {
    json.field("label", labels[result.label]);
    json.field("score", result.scores[result.label]);
    json.key("scores");
    write_by_label(json, labels, [&](std::size_t label) { json.value(result.scores[label]); });
    json.key("logits");
    write_by_label(json, labels, [&](std::size_t label) { json.value(result.logits[label]); });
    json.key("tokens");
    write(json, result.tokens, pipeline.tokenizer());
    json.field("clipped", result.clipped);
    if (result.attention) {
      json.key("attention");
      json.object([&] {
        json.key("encoder");
        write(json, *result.attention, data);
      });
    }
    if (result.contributions.empty()) return;
    json.key("contributions");
    write_by_label(json, labels, [&](std::size_t label) {
      std::size_t row = 0;
      json.array(result.tokens, [&](const Token&) {
        json.value(result.contributions[row++ * labels.size() + label]);
      });
    });
  });
  return json.take();
}

std::string to_json(const Translation& result, const TranslatePipeline& pipeline,
                    AttentionData data) {
  JsonWriter json;
  json.object([&] {
    json.field("text", result.text);
    json.field("score", result.score);
    json.key("sentences");
    json.array(result.sentences,
               [&](const SentenceTranslation& sentence) { write(json, sentence, pipeline, data); });
  });
  return json.take();
}

std::string to_json(const TranslatePipeline::Session& session, const TranslatePipeline& pipeline,
                    AttentionData data) {
  JsonWriter json;
  json.object([&] {
    json.field("done", session.done());
    if (!session.streamed()) return;
    json.key("step");
    json.object([&] { write_step(json, session, pipeline, data); });
  });
  return json.take();
}

std::string to_json(const Error& error) {
  JsonWriter json;
  json.object([&] {
    json.key("error");
    json.object([&] {
      json.field("code", to_string(error.code()));
      json.field("message", error.what());
    });
  });
  return json.take();
}

std::string describe_json(const ModelConfig& config, std::size_t parameters, Compute compute) {
  JsonWriter json;
  json.object([&] {
    const StackConfig& encoder = config.encoder();
    json.field("task", to_string(config.task));
    json.field("layers", encoder.layers);
    json.field("heads", encoder.n_heads);
    json.field("d_model", encoder.d_model);
    json.field("vocab_size", encoder.vocab_size);
    json.field("max_source_length", encoder.max_length);
    json.field("parameters", parameters);
    json.field("compute", to_string(compute));
    if (const std::optional<StackConfig>& decoder = config.architecture.decoder) {
      json.field("source_language", config.source_language);
      json.field("target_language", config.target_language);
      json.field("decoder_layers", decoder->layers);
      json.field("target_vocab_size", decoder->vocab_size);
      json.field("max_target_length", decoder->max_length);
    } else {
      json.key("labels");
      json.array(config.labels, [&](const std::string& label) { json.value(label); });
    }
  });
  return json.take();
}

}  // namespace glassformer
