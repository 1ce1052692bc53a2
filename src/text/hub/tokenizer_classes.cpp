#include "text/hub/tokenizer_classes.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "text/hub/languages.hpp"
#include "text/hub/tokenizer_files.hpp"
#include "text/hub/vocabulary_files.hpp"
#include "text/sentencepiece/model.hpp"
#include "text/word_models/ranked_bpe.hpp"
#include "text/word_models/scored_pieces.hpp"
#include "text/word_models/wordpiece.hpp"

namespace glassformer {
namespace {

using Parts = ComposedTokenizer::Parts;

// --- components, as in a tokenizer.json ----------------------------------------------------------

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

std::string bert_normalizer(bool lower_case, std::optional<bool> strip_accents, bool chinese) {
  const auto text = [](bool value) { return value ? "true" : "false"; };
  return std::string(R"({"type": "BertNormalizer", "clean_text": true, "lowercase": )") +
         text(lower_case) + R"(, "strip_accents": )" +
         (strip_accents ? text(*strip_accents) : "null") + R"(, "handle_chinese_chars": )" +
         text(chinese) + "}";
}

// --- special tokens ------------------------------------------------------------------------------

using Roles = TokenizerRoles;

AddedToken special_token(std::string content) {
  AddedToken token{.id = AddedToken::unknown_id, .content = std::move(content)};
  token.special = true;
  return token;
}

constexpr Roles bert_roles = {
    .unk = "[UNK]", .sep = "[SEP]", .pad = "[PAD]", .cls = "[CLS]", .mask = "[MASK]"};
constexpr Roles roberta_roles = {.bos = "<s>",
                                 .eos = "</s>",
                                 .unk = "<unk>",
                                 .sep = "</s>",
                                 .pad = "<pad>",
                                 .cls = "<s>",
                                 .mask = "<mask>"};
constexpr Roles mpnet_roles = {.bos = "<s>",
                               .eos = "</s>",
                               .unk = "[UNK]",
                               .sep = "</s>",
                               .pad = "<pad>",
                               .cls = "<s>",
                               .mask = "<mask>"};
constexpr Roles deberta_roles = {.bos = "[CLS]",
                                 .eos = "[SEP]",
                                 .unk = "[UNK]",
                                 .sep = "[SEP]",
                                 .pad = "[PAD]",
                                 .cls = "[CLS]",
                                 .mask = "[MASK]"};
constexpr Roles herbert_roles = {
    .unk = "<unk>", .sep = "</s>", .pad = "<pad>", .cls = "<s>", .mask = "<mask>"};
constexpr Roles gpt2_roles = {
    .bos = "<|endoftext|>", .eos = "<|endoftext|>", .unk = "<|endoftext|>"};
constexpr Roles clip_roles = {.bos = "<|startoftext|>",
                              .eos = "<|endoftext|>",
                              .unk = "<|endoftext|>",
                              .pad = "<|endoftext|>"};
constexpr Roles t5_roles = {.eos = "</s>", .unk = "<unk>", .pad = "<pad>"};

using Role = std::pair<const char*, std::string_view Roles::*>;
constexpr std::array<Role, 7> all_roles = {{{"bos_token", &Roles::bos},
                                            {"eos_token", &Roles::eos},
                                            {"unk_token", &Roles::unk},
                                            {"sep_token", &Roles::sep},
                                            {"pad_token", &Roles::pad},
                                            {"cls_token", &Roles::cls},
                                            {"mask_token", &Roles::mask}}};

std::optional<AddedToken> special(const TokenizerConfig& config, const Role& role,
                                  const Roles& usual) {
  const std::string_view name = usual.*role.second;
  return config.special(role.first, name.empty() ? std::nullopt : std::optional(name));
}

// Returns the text of a special token that a class requires.
std::string required(const TokenizerConfig& config, const char* key, std::string_view usual) {
  const std::optional<AddedToken> token = config.special(key, usual);
  if (token) return token->content;
  throw_error(ErrorCode::invalid_tokenizer,
              {"tokenizer_config.json: {}: expected a token, got null", {key}});
}

// Returns its id. Call this after the tokens were added.
std::int32_t id_of(const Parts& parts, const TokenizerConfig& config, const char* key,
                   std::string_view usual) {
  return parts.find_required(required(config, key, usual));
}

// Adds the special tokens of a class and of the files. `more`: the class's tokens without a role.
// If the files have such tokens, they replace `more`.
void add_tokens(Parts& parts, const TokenizerConfig& config, const Roles& usual,
                std::span<const AddedToken> more = {}) {
  for (const AddedToken& token : config.added()) parts.add_token(token);
  const auto add = [&](AddedToken token) {
    if (!parts.is_added(token.content)) parts.add_token(std::move(token));
  };
  for (const Role& role : all_roles) {
    std::optional<AddedToken> token = special(config, role, usual);
    if (token) add(std::move(*token));
  }
  if (!config.replaces_specials()) {
    for (const AddedToken& token : more) add(token);
  }
  for (const AddedToken& token : config.more_specials()) add(token);
}

// Makes "<mask>" include the white space before it, unless the files give its flags.
void strip_before_mask(Parts& parts, const TokenizerConfig& config, std::string_view usual) {
  const std::optional<AddedToken> mask = config.special("mask_token", usual);
  if (!mask) return;
  const auto same = [&](const AddedToken& token) { return token.content == mask->content; };
  if (std::ranges::any_of(config.added(), same)) return;
  if (config.has_flags("mask_token")) return;
  for (AddedToken& token : parts.added_tokens) token.strip_left |= same(token);
}

// --- classes -------------------------------------------------------------------------------------

std::string bert_normalizer(const TokenizerConfig& config) {
  return bert_normalizer(config.boolean("do_lower_case").value_or(true),
                         config.boolean("strip_accents"),
                         config.boolean("tokenize_chinese_chars").value_or(true));
}

Parts build_wordpiece(const FolderFile& file, const TokenizerConfig& config, const Roles& roles,
                      Separator separator) {
  Parts parts;
  parts.model = std::make_unique<WordPiece>(
      read_vocab_txt(file),
      WordPiece::Options{.unknown = required(config, "unk_token", roles.unk)});
  set_normalizer(parts, bert_normalizer(config));
  set_pre_tokenizer(parts, R"({"type": "BertPreTokenizer"})");
  set_decoder(parts, R"({"type": "WordPiece", "prefix": "##", "cleanup": true})");
  add_tokens(parts, config, roles);
  parts.post_processor.around = surrounded(id_of(parts, config, "cls_token", roles.cls),
                                           id_of(parts, config, "sep_token", roles.sep), separator);
  return parts;
}

Parts build_bert(const FolderFile& file, const TokenizerConfig& config) {
  return build_wordpiece(file, config, bert_roles, Separator::once_with_types);
}

Parts build_mpnet(const FolderFile& file, const TokenizerConfig& config) {
  Parts parts = build_wordpiece(file, config, mpnet_roles, Separator::twice_with_types);
  strip_before_mask(parts, config, mpnet_roles.mask);
  return parts;
}

TokenizerJsonChanges change_bert(const TokenizerConfig& config) {
  return {.bert_normalizer = bert_normalizer(config)};
}

// Byte-level BPE (Radford et al. 2019).
Parts build_bytes(const FolderFile& file, const TokenizerConfig& config) {
  Parts parts;
  parts.model = read_merges(file, read_vocab_json(file, "vocab.json"), {}, Merges::two_columns);
  const bool prefix = config.boolean("add_prefix_space").value_or(false);
  set_pre_tokenizer(
      parts, std::string(R"({"type": "ByteLevel", "trim_offsets": true, "add_prefix_space": )") +
                 (prefix ? "true}" : "false}"));
  set_decoder(parts, R"({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true})");
  return parts;
}

Parts build_gpt2(const FolderFile& file, const TokenizerConfig& config) {
  Parts parts = build_bytes(file, config);
  add_tokens(parts, config, gpt2_roles);
  using enum TemplatePart::Kind;
  TokenTemplate& around = parts.post_processor.around;
  const auto add = [&](const char* flag, const char* role, std::string_view usual, bool front) {
    if (!config.boolean(flag).value_or(false)) return;
    const std::optional<AddedToken> token = config.special(role, usual);
    if (!token) return;
    const std::int32_t id = parts.find_required(token->content);
    const auto insert = [&](std::vector<TemplatePart>& text, std::size_t at, std::int32_t type) {
      text.insert(text.begin() + static_cast<std::ptrdiff_t>(at), {special, id, type});
    };
    insert(around.single, front ? 0 : around.single.size(), 0);
    // Each of two texts has its own token.
    const auto second = std::ranges::find(around.pair, second_text, &TemplatePart::kind);
    const auto place = static_cast<std::size_t>(second - around.pair.begin());
    insert(around.pair, front ? place : around.pair.size(), 1);
    insert(around.pair, front ? 0 : place, 0);
  };
  add("add_bos_token", "bos_token", gpt2_roles.bos, true);
  add("add_eos_token", "eos_token", gpt2_roles.eos, false);
  return parts;
}

Parts build_roberta(const FolderFile& file, const TokenizerConfig& config) {
  Parts parts = build_bytes(file, config);
  add_tokens(parts, config, roberta_roles);
  strip_before_mask(parts, config, roberta_roles.mask);
  PostProcessor& processor = parts.post_processor;
  processor.around =
      surrounded(id_of(parts, config, "cls_token", roberta_roles.cls),
                 id_of(parts, config, "sep_token", roberta_roles.sep), Separator::twice);
  processor.trim_offsets = config.boolean("trim_offsets").value_or(true);
  processor.has_prefix = config.boolean("add_prefix_space").value_or(false);
  return parts;
}

TokenizerJsonChanges change_gpt2(const TokenizerConfig& config) {
  return {.add_prefix_space = config.boolean("add_prefix_space").value_or(false)};
}

// Of classes that leave it as tokenizer.json has it.
TokenizerJsonChanges change_prefix(const TokenizerConfig& config) {
  return {.add_prefix_space = config.boolean("add_prefix_space"), .trim_offsets = {}};
}

// It would begin each part of a text that a pattern finds with a space, not the text.
TokenizerJsonChanges change_qwen2(const TokenizerConfig& config) {
  if (!config.boolean("add_prefix_space").value_or(false)) return {};
  throw_error(
      ErrorCode::unsupported,
      "tokenizer_config.json: add_prefix_space: expected false for Qwen2Tokenizer, got true");
}

TokenizerJsonChanges change_roberta(const TokenizerConfig& config) {
  return {.add_prefix_space = config.boolean("add_prefix_space").value_or(false),
          .trim_offsets = config.boolean("trim_offsets").value_or(true)};
}

// BPE whose words end with "</w>", applied to BERT's words (Mroczkowski et al. 2021).
Parts build_herbert(const FolderFile& file, const TokenizerConfig& config) {
  Parts parts;
  parts.model =
      read_merges(file, read_vocab_json(file, "vocab.json"),
                  {.unknown = required(config, "unk_token", herbert_roles.unk), .suffix = "</w>"},
                  Merges::more_columns);
  set_normalizer(parts, bert_normalizer(false, false, true));
  set_pre_tokenizer(parts, R"({"type": "BertPreTokenizer"})");
  set_decoder(parts, R"({"type": "BPEDecoder", "suffix": "</w>"})");
  add_tokens(parts, config, herbert_roles);
  parts.post_processor.around =
      surrounded(id_of(parts, config, "cls_token", herbert_roles.cls),
                 id_of(parts, config, "sep_token", herbert_roles.sep), Separator::once_with_types);
  return parts;
}

// The library's class decodes bytes, then replaces the ends of words by spaces.
constexpr std::string_view clip_decoder = R"({"type": "Sequence", "decoders": [
    {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true},
    {"type": "Replace", "pattern": {"String": "</w>"}, "content": " "},
    {"type": "Strip", "content": " ", "start": 0, "stop": 1}]})";

