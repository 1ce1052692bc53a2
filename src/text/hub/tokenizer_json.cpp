#include "text/hub/tokenizer_json.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

#include "base/json/json_writer.hpp"
#include "text/hub/tokenizer_config.hpp"
#include "text/word_models/ranked_bpe.hpp"
#include "text/word_models/scored_pieces.hpp"
#include "text/word_models/word_level.hpp"
#include "text/word_models/wordpiece.hpp"

namespace glassformer {
namespace {

std::int32_t read_id(const JsonObject& object, const JsonValue& value, std::string_view key) {
  if (!value.is_whole() || value.whole() > std::numeric_limits<std::int32_t>::max()) {
    object.fail(key, "a token id", value);
  }
  return static_cast<std::int32_t>(value.whole());
}

bool is_null(const JsonValue* value) { return !value || value->type() == JsonValue::Type::null; }

Vocabulary read_vocabulary(Component& model) {
  const JsonValue& json = model.require("vocab");
  if (!json.is_object()) model.fail("vocab", "an object", json);
  Vocabulary vocabulary;
  for_each_field(json, [&](std::string_view token, const JsonValue& id) {
    vocabulary.add(token, read_id(model, id, "vocab"));
  });
  return vocabulary;
}

std::unique_ptr<WordModel> read_wordpiece(Component& model) {
  WordPiece::Options options;
  options.unknown = model.string("unk_token");
  options.prefix = model.string("continuing_subword_prefix");
  options.max_characters =
      static_cast<std::size_t>(model.integer("max_input_chars_per_word", 0, UINT32_MAX));
  return std::make_unique<WordPiece>(read_vocabulary(model), options);
}

// Reads "a b" or ["a", "b"]. The first kind may include the line "#version: 0.2" of merges.txt.
void read_merge(const Component& model, const JsonValue& json, RankedBpe& bpe) {
  std::string parts[2];
  std::size_t count = 0;
  if (json.is_string()) {
    const std::string line = json.string();
    if (line.starts_with("#version")) return;
    const std::size_t space = line.find(' ');
    if (space != line.npos && line.find(' ', space + 1) == line.npos) {
      parts[0] = line.substr(0, space);
      parts[1] = line.substr(space + 1);
      count = 2;
    }
  } else if (json.is_array()) {
    for_each_element(json, [&](const JsonValue& part) {
      if (count < 2 && part.is_string()) parts[count] = part.string();
      ++count;
    });
  }
  if (count != 2) model.fail("merges", "two tokens with a space between them", json);
  bpe.add_merge(parts[0], parts[1]);
}

std::unique_ptr<WordModel> read_bpe(Component& model) {
  if (!is_null(model.find("dropout")) && model.number("dropout") != 0) {
    model.refuse("dropout", model.require("dropout").text(), "null or 0");
  }
  RankedBpe::Options options;
  if (!is_null(model.find("unk_token"))) options.unknown = model.string("unk_token");
  options.fuse_unknown = model.boolean_or("fuse_unk", false);
  options.byte_fallback = model.boolean_or("byte_fallback", false);
  options.ignore_merges = model.boolean_or("ignore_merges", false);
  options.prefix = model.string_or("continuing_subword_prefix", "");
  options.suffix = model.string_or("end_of_word_suffix", "");
  auto bpe = std::make_unique<RankedBpe>(read_vocabulary(model), options);
  const JsonValue& merges = model.require("merges");
  if (!merges.is_array()) model.fail("merges", "an array", merges);
  std::size_t count = 0, texts = 0;
  for_each_element(merges, [&](const JsonValue& merge) {
    ++count;
    texts += merge.is_string();
    read_merge(model, merge, *bpe);
  });
  if (texts != 0 && texts != count) {
    model.fail("merges", "expected only texts or only pairs, got both");
  }
  bpe->finish_merges();
  return bpe;
}

std::unique_ptr<WordModel> read_unigram(Component& model) {
  const JsonValue& json = model.require("vocab");
  if (!json.is_array()) model.fail("vocab", "an array", json);
  Vocabulary vocabulary;
  std::vector<double> scores;
  for_each_element(json, [&](const JsonValue& entry) {
    std::size_t count = 0;
    if (entry.is_array()) {
      for_each_element(entry, [&](const JsonValue& part) {
        if (count == 0 && part.is_string()) {
          vocabulary.add(part.string(), static_cast<std::int32_t>(scores.size()));
          count = 1;
        } else if (count == 1 && part.type() == JsonValue::Type::number) {
          scores.push_back(part.number());
          count = 2;
        } else {
          count = 3;
        }
      });
    }
    if (count != 2) model.fail("vocab", "a token and its score", entry);
  });
  ScoredPieces::Options options;
  if (!is_null(model.find("unk_id"))) {
    if (scores.empty()) model.fail("vocab", "expected at least one token, got none");
    options.unknown = static_cast<std::int32_t>(model.integer("unk_id", 0, scores.size() - 1));
  }
  options.byte_fallback = model.boolean_unless_absent("byte_fallback", false);
  return std::make_unique<ScoredPieces>(std::move(vocabulary), std::move(scores), options);
}

std::unique_ptr<WordModel> read_word_level(Component& model) {
  const std::string unknown = model.string("unk_token");
  return std::make_unique<WordLevel>(read_vocabulary(model), unknown);
}

// Files from before 2021 have no type. The library `tokenizers` then tries its models in this order
// and takes the first whose required fields are all present.
std::string type_by_fields(JsonObject& model) {
  const auto has = [&](const char* key) { return present(model.find(key)) != nullptr; };
  const JsonValue& vocabulary = model.require("vocab");
  if (vocabulary.is_array()) return "Unigram";
  if (has("merges")) return "BPE";
  if (has("unk_token")) {
    const bool pieces = has("continuing_subword_prefix") && has("max_input_chars_per_word");
    return pieces ? "WordPiece" : "WordLevel";
  }
  model.fail("type", "missing, and its other fields do not tell which model it is");
}

std::unique_ptr<WordModel> read_model(const JsonValue& json) {
  JsonObject fields(json, tokenizer_json, "model");
  Component model = fields.find("type") ? Component(json, "model")
                                        : Component(json, "model", type_by_fields(fields));
  std::unique_ptr<WordModel> result;
  if (model.type() == "WordPiece") {
    result = read_wordpiece(model);
  } else if (model.type() == "BPE") {
    result = read_bpe(model);
  } else if (model.type() == "WordLevel") {
    result = read_word_level(model);
  } else if (model.type() == "Unigram") {
    result = read_unigram(model);
  } else {
    model.refuse_type("one of BPE, Unigram, WordLevel, WordPiece");
  }
  model.finish();
  return result;
}

// Returns whether a component has this type.
bool is_of_type(JsonValue component, std::string_view type) {
  bool same = false;
  if (!component.is_object()) return false;
  for_each_field(component, [&](const std::string& key, JsonValue value) {
    same |= key == "type" && value.is_string() && value.string() == type;
  });
  return same;
}

// Returns an object with some fields set to true or false, if `value` is set.
std::string with_flags(JsonValue object,
                       std::initializer_list<std::pair<const char*, std::optional<bool>>> flags) {
  JsonWriter json;
  json.object([&] {
    for_each_field(object, [&](const std::string& key, JsonValue value) {
      const bool set = std::ranges::any_of(
          flags, [&](const auto& flag) { return flag.second && key == flag.first; });
      if (set) return;
      json.key(key);
      json.raw(value.text());
    });
    for (const auto& [key, value] : flags) {
      if (value) json.field(key, *value);
    }
  });
  return json.take();
}

std::unique_ptr<TextNormalizer> read_normalizer(JsonValue json,
                                                const TokenizerJsonChanges& changes) {
  constexpr std::string_view path = "normalizer";
  if (changes.bert_normalizer && is_of_type(json, "BertNormalizer")) {
    return glassformer::read_normalizer(parse_json(*changes.bert_normalizer, tokenizer_json), path);
  }
  return glassformer::read_normalizer(json, path);
}

std::unique_ptr<PreTokenizer> read_pre_tokenizer(JsonValue json,
                                                 const TokenizerJsonChanges& changes) {
  std::string changed;
  if (changes.pre_tokenizer) json = parse_json(*changes.pre_tokenizer, tokenizer_json);
  if (is_of_type(json, "ByteLevel")) {
    changed = with_flags(json, {{"add_prefix_space", changes.add_prefix_space}});
    json = JsonValue(changed);
  }
  return glassformer::read_pre_tokenizer(json, "pre_tokenizer");
}

PostProcessor read_post_processor(JsonValue json, const TokenizerJsonChanges& changes) {
  std::string changed;
  if (is_of_type(json, "RobertaProcessing")) {
    changed = with_flags(json, {{"add_prefix_space", changes.add_prefix_space},
                                {"trim_offsets", changes.trim_offsets}});
    json = JsonValue(changed);
  }
  return glassformer::read_post_processor(json, "post_processor");
}

// Unlike elsewhere, all fields must be present.
AddedToken read_listed_token(JsonValue json) {
  constexpr std::string_view path = "added_tokens";
  JsonObject object(json, tokenizer_json, path);
  object.integer("id", 0, UINT32_MAX);
  for (const char* key : {"single_word", "lstrip", "rstrip", "normalized", "special"}) {
    object.boolean(key);
  }
  return read_added_token(json, tokenizer_json, path);
}

constexpr std::uint64_t largest_length = UINT32_MAX;

// Reads a field that must have one of the known values.
std::string choice(JsonObject& object, const char* key, std::string_view known,
                   std::initializer_list<std::string_view> names) {
  const JsonValue& value = object.require(key);
  if (value.is_string()) {
    std::string name = value.string();
    if (std::ranges::find(names, name) != names.end()) return name;
  }
  object.fail(key, known, value);
}

// Returns the side at which a text is truncated. The limit comes from the model instead.
std::optional<TruncationSide> read_truncation(const JsonValue* json) {
  if (is_null(json)) return std::nullopt;
  JsonObject object(*json, tokenizer_json, "truncation");
  object.integer("max_length", 0, largest_length);
  object.integer("stride", 0, largest_length);
  choice(object, "strategy", "one of LongestFirst, OnlyFirst, OnlySecond",
         {"LongestFirst", "OnlyFirst", "OnlySecond"});
  if (!object.find("direction")) return TruncationSide::right;
  const bool left = choice(object, "direction", "Left or Right", {"Left", "Right"}) == "Left";
  return left ? TruncationSide::left : TruncationSide::right;
}

// Checks the padding fields. They have no effect because batches are not padded here.
void check_padding(const JsonValue* json) {
  if (is_null(json)) return;
  JsonObject object(*json, tokenizer_json, "padding");
  choice(object, "direction", "Left or Right", {"Left", "Right"});
  object.string("pad_token");
  object.integer("pad_id", 0, largest_length);
  object.integer("pad_type_id", 0, largest_length);
  if (!is_null(object.find("pad_to_multiple_of"))) {
    object.integer("pad_to_multiple_of", 0, largest_length);
  }
  if (const JsonValue& strategy = object.require("strategy"); strategy.is_object()) {
    JsonObject(strategy, tokenizer_json, "padding: strategy").integer("Fixed", 0, largest_length);
  } else {
    choice(object, "strategy", "BatchLongest or a Fixed length", {"BatchLongest"});
  }
}

}  // namespace

ComposedTokenizer::Parts parse_tokenizer_json(std::string_view file,
                                              const TokenizerJsonChanges& changes) {
  const JsonValue json = parse_json(file, tokenizer_json);
  JsonObject object(json, tokenizer_json);
  if (object.find("version")) choice(object, "version", "\"1.0\"", {"1.0"});
  check_padding(object.find("padding"));

  ComposedTokenizer::Parts parts;
  parts.truncation_side = read_truncation(object.find("truncation"));
  parts.model = read_model(object.require("model"));
  if (const JsonValue* normalizer = object.find("normalizer"); !is_null(normalizer)) {
    parts.normalizer = read_normalizer(*normalizer, changes);
  }
  if (const JsonValue* splitter = object.find("pre_tokenizer"); !is_null(splitter)) {
    parts.pre_tokenizer = read_pre_tokenizer(*splitter, changes);
  }
  if (const JsonValue* processor = object.find("post_processor"); !is_null(processor)) {
    parts.post_processor = read_post_processor(*processor, changes);
  }
  const JsonValue* decoder = object.find("decoder");
  if (changes.decoder) {
    parts.decoder = read_decoder(parse_json(*changes.decoder, tokenizer_json), "decoder");
  } else {
    parts.decoder = is_null(decoder) ? make_spacing_decoder() : read_decoder(*decoder, "decoder");
  }
  if (const JsonValue* added = object.find("added_tokens")) {
    if (!added->is_array()) object.fail("added_tokens", "an array", *added);
    for_each_element(*added,
                     [&](const JsonValue& token) { parts.add_token(read_listed_token(token)); });
  }
  object.finish();
  return parts;
}

}  // namespace glassformer
