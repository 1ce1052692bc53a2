#include "text/tokenizer_files.hpp"

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "error.hpp"
#include "linked.hpp"
#include "text/composed_tokenizer.hpp"
#include "text/json_entries.hpp"
#include "text/ranked_bpe.hpp"
#include "text/renumbered_tokenizer.hpp"
#include "text/scored_pieces.hpp"
#include "text/sentencepiece_tokenizer.hpp"
#include "text/tokenizer_json.hpp"
#include "text/unicode/unicode.hpp"
#include "text/wordpiece.hpp"

namespace glassformer {
namespace {

using Parts = ComposedTokenizer::Parts;

std::span<const std::byte> bytes_of(std::string_view file) {
  return std::as_bytes(std::span(file));
}

std::string_view required(const FolderFile& file, std::string_view name) {
  const std::optional<std::string_view> bytes = file(name);
  if (!bytes) {
    throw_error(ErrorCode::invalid_tokenizer, {"{}: missing; the tokenizer needs it", {name}});
  }
  return *bytes;
}

/// tokenizer_config.json, as far as it is of use here; its other fields do not matter.
class TokenizerConfig {
 public:
  explicit TokenizerConfig(const FolderFile& file)
      : text_(file("tokenizer_config.json").value_or("{}")),
        json_(parse_json(text_, source)),
        object_(json_, source) {}

  bool boolean(const char* key, bool fallback) {
    const JsonValue* value = object_.find(key);
    return value && value->type() == JsonValue::Type::boolean ? object_.boolean(key) : fallback;
  }