// Byte-level BPE whose words end with "</w>" (Radford et al. 2021).
Parts build_clip(const FolderFile& file, const TokenizerConfig& config) {
  Parts parts;
  parts.model =
      read_merges(file, read_vocab_json(file, "vocab.json"),
                  {.unknown = required(config, "unk_token", clip_roles.unk), .suffix = "</w>"},
                  Merges::two_columns);
  set_normalizer(parts, R"({"type": "Sequence", "normalizers": [{"type": "NFC"},
      {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "}, {"type": "Lowercase"}]})");
  set_pre_tokenizer(parts, R"({"type": "Sequence", "pretokenizers": [
      {"type": "Split", "behavior": "Removed", "invert": true, "pattern": {"Regex":
       "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"}},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true}]})");
  set_decoder(parts, clip_decoder);
  add_tokens(parts, config, clip_roles);
  parts.post_processor.around =
      surrounded(id_of(parts, config, "bos_token", clip_roles.bos),
                 id_of(parts, config, "eos_token", clip_roles.eos), Separator::twice);
  return parts;
}

TokenizerJsonChanges change_clip(const TokenizerConfig&) {
  return {.decoder = std::string(clip_decoder)};
}

/// The layout of a SentencePiece model's vocabulary in a tokenizer.json: the tokens `before`, the
/// pieces from `first_piece` on, the tokens `after`.
struct PieceLayout {
  std::vector<std::pair<std::string, double>> before;
  std::vector<std::string> after;
  std::size_t first_piece = 0;
  std::string unknown;
};

