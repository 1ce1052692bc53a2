#include "text/tokenizer_json.hpp"

#include <charconv>
#include <limits>
#include <utility>

#include "text/ranked_bpe.hpp"
#include "text/scored_pieces.hpp"
#include "text/wordpiece.hpp"

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
  options.unknown = model.string_or("unk_token", options.unknown);
  options.prefix = model.string_or("continuing_subword_prefix", options.prefix);
  if (model.find("max_input_chars_per_word")) {
    options.max_characters =
        static_cast<std::size_t>(model.integer("max_input_chars_per_word", 0, UINT32_MAX));
  }
  return std::make_unique<WordPiece>(read_vocabulary(model), options);
}

// "a b" or ["a", "b"].
void read_merge(const Component& model, const JsonValue& json, RankedBpe& bpe) {
  std::string parts[2];
  std::size_t count = 0;
  if (json.is_string()) {
    const std::string line = json.string();
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

// Refuses a field that is neither null nor empty.
void expect_empty(Component& model, const char* key) {
  const std::string text = model.string_or(key, "");
  if (!text.empty()) model.refuse(key, text, "null or an empty string");
}

std::unique_ptr<WordModel> read_bpe(Component& model) {
  expect_empty(model, "continuing_subword_prefix");
  expect_empty(model, "end_of_word_suffix");
  if (!is_null(model.find("dropout")) && model.number("dropout") != 0) {
    model.refuse("dropout", model.require("dropout").text(), "null or 0");
  }
  RankedBpe::Options options;
  if (!is_null(model.find("unk_token"))) options.unknown = model.string("unk_token");
  options.fuse_unknown = model.boolean_or("fuse_unk", false);
  options.byte_fallback = model.boolean_or("byte_fallback", false);
  options.ignore_merges = model.boolean_or("ignore_merges", false);
  auto bpe = std::make_unique<RankedBpe>(read_vocabulary(model), options);
  const JsonValue& merges = model.require("merges");
  if (!merges.is_array()) model.fail("merges", "an array", merges);
  for_each_element(merges, [&](const JsonValue& merge) { read_merge(model, merge, *bpe); });
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
          scores.push_back(nearest_double(part.text()));
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
    const std::size_t last = scores.empty() ? 0 : scores.size() - 1;
    options.unknown = static_cast<std::int32_t>(model.integer("unk_id", 0, last));
  }
  options.byte_fallback = model.boolean_or("byte_fallback", false);
  return std::make_unique<ScoredPieces>(std::move(vocabulary), std::move(scores), options);
}

std::unique_ptr<WordModel> read_model(const JsonValue& json) {
  Component model(json, "model");
  std::unique_ptr<WordModel> result;
  if (model.type() == "WordPiece") {
    result = read_wordpiece(model);
  } else if (model.type() == "BPE") {
    result = read_bpe(model);
  } else if (model.type() == "Unigram") {
    result = read_unigram(model);
  } else {
    model.refuse_type("one of BPE, Unigram, WordPiece");
  }
  model.finish();
  return result;
}

std::vector<AddedToken> read_added_tokens(const JsonValue& json, const Vocabulary& vocabulary) {
  std::vector<AddedToken> tokens;
  for_each_element(json, [&](const JsonValue& element) {
    JsonObject object(element, tokenizer_json, "added_tokens");
    AddedToken token;
    token.id = read_id(object, object.require("id"), "id");
    token.content = object.string("content");
    token.single_word = object.boolean("single_word");
    token.strip_left = object.boolean("lstrip");
    token.strip_right = object.boolean("rstrip");
    token.normalized = object.boolean("normalized");
    token.special = object.boolean("special");
    object.finish();
    const std::int32_t listed = vocabulary.find(token.content);
    if (listed != Vocabulary::absent && listed != token.id) {
      object.fail("id", {"expected {}, the id of {} in the vocabulary, got {}",
                         {listed, describe(token.content), token.id}});
    }
    tokens.push_back(std::move(token));
  });
  return tokens;
}

}  // namespace

double nearest_double(std::string_view text) {
  // With at most 18 digits, all of them a whole number, and a power of ten that fits as well, a
  // division in whole numbers leaves one rounding, the last.
  constexpr int max_digits = 18;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::uint64_t digits = 0;
  int count = 0;
  int fraction = 0;
  bool point = false;
  std::size_t i = 0;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.') {
      point = true;
      continue;
    }
    if (count == max_digits) {  // the rest is less than a double's precision
      fraction -= !point;
      continue;
    }
    digits = digits * 10 + static_cast<std::uint64_t>(text[i] - '0');
    count += digits != 0;
    fraction += point;
  }
  if (i < text.size()) {
    i += text[i + 1] == '+' ? 2 : 1;
    int exponent = text[i] == '-' ? -1000 : 1000;  // stays so if it does not fit
    std::from_chars(text.data() + i, text.data() + text.size(), exponent);
    fraction -= exponent;
  }
  double value = static_cast<double>(digits);
  if (fraction > 0 && fraction <= max_digits && digits != 0) {
    std::uint64_t power = 1;
    for (int n = 0; n < fraction; ++n) power *= 10;
    std::uint64_t quotient = digits / power;
    std::uint64_t rest = digits % power;
    int shift = 0;
    while (quotient < std::uint64_t{1} << 62) {
      quotient <<= 1;
      rest <<= 1;
      if (rest >= power) {
        rest -= power;
        quotient |= 1;
      }
      ++shift;
    }
    if (rest != 0) quotient |= 1;  // not a tie
    value = static_cast<double>(quotient);
    for (; shift > 0; --shift) value /= 2;
  } else {
    for (; fraction > 0 && value != 0; --fraction) value /= 10;
    for (; fraction < 0 && value != 0 && value < std::numeric_limits<double>::max(); ++fraction) {
      value *= 10;
    }
  }
  return negative ? -value : value;
}

ComposedTokenizer::Parts parse_tokenizer_json(std::string_view file) {
  const JsonValue json = parse_json(file, tokenizer_json);
  JsonObject object(json, tokenizer_json);
  object.find("version");
  object.find("truncation");  // the caller's business, like padding
  object.find("padding");

  ComposedTokenizer::Parts parts;
  parts.model = read_model(object.require("model"));
  if (const JsonValue* normalizer = object.find("normalizer"); !is_null(normalizer)) {
    parts.normalizer = read_normalizer(*normalizer, "normalizer");
  }
  if (const JsonValue* splitter = object.find("pre_tokenizer"); !is_null(splitter)) {
    parts.pre_tokenizer = read_pre_tokenizer(*splitter, "pre_tokenizer");
  }
  if (const JsonValue* processor = object.find("post_processor"); !is_null(processor)) {
    parts.post_processor = read_post_processor(*processor, "post_processor");
  }
  const JsonValue* decoder = object.find("decoder");
  parts.decoder = is_null(decoder) ? make_spacing_decoder() : read_decoder(*decoder, "decoder");
  if (const JsonValue* added = object.find("added_tokens"); !is_null(added)) {
    if (!added->is_array()) object.fail("added_tokens", "an array", *added);
    parts.added_tokens = read_added_tokens(*added, parts.model->vocabulary());
  }
  object.finish();
  return parts;
}

}  // namespace glassformer
