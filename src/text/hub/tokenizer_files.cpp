#include "text/hub/tokenizer_files.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "text/composed/composed_tokenizer.hpp"
#include "text/hub/languages.hpp"
#include "text/hub/tokenizer_classes.hpp"
#include "text/hub/tokenizer_json.hpp"
#include "text/hub/vocabulary_files.hpp"
#include "text/sentencepiece/renumbered_tokenizer.hpp"
#include "text/sentencepiece/tokenizer.hpp"

namespace glassformer {
namespace {

constexpr std::string_view two_sided_class = "MarianTokenizer";

// Returns the file of a side. Throws if only the other side has one.
std::optional<std::string_view> of_side(const FolderFile& file, TokenizerSide side,
                                        const char* source, const char* target) {
  const char* own = side == TokenizerSide::source ? source : target;
  const char* other = side == TokenizerSide::source ? target : source;
  const std::optional<std::string_view> model = file(own);
  if (!model && file(other)) {
    throw_error(ErrorCode::missing_file, {"{}: expected it with {}, got none", {own, other}});
  }
  return model;
}

std::unique_ptr<Tokenizer> sentencepiece(std::string_view bytes) {
  return std::make_unique<SentencePieceTokenizer>(
      SentencePieceTokenizer::parse(std::as_bytes(std::span(bytes))));
}

RenumberedTokenizer::Specials read_specials(const TokenizerConfig& config) {
  RenumberedTokenizer::Specials specials;
  const auto set = [&](const char* role, std::string& text) {
    if (const auto token = config.special(role, text)) text = token->content;
  };
  set("eos_token", specials.end);
  set("unk_token", specials.unknown);
  set("pad_token", specials.padding);
  return specials;
}

// The tokens of the languages and those that the files add follow the vocabulary.
std::unique_ptr<Tokenizer> read_multilingual(const FolderFile& file,
                                             const TokenizerConfig& config) {
  const std::string_view model = required_file(file, "sentencepiece.bpe.model");
  Vocabulary vocabulary = read_vocab_json(file, "vocab.json");
  RenumberedTokenizer::Specials specials = read_specials(config);
  specials.languages = listed_languages(config, static_cast<std::int32_t>(vocabulary.count()));
  specials.source_language = source_language(specials.languages, config, "en");
  for (const Language& language : specials.languages) {
    vocabulary.add(language_token(language.code), language.id);
  }
  specials.unused = config.integer("num_madeup_words").value_or(8);
  const auto add = [&](AddedToken token) {
    token.normalized = false;
    if (token.id >= 0 && vocabulary.find(token.content) == Vocabulary::absent) {
      vocabulary.add(token.content, token.id);
    }
    const auto& known = specials.more;
    if (std::ranges::find(known, token.content, &AddedToken::content) == known.end()) {
      specials.more.push_back(std::move(token));
    }
  };
  for (const AddedToken& token : config.added()) add(token);
  for (const auto& [role, usual] : {std::pair{"bos_token", "<s>"}, {"sep_token", "</s>"}}) {
    if (auto token = config.special(role, usual)) add(*std::move(token));
  }
  for (const AddedToken& token : config.more_specials()) add(token);
  return std::make_unique<RenumberedTokenizer>(
      SentencePieceTokenizer::parse(std::as_bytes(std::span(model))), std::move(vocabulary),
      specials);
}

}  // namespace

std::unique_ptr<Tokenizer> read_renumbered(const FolderFile& file, TokenizerSide side,
                                           const TokenizerConfig& config, std::string_view name) {
  if (name == listed_languages_class) return read_multilingual(file, config);
  if (name != two_sided_class && !name.empty()) return nullptr;
  const auto model = of_side(file, side, "source.spm", "target.spm");
  if (!model) return nullptr;
  const bool source = side == TokenizerSide::source;
  const bool separate = config.boolean("separate_vocabs").value_or(false) && !source;
  return std::make_unique<RenumberedTokenizer>(
      SentencePieceTokenizer::parse(std::as_bytes(std::span(*model))),
      read_vocab_json(file, separate ? "target_vocab.json" : "vocab.json"), read_specials(config));
}

namespace {

// Guesses the class from the file names if the folder does not name one. vocab.json with merges.txt
// is ambiguous.
std::string_view class_by_files(const FolderFile& file) {
  if (file("vocab.txt")) return "BertTokenizer";
  if (file("spiece.model")) return "T5Tokenizer";
  if (file("spm.model")) return "DebertaV2Tokenizer";
  if (file("sentencepiece.bpe.model")) return "XLMRobertaTokenizer";
  if (file("merges.txt")) {
    throw_error(ErrorCode::invalid_tokenizer,
                "tokenizer_config.json: tokenizer_class: expected the class that reads merges.txt, "
                "such as \"GPT2Tokenizer\" or \"RobertaTokenizer\", got none; add it, or "
                "config.json with a model_type");
  }
  refuse_missing_tokenizer();
}

[[noreturn]] void refuse_class(std::string_view name, std::string_view problem) {
  throw_error(ErrorCode::unsupported, {"tokenizer_class: {}: {}", {describe(name), problem}});
}

std::unique_ptr<Tokenizer> compose(ComposedTokenizer::Parts parts, const TokenizerConfig& config,
                                   bool lower_case) {
  if (lower_case) {
    parts.normalizer = make_sequence(make_lower_case(), std::move(parts.normalizer));
  }
  const std::string side = config.text("truncation_side");
  if (side == "left") parts.truncation_side = TruncationSide::left;
  if (side == "right") parts.truncation_side = TruncationSide::right;
  return std::make_unique<ComposedTokenizer>(std::move(parts));
}

}  // namespace

void refuse_missing_tokenizer() {
  throw_error(
      ErrorCode::invalid_tokenizer,
      "tokenizer: expected one of tokenizer.json, tokenizer.model, source.model, source.spm "
      "with vocab.json, vocab.txt, vocab.json with merges.txt, spiece.model, "
      "spm.model, sentencepiece.bpe.model, got none of them");
}

std::unique_ptr<Tokenizer> read_tokenizer(const FolderFile& file, const TokenizerOptions& options) {
  const TokenizerSide side = options.side;
  const TokenizerConfig config(file);
  const bool named = !config.tokenizer_class().empty();
  const std::string_view name =
      named ? std::string_view(config.tokenizer_class()) : options.usual_class;
  const TokenizerClass* known = find_tokenizer_class(name);
  if (known && !known->refusal.empty()) refuse_class(name, known->refusal);

  if (read_linked_renumbered) {
    // These classes read no tokenizer.json.
    if (auto tokenizer = read_linked_renumbered(file, side, config, name)) return tokenizer;
  }
  if (const auto json = file("tokenizer.json")) {
    ComposedTokenizer::Parts parts = parse_tokenizer_json(
        *json, known && known->changes ? known->changes(config) : TokenizerJsonChanges());
    add_tokens(parts, known, config);
    if (read_linked_renumbered) add_languages(parts, name, config);
    return compose(std::move(parts), config, options.lower_case);
  }
  if (name.empty()) {
    if (const auto model = file("tokenizer.model")) return sentencepiece(*model);
    if (const auto model = of_side(file, side, "source.model", "target.model")) {
      return sentencepiece(*model);
    }
    known = find_tokenizer_class(class_by_files(file));
  }
  if (!known || !known->build) {
    refuse_class(name,
                 "its files cannot be read here; save the tokenizer again as tokenizer.json: "
                 "AutoTokenizer.from_pretrained(...).save_pretrained(...)");
  }
  // The two settings files are not enough for a tokenizer.
  const auto is_there = [&](std::string_view other) {
    return !other.ends_with("_config.json") && other != "special_tokens_map.json" &&
           file(other).has_value();
  };
  if (!named && std::ranges::none_of(tokenizer_files, is_there)) refuse_missing_tokenizer();
  ComposedTokenizer::Parts parts = known->build(file, config);
  if (read_linked_renumbered) add_languages(parts, known->name, config);
  return compose(std::move(parts), config, options.lower_case);
}

bool has_two_sides(const FolderFile& file, std::string_view usual_class) {
  const TokenizerConfig config(file);
  const std::string_view name =
      config.tokenizer_class().empty() ? usual_class : std::string_view(config.tokenizer_class());
  if (!name.empty()) return name == two_sided_class;
  return file("source.spm") ||
         (!file("tokenizer.json") && !file("tokenizer.model") && file("source.model"));
}

}  // namespace glassformer
