#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/token_template.hpp"
#include "text/truncation.hpp"

namespace glassformer {

/// A piece of the input. start and end count UTF-16 code units of the input text, in which a byte
/// that is not valid UTF-8 counts as one.
///
/// Consecutive tokens never overlap. Where one character became several tokens (a ligature, or the
/// bytes of a character), the first covers it and the others are empty at its end. A prefix that
/// the input does not have covers nothing. Some tokenizers leave out the white space before a word,
/// some make it part of the token.
struct Token {
  std::int32_t id;
  std::uint32_t start;
  std::uint32_t end;
  /// False: it goes on with the word of the token before it. Words are what the pre-tokenizer cuts;
  /// without one, each token is a word.
  bool starts_word = true;

  bool operator==(const Token&) const = default;
};

/// Ids to text, one at a time. The text only grows, by whole characters: bytes that may yet become
/// one wait. The tokenizer outlives this.
class TextDecoder {
 public:
  virtual ~TextDecoder() = default;

  /// Throws invalid_option for an id outside the vocabulary.
  virtual void push(std::int32_t id) = 0;
  /// No byte follows: what waits is not a character.
  virtual void finish() = 0;

  virtual const std::string& text() const = 0;
};

/// A text's tokens, some words at a time: the same ones as all at once. The tokenizer and the text
/// outlive this.
class TokenReader {
 public:
  virtual ~TokenReader() = default;

  /// Appends the tokens of the next words; may extend the last one that it appended before. Returns
  /// whether there may be more. Throws too_large for a word that is too long, where a word is what
  /// the tokenizer cannot cut without the rest: with some models, the whole text.
  virtual bool read(std::vector<Token>& tokens) = 0;
};

/// Text to ids and back, with the ids of the implementation that the files were made with.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Any bytes are accepted; what is not valid UTF-8 becomes U+FFFD. Adds no tokens of the
  /// template. Throws too_large for more than 256 MiB.
  virtual std::unique_ptr<TokenReader> read(std::string_view utf8) const = 0;
  /// All tokens of the text.
  std::vector<Token> encode(std::string_view utf8) const;

  virtual std::unique_ptr<TextDecoder> make_decoder() const = 0;
  /// Throws invalid_option for an id outside the vocabulary.
  std::string decode(std::span<const std::int32_t> ids) const;

  virtual std::size_t size() const = 0;
  /// As it is in the vocabulary. Throws invalid_option for an id outside of it.
  virtual std::string_view piece(std::int32_t id) const = 0;
  /// What a person reads: the text that the token stands for behind another one, with a space in
  /// front where it starts a word. Tokens of the template, the unknown token and bytes that are not
  /// a whole character read as their names: <s>, <unk>, <0xE6>. Throws invalid_option for an id
  /// outside the vocabulary.
  virtual std::string display_text(std::int32_t id) const = 0;
  virtual std::optional<std::int32_t> find(std::string_view piece) const = 0;
  /// -1 if no token stands for what the others do not cover.
  virtual std::int32_t unk_id() const = 0;
  /// Whether the token stands for no text: <s>, </s> and their like.
  virtual bool is_control(std::int32_t id) const = 0;

  /// How many bytes of the text are a language code that it begins with (">>pt<<"), which is one
  /// token and says into which language a model translates.
  virtual std::size_t language_code_size(std::string_view /*utf8*/) const { return 0; }

  /// Whether a piece that does not start a word has a mark of that, by which it is longer than the
  /// text it stands for ("##ing").
  virtual bool marks_subwords() const { return false; }
  /// The text of pieces as they are in the vocabulary, or of parts of such a text.
  virtual std::string join(std::vector<std::string> pieces) const;

  /// The side at which the tokenizer's files have long texts cut; nothing if they do not say.
  virtual std::optional<TruncationSide> truncation_side() const { return std::nullopt; }

  /// What the model expects around its texts, as far as the tokenizer's files say.
  virtual const TokenTemplate& around() const = 0;

 protected:
  [[noreturn]] void fail_id(std::int32_t id) const;
};

/// A reader that reads all tokens at once.
std::unique_ptr<TokenReader> make_whole_reader(std::vector<Token> tokens);

/// A decoder that decodes everything again with each id, for tokenizers whose tokens depend on
/// those before them.
std::unique_ptr<TextDecoder> make_whole_decoder(
    std::function<std::string(std::span<const std::int32_t>)> decode);

}  // namespace glassformer