  std::size_t integer(const char* key, std::size_t fallback) {
    return object_.find(key) ? static_cast<std::size_t>(object_.integer(key, 0, 10'000)) : fallback;
  }

  /// A special token, which may be a text or an object with its "content".
  std::string token(const char* key, std::string_view fallback) {
    const JsonValue* value = object_.find(key);
    if (value && value->is_string()) return object_.string(key);
    if (!value || !value->is_object()) return std::string(fallback);
    return JsonObject(*value, source, key).string("content");
  }

 private:
  static constexpr JsonSource source{ErrorCode::invalid_tokenizer, "tokenizer_config.json"};
  std::string_view text_;
  JsonValue json_;
  JsonObject object_;
};

AddedToken special_token(std::string_view content, std::int32_t id) {
  AddedToken token{.id = id, .content = std::string(content)};
  token.special = true;
  return token;
}

/// Adds those that are in the vocabulary.
void add_specials(Parts& parts, std::initializer_list<std::string_view> tokens) {
  for (const std::string_view token : tokens) {
    const std::int32_t id = parts.model->vocabulary().find(token);
    bool known = id == Vocabulary::absent;
    for (const AddedToken& other : parts.added_tokens) known |= other.id == id;
    if (!known) parts.added_tokens.push_back(special_token(token, id));
  }
}

std::unique_ptr<Tokenizer> compose(Parts parts) {
  return std::make_unique<ComposedTokenizer>(std::move(parts));
}

// Components as a tokenizer.json has them.
JsonValue component(std::string_view text) { return parse_json(text, tokenizer_json); }

void set_normalizer(Parts& parts, std::string_view json) {
  parts.normalizer = read_normalizer(component(json), "normalizer");
}
void set_pre_tokenizer(Parts& parts, std::string_view json) {
  parts.pre_tokenizer = read_pre_tokenizer(component(json), "pre_tokenizer");
}
void set_decoder(Parts& parts, std::string_view json) {
  parts.decoder = read_decoder(component(json), "decoder");
}

Vocabulary read_vocab_json(const FolderFile& file, std::string_view name) {
  const JsonSource source{ErrorCode::invalid_tokenizer, name};
  const std::string_view text = required(file, name);
  const JsonValue json = parse_json(text, source);
  if (!json.is_object()) source.fail({"expected an object, got {}", {describe(json)}});
  Vocabulary vocabulary;
  for_each_field(json, [&](const std::string& token, JsonValue id) {
    if (!id.is_whole() || id.whole() > std::numeric_limits<std::int32_t>::max()) {
      source.fail({"{}: expected a token id, got {}", {describe(token), describe(id)}});
    }
    vocabulary.add(token, static_cast<std::int32_t>(id.whole()));
  });
  return vocabulary;
}

/// Calls use(line) for each line of a file.
template <typename Use>
void each_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    use(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Without white space at the end.
std::string trimmed(std::string_view line) {
  Characters characters = read_characters(line);
  while (!characters.empty() && unicode::is_white_space(characters.back().code)) {
    characters.pop_back();
  }
  return to_utf8(characters);
}

std::unique_ptr<Tokenizer> read_vocab_txt(const FolderFile& file, std::string_view lines) {
  TokenizerConfig config(file);
  Vocabulary vocabulary;
  std::int32_t next = 0;
  each_line(lines, [&](std::string_view line) { vocabulary.add(trimmed(line), next++); });
  const std::string unknown = config.token("unk_token", "[UNK]");
  const std::string first = config.token("cls_token", "[CLS]");
  const std::string last = config.token("sep_token", "[SEP]");
  Parts parts;
  parts.model =
      std::make_unique<WordPiece>(std::move(vocabulary), WordPiece::Options{.unknown = unknown});
  const auto boolean = [&](const char* key, bool fallback) {
    return config.boolean(key, fallback) ? std::string("true") : std::string("false");
  };
  const bool lower_case = config.boolean("do_lower_case", true);
  set_normalizer(parts, R"({"type": "BertNormalizer", "lowercase": )" +
                            boolean("do_lower_case", true) + R"(, "handle_chinese_chars": )" +
                            boolean("tokenize_chinese_chars", true) + R"(, "strip_accents": )" +
                            boolean("strip_accents", lower_case) + "}");
  set_pre_tokenizer(parts, R"({"type": "BertPreTokenizer"})");
  set_decoder(parts, R"({"type": "WordPiece"})");
  add_specials(parts, {config.token("pad_token", "[PAD]"), unknown, first, last,
                       config.token("mask_token", "[MASK]")});
  parts.post_processor.around =
      surrounded(find_required(parts.model->vocabulary(), first),
                 find_required(parts.model->vocabulary(), last), Separator::once_with_types);
  return compose(std::move(parts));
}

std::unique_ptr<Tokenizer> read_merges(const FolderFile& file, std::string_view merges,
                                       Surroundings around) {
  TokenizerConfig config(file);
  auto bpe = std::make_unique<RankedBpe>(read_vocab_json(file, "vocab.json"), RankedBpe::Options());
  bool first_line = true;
  each_line(merges, [&](std::string_view line) {
    const bool header = std::exchange(first_line, false) && line.starts_with("#version");
    if (header || line.empty()) return;
    const std::size_t space = line.find(' ');
    if (space == line.npos || line.find(' ', space + 1) != line.npos) {
      throw_error(
          ErrorCode::invalid_tokenizer,
          {"merges.txt: expected two tokens with a space between them, got {}", {describe(line)}});
    }
    bpe->add_merge(line.substr(0, space), line.substr(space + 1));
  });
  bpe->finish_merges();
  Parts parts;
  parts.model = std::move(bpe);
  const Vocabulary& vocabulary = parts.model->vocabulary();
  set_pre_tokenizer(
      parts, R"({"type": "ByteLevel", "add_prefix_space": )" +
                 std::string(config.boolean("add_prefix_space", false) ? "true" : "false") + "}");
  set_decoder(parts, R"({"type": "ByteLevel"})");
  const std::string mask = config.token("mask_token", "<mask>");
  if (around == Surroundings::unknown) {
    const bool masks = vocabulary.find(mask) != Vocabulary::absent;
    around = masks ? Surroundings::special_tokens : Surroundings::none;
  }
  if (around == Surroundings::none) {
    const std::string end = "<|endoftext|>";
    add_specials(parts, {config.token("bos_token", end), config.token("eos_token", end),
                         config.token("unk_token", end), config.token("pad_token", end)});
    return compose(std::move(parts));
  }
  const std::string first = config.token("cls_token", "<s>");
  const std::string last = config.token("sep_token", "</s>");
  add_specials(parts, {first, config.token("pad_token", "<pad>"), last,
                       config.token("unk_token", "<unk>"), mask});
  for (AddedToken& token : parts.added_tokens) token.strip_left = token.content == mask;
  parts.post_processor.around = surrounded(find_required(vocabulary, first),
                                           find_required(vocabulary, last), Separator::twice);
  parts.post_processor.trim_offsets = true;
  parts.post_processor.has_prefix = config.boolean("add_prefix_space", false);
  return compose(std::move(parts));
}

std::unique_ptr<Tokenizer> read_spm(const FolderFile& file, TokenizerSide side,
                                    std::string_view model) {
  TokenizerConfig config(file);
  const bool source = side == TokenizerSide::source;
  const bool separate = config.boolean("separate_vocabs", false) && !source;
  RenumberedTokenizer::Specials specials;
  specials.end = config.token("eos_token", specials.end);
  specials.unknown = config.token("unk_token", specials.unknown);
  specials.padding = config.token("pad_token", specials.padding);
  return std::make_unique<RenumberedTokenizer>(
      SentencePieceTokenizer::parse(bytes_of(model)),
      read_vocab_json(file, separate ? "target_vocab.json" : "vocab.json"), specials);
}

/// A SentencePiece model as its tokenizer.json would have it: pieces with ids from `first_id` on,
/// behind `before` and in front of `after`, and of the pieces only those from `first_piece` on.
struct PieceLayout {
  std::vector<std::string> before, after;
  std::size_t first_piece = 0;
};

Parts compose_pieces(const SentencePieceModel& model, const PieceLayout& layout,
                     std::string_view unknown) {
  if (model.kind != SegmentationKind::unigram) {
    throw_error(
        ErrorCode::unsupported,
        "the SentencePiece model: expected one of kind Unigram, got BPE; the tokenizer must "
        "be saved again as tokenizer.json");
  }
  Vocabulary vocabulary;
  std::vector<double> scores;
  const auto add = [&](std::string_view text, double score) {
    vocabulary.add(text, static_cast<std::int32_t>(scores.size()));
    scores.push_back(score);
  };
  for (const std::string& text : layout.before) add(text, 0);
  for (std::size_t i = layout.first_piece; i < model.pieces.size(); ++i) {
    add(model.pieces[i].text, double{model.pieces[i].score});
  }
  for (const std::string& text : layout.after) add(text, 0);

  Parts parts;
  ScoredPieces::Options options;
  options.unknown = vocabulary.find(unknown);
  if (options.unknown == Vocabulary::absent) {
    throw_error(ErrorCode::invalid_tokenizer,
                {"the SentencePiece model: the unknown piece \"{}\" is missing", {unknown}});
  }
  parts.model = std::make_unique<ScoredPieces>(std::move(vocabulary), std::move(scores), options);
  if (!model.precompiled_charsmap.empty()) {
    parts.normalizer = make_precompiled_normalizer(std::string(model.precompiled_charsmap));
  }
  const std::string metaspace = R"({"type": "Metaspace", "replacement": "▁"})";
  set_pre_tokenizer(
      parts,
      R"({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, )" + metaspace + "]}");
  set_decoder(parts, metaspace);
  return parts;
}

std::unique_ptr<Tokenizer> read_spiece(const FolderFile& file, std::string_view bytes) {
  TokenizerConfig config(file);
  PieceLayout layout;
  for (std::size_t i = config.integer("extra_ids", 100); i-- > 0;) {
    layout.after.push_back("<extra_id_" + std::to_string(i) + ">");
  }
  const std::string unknown = config.token("unk_token", "<unk>");
  const std::string end = config.token("eos_token", "</s>");
  Parts parts = compose_pieces(parse_sentencepiece_model(bytes_of(bytes)), layout, unknown);
  add_specials(parts, {config.token("pad_token", "<pad>"), end, unknown});
  for (const std::string& text : layout.after) add_specials(parts, {text});
  using enum TemplatePart::Kind;
  const TemplatePart last{special, find_required(parts.model->vocabulary(), end), 0};
  parts.post_processor.around.single = {{first_text, 0, 0}, last};
  parts.post_processor.around.pair = {{first_text, 0, 0}, last, {second_text, 0, 0}, last};
  return compose(std::move(parts));
}

std::unique_ptr<Tokenizer> read_bpe_model(std::string_view bytes) {
  // The model's own first three pieces are <unk>, <s> and </s>.
  const PieceLayout layout{
      .before = {"<s>", "<pad>", "</s>", "<unk>"}, .after = {"<mask>"}, .first_piece = 3};
  Parts parts = compose_pieces(parse_sentencepiece_model(bytes_of(bytes)), layout, "<unk>");
  add_specials(parts, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  for (AddedToken& token : parts.added_tokens) token.strip_left = token.content == "<mask>";
  parts.post_processor.around = surrounded(0, 2, Separator::twice);
  return compose(std::move(parts));
}

}  // namespace

std::unique_ptr<Tokenizer> read_tokenizer(const FolderFile& file, TokenizerSide side,
                                          Surroundings around) {
  const auto sentencepiece = [](std::string_view bytes) {
    return std::make_unique<SentencePieceTokenizer>(SentencePieceTokenizer::parse(bytes_of(bytes)));
  };
  if (const auto json = file("tokenizer.json")) return compose(parse_tokenizer_json(*json));
  if (const auto model = file("tokenizer.model")) return sentencepiece(*model);
  const auto of_side = [&](const char* source, const char* target) {
    const char* own = side == TokenizerSide::source ? source : target;
    const char* other = side == TokenizerSide::source ? target : source;
    const std::optional<std::string_view> model = file(own);
    if (!model && file(other)) {
      throw_error(ErrorCode::missing_file, {"{}: expected beside {}, got none", {own, other}});
    }
    return model;
  };
  if (const auto model = of_side("source.model", "target.model")) return sentencepiece(*model);
  if (links_writers()) {
    if (const auto model = of_side("source.spm", "target.spm")) return read_spm(file, side, *model);
  }
  if (links_readers()) {
    if (const auto lines = file("vocab.txt")) return read_vocab_txt(file, *lines);
  }
  if (const auto merges = file("merges.txt")) return read_merges(file, *merges, around);
  if (links_writers()) {
    if (const auto model = file("spiece.model")) return read_spiece(file, *model);
  }
  if (links_readers()) {
    if (const auto model = file("sentencepiece.bpe.model")) return read_bpe_model(*model);
  }
  throw_error(
      ErrorCode::invalid_tokenizer,
      "tokenizer: expected one of tokenizer.json, tokenizer.model, source.model, source.spm "
      "with vocab.json, vocab.txt, vocab.json with merges.txt, spiece.model, "
      "sentencepiece.bpe.model, got none of them");
}

}  // namespace glassformer