Parts build_pieces(const SentencePieceModel& model, const PieceLayout& layout) {
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
  for (const auto& [text, score] : layout.before) add(text, score);
  for (std::size_t i = layout.first_piece; i < model.pieces.size(); ++i) {
    add(model.pieces[i].text, double{model.pieces[i].score});
  }
  for (const std::string& text : layout.after) add(text, 0);

  Parts parts;
  ScoredPieces::Options options;
  options.unknown = vocabulary.find(layout.unknown);
  if (options.unknown == Vocabulary::absent) {
    throw_error(ErrorCode::invalid_tokenizer,
                {"the SentencePiece model: the unknown piece \"{}\" is missing", {layout.unknown}});
  }
  parts.model = std::make_unique<ScoredPieces>(std::move(vocabulary), std::move(scores), options);
  if (!model.precompiled_charsmap.empty()) {
    parts.normalizer = make_precompiled_normalizer(std::string(model.precompiled_charsmap));
  }
  return parts;
}

SentencePieceModel read_pieces(const FolderFile& file, std::string_view name) {
  return parse_sentencepiece_model(std::as_bytes(std::span(required_file(file, name))));
}

// Returns the pieces that are found in a text before all others.
std::vector<AddedToken> added_pieces(const SentencePieceModel& model) {
  std::vector<AddedToken> tokens;
  for (const Piece& piece : model.pieces) {
    const bool control = piece.type == PieceType::control;
    if (!control && piece.type != PieceType::user_defined) continue;
    AddedToken token{.id = AddedToken::unknown_id, .content = std::string(piece.text)};
    token.special = control;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

std::string metaspace(const TokenizerConfig& config) {
  const bool prefix = config.boolean("add_prefix_space").value_or(true);
  return std::string(R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": ")") +
         (prefix ? "always" : "never") + "\"}";
}

std::string words_with_metaspace(const TokenizerConfig& config) {
  return R"({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, )" +
         metaspace(config) + "]}";
}

Parts build_t5(const FolderFile& file, const TokenizerConfig& config) {
  PieceLayout layout;
  const std::size_t extra = config.integer("extra_ids").value_or(100);
  if (extra > 10'000) {
    throw_error(ErrorCode::invalid_tokenizer,
                {"tokenizer_config.json: extra_ids: expected at most 10000, got {}", {extra}});
  }
  for (std::size_t i = extra; i-- > 0;) {
    layout.after.push_back("<extra_id_" + std::to_string(i) + ">");
  }
  layout.unknown = required(config, "unk_token", t5_roles.unk);
  const SentencePieceModel model = read_pieces(file, "spiece.model");
  Parts parts = build_pieces(model, layout);
  constexpr std::string_view spaces = R"({"type": "Metaspace", "replacement": "▁"})";
  set_pre_tokenizer(parts,
                    R"({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, )" +
                        std::string(spaces) + "]}");
  set_decoder(parts, spaces);
  std::vector<AddedToken> more = added_pieces(model);
  for (const std::string& text : layout.after) more.push_back(special_token(text));
  add_tokens(parts, config, t5_roles, more);
  using enum TemplatePart::Kind;
  const TemplatePart last{special, id_of(parts, config, "eos_token", t5_roles.eos), 0};
  parts.post_processor.around.single = {{first_text, 0, 0}, last};
  parts.post_processor.around.pair = {{first_text, 0, 0}, last, {second_text, 0, 0}, last};
  return parts;
}

// Builds a SentencePiece model with RoBERTa's special tokens. `layout.before` replaces the model's
// own first pieces.
Parts build_piece_roberta(const FolderFile& file, const TokenizerConfig& config, PieceLayout layout,
                          std::vector<AddedToken> more) {
  const SentencePieceModel model = read_pieces(file, "sentencepiece.bpe.model");
  layout.unknown = required(config, "unk_token", roberta_roles.unk);
  const auto mask = config.special("mask_token", roberta_roles.mask);
  // If a token is null, Python's text for that.
  layout.after.push_back(mask ? mask->content : "None");
  Parts parts = build_pieces(model, layout);
  for (AddedToken& token : added_pieces(model)) more.push_back(std::move(token));
  set_decoder(parts, metaspace(config));
  add_tokens(parts, config, roberta_roles, more);
  strip_before_mask(parts, config, roberta_roles.mask);
  parts.post_processor.around =
      surrounded(id_of(parts, config, "bos_token", roberta_roles.bos),
                 id_of(parts, config, "eos_token", roberta_roles.eos), Separator::twice);
  return parts;
}

// `languages`: tokens after the pieces.
Parts build_xlm(const FolderFile& file, const TokenizerConfig& config,
                std::vector<std::string> languages) {
  std::vector<AddedToken> more;
  for (const std::string& language : languages) more.push_back(special_token(language));
  // The model's own first three pieces are <unk>, <s> and </s>.
  const PieceLayout layout{.before = {{required(config, "bos_token", roberta_roles.bos), 0},
                                      {required(config, "pad_token", roberta_roles.pad), 0},
                                      {required(config, "eos_token", roberta_roles.eos), 0},
                                      {required(config, "unk_token", roberta_roles.unk), 0}},
                           .after = std::move(languages),
                           .first_piece = 3,
                           .unknown = {}};
  Parts parts = build_piece_roberta(file, config, layout, std::move(more));
  set_pre_tokenizer(parts, words_with_metaspace(config));
  return parts;
}

Parts build_xlm_roberta(const FolderFile& file, const TokenizerConfig& config) {
  return build_xlm(file, config, {});
}

// Only translators have the languages.
Parts build_mbart_of(const FolderFile& file, const TokenizerConfig& config, bool all) {
  return build_xlm(file, config,
                   read_linked_renumbered ? mbart_languages(all) : std::vector<std::string>());
}

Parts build_mbart(const FolderFile& file, const TokenizerConfig& config) {
  return build_mbart_of(file, config, false);
}

Parts build_mbart_50(const FolderFile& file, const TokenizerConfig& config) {
  return build_mbart_of(file, config, true);
}

Parts build_camembert(const FolderFile& file, const TokenizerConfig& config) {
  // The model's own first piece is <unk>. Its <s> and </s> are the ones in use.
  const std::array<std::string, 3> unused = {"<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"};
  const PieceLayout layout{.before = {{unused[0], 0},
                                      {required(config, "pad_token", roberta_roles.pad), 0},
                                      {unused[1], 0},
                                      {required(config, "unk_token", roberta_roles.unk), 0},
                                      {unused[2], -100}},
                           .after = {},
                           .first_piece = 1,
                           .unknown = {}};
  std::vector<AddedToken> more;
  for (const std::string& text : unused) more.push_back(special_token(text));
  Parts parts = build_piece_roberta(file, config, layout, std::move(more));
  // SentencePiece removes spaces at the end and collapses several into one.
  parts.normalizer =
      make_sequence(std::move(parts.normalizer),
                    read_normalizer(component(R"({"type": "Sequence", "normalizers": [
        {"type": "Strip", "strip_left": false, "strip_right": true},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"}]})"),
                                    "normalizer"));
  set_pre_tokenizer(parts, metaspace(config));
  return parts;
}

// As in version 4 of the library: version 5 leaves out the model's own normalizer.
Parts build_deberta(const FolderFile& file, const TokenizerConfig& config) {
  const SentencePieceModel model = read_pieces(file, "spm.model");
  PieceLayout layout;
  layout.unknown = required(config, "unk_token", deberta_roles.unk);
  Parts parts = build_pieces(model, layout);
  const auto normalizer = [](std::string_view json) {
    return read_normalizer(component(json), "normalizer");
  };
  parts.normalizer =
      make_sequence(normalizer(R"({"type": "Strip", "strip_left": true, "strip_right": true})"),
                    make_sequence(std::move(parts.normalizer),
                                  normalizer(R"({"type": "Replace", "pattern": {"Regex": " {2,}"},
                                   "content": " "})")));
  if (config.boolean("do_lower_case").value_or(false)) {
    parts.normalizer = make_sequence(make_lower_case(), std::move(parts.normalizer));
  }
  const bool splits = config.boolean("split_by_punct").value_or(false);
  set_pre_tokenizer(
      parts, R"({"type": "Sequence", "pretokenizers": [)" +
                 std::string(splits ? R"({"type": "Punctuation", "behavior": "Isolated"}, )" : "") +
                 metaspace(config) + "]}");
  set_decoder(parts, metaspace(config));
  add_tokens(parts, config, deberta_roles, added_pieces(model));
  parts.post_processor.around =
      surrounded(id_of(parts, config, "cls_token", deberta_roles.cls),
                 id_of(parts, config, "sep_token", deberta_roles.sep), Separator::once_with_types);
  return parts;
}

TokenizerJsonChanges change_pieces(const TokenizerConfig& config) {
  if (!config.boolean("add_prefix_space")) return {};
  return {.pre_tokenizer = words_with_metaspace(config), .decoder = metaspace(config)};
}

// --- the table -----------------------------------------------------------------------------------

constexpr std::string_view morphemes =
    "it finds words with a program (MeCab, Sudachi or Juman++) that is not here; choose a "
    "checkpoint whose tokenizer has a tokenizer.json";
constexpr std::string_view segmented =
    "it normalizes or segments words in Python before BPE, which tokenizer.json cannot say; choose "
    "a checkpoint with another tokenizer";

constexpr std::array classes = {
    TokenizerClass{"BertTokenizer", build_bert, change_bert, &bert_roles},
    TokenizerClass{"DistilBertTokenizer", build_bert, change_bert, &bert_roles},
    TokenizerClass{"ElectraTokenizer", build_bert, change_bert, &bert_roles},
    TokenizerClass{"MobileBertTokenizer", build_bert, change_bert, &bert_roles},
    TokenizerClass{"SqueezeBertTokenizer", build_bert, change_bert, &bert_roles},
    TokenizerClass{"ConvBertTokenizer", build_bert, change_bert, &bert_roles},
    TokenizerClass{"LxmertTokenizer", build_bert, change_bert, &bert_roles},
    TokenizerClass{"LayoutLMTokenizer", build_bert, change_bert, &bert_roles},
    TokenizerClass{"RetriBertTokenizer", build_bert, change_bert, &bert_roles},
    TokenizerClass{"DPRQuestionEncoderTokenizer", build_bert, change_bert, &bert_roles},
    TokenizerClass{"DPRContextEncoderTokenizer", build_bert, change_bert, &bert_roles},
    TokenizerClass{"MPNetTokenizer", build_mpnet, change_bert, &mpnet_roles},
    TokenizerClass{"RobertaTokenizer", build_roberta, change_roberta, &roberta_roles},
    TokenizerClass{"LongformerTokenizer", build_roberta, change_roberta, &roberta_roles},
    TokenizerClass{"BartTokenizer", build_roberta, change_roberta, &roberta_roles},
    TokenizerClass{"LEDTokenizer", build_roberta, change_roberta, &roberta_roles},
    TokenizerClass{"MvpTokenizer", build_roberta, change_roberta, &roberta_roles},
    TokenizerClass{"GPT2Tokenizer", build_gpt2, change_gpt2, &gpt2_roles},
    TokenizerClass{"GPTNeoXTokenizer", nullptr, change_prefix, nullptr},
    TokenizerClass{"Qwen2Tokenizer", nullptr, change_qwen2, nullptr},
    TokenizerClass{"CLIPTokenizer", build_clip, change_clip, &clip_roles},
    TokenizerClass{"HerbertTokenizer", build_herbert, nullptr, &herbert_roles},
    TokenizerClass{"T5Tokenizer", build_t5, nullptr, &t5_roles},
    TokenizerClass{"MT5Tokenizer", build_t5, nullptr, &t5_roles},
    TokenizerClass{"XLMRobertaTokenizer", build_xlm_roberta, change_pieces, &roberta_roles},
    TokenizerClass{"CamembertTokenizer", build_camembert, change_pieces, &roberta_roles},
    TokenizerClass{"DebertaV2Tokenizer", build_deberta, nullptr, &deberta_roles},
    TokenizerClass{"NllbTokenizer", nullptr, nullptr, &roberta_roles},
    TokenizerClass{"MBartTokenizer", build_mbart, nullptr, &roberta_roles},
    TokenizerClass{"MBart50Tokenizer", build_mbart_50, nullptr, &roberta_roles},
    // These classes never read a tokenizer.json.
    TokenizerClass{"BertJapaneseTokenizer", nullptr, nullptr, nullptr, morphemes},
    TokenizerClass{"BertweetTokenizer", nullptr, nullptr, nullptr, segmented},
    TokenizerClass{"PhobertTokenizer", nullptr, nullptr, nullptr, segmented},
    TokenizerClass{"XLMTokenizer", nullptr, nullptr, nullptr, segmented},
    TokenizerClass{"FlaubertTokenizer", nullptr, nullptr, nullptr, segmented},
    TokenizerClass{"BioGptTokenizer", nullptr, nullptr, nullptr, segmented},
    TokenizerClass{"CTRLTokenizer", nullptr, nullptr, nullptr, segmented},
    TokenizerClass{"RoCBertTokenizer", nullptr, nullptr, nullptr, segmented},
    TokenizerClass{"TapasTokenizer", nullptr, nullptr, nullptr, segmented},
    TokenizerClass{"EsmTokenizer", nullptr, nullptr, nullptr, segmented},
    TokenizerClass{"ByT5Tokenizer", nullptr, nullptr, nullptr, segmented},
    TokenizerClass{"CanineTokenizer", nullptr, nullptr, nullptr, segmented},
};

}  // namespace

const TokenizerClass* find_tokenizer_class(std::string_view name) {
  const auto found = std::ranges::find(classes, name, &TokenizerClass::name);
  return found == classes.end() ? nullptr : &*found;
}

void add_tokens(Parts& parts, const TokenizerClass* known, const TokenizerConfig& config) {
  constexpr Roles none;
  add_tokens(parts, config, known && known->roles ? *known->roles : none);
}

}  // namespace glassformer
