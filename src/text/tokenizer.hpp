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

/// A piece of the input. `start` and `end` count UTF-16 code units of the input text. A byte that
/// is not valid UTF-8 counts as one unit.
///
/// Consecutive tokens never overlap. If one character becomes several tokens (a ligature, or the
/// bytes of a character), the first covers it and the others have an empty range at its end. A
/// prefix that is not in the input has an empty range. Some tokenizers leave out the white space
/// before a word, some include it in the token.
struct Token {
  std::int32_t id;
  std::uint32_t start;
  std::uint32_t end;
  /// False if it continues the word of the token before it. The pre-tokenizer cuts words; without
  /// one, each token is a word.
  bool starts_word = true;

  bool operator==(const Token&) const = default;
};

/// A language that a multilingual translator reads and writes, such as "en" or "eng_Latn", and the
/// token that selects it.
struct Language {
  std::string code;
  std::int32_t id;
};

/// Decodes ids to text, one at a time. The text only grows, by whole characters. Bytes of an
/// incomplete character are held back. The tokenizer must outlive it.
class TextDecoder {
 public:
  virtual ~TextDecoder() = default;

  /// Throws invalid_option for an id outside the vocabulary.
  virtual void push(std::int32_t id) = 0;
  /// Ends the text. Bytes that are still held back are not a character.
  virtual void finish() = 0;

  virtual const std::string& text() const = 0;
};

/// Reads a text's tokens some words at a time. The tokens are the same as when read all at once.
/// The tokenizer and the text must outlive it.
class TokenReader {
 public:
  virtual ~TokenReader() = default;

  /// Appends the tokens of the next words. May extend the last token of the previous call. Returns
  /// whether there may be more. Throws too_large for a word that is too long. A word is a part that
  /// the tokenizer cannot cut without the rest; with some models, that is the whole text.
  virtual bool read(std::vector<Token>& tokens) = 0;
};

/// Converts text to ids and back. The ids are the same as those of the original implementation.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Accepts any bytes; invalid UTF-8 becomes U+FFFD. Adds no tokens of the template. Throws
  /// too_large for more than 256 MiB.
  virtual std::unique_ptr<TokenReader> read(std::string_view utf8) const = 0;
  /// Returns all tokens of the text.
  std::vector<Token> encode(std::string_view utf8) const;

  virtual std::unique_ptr<TextDecoder> make_decoder() const = 0;
  /// Throws invalid_option for an id outside the vocabulary.
  std::string decode(std::span<const std::int32_t> ids) const;
  /// Decodes, and keeps the tokens that decode() leaves out, by their names.
  virtual std::string decode_all(std::span<const std::int32_t> ids) const;

  virtual std::size_t size() const = 0;
  /// Returns the token as written in the vocabulary. Throws invalid_option for an id outside it.
  virtual std::string_view piece(std::int32_t id) const = 0;
  /// Returns the token's text for display, as it appears after another token: with a space in front
  /// if it starts a word. Template tokens, the unknown token and bytes that are not a whole
  /// character are shown by their names: <s>, <unk>, <0xE6>. Throws invalid_option for an id
  /// outside the vocabulary.
  virtual std::string display_text(std::int32_t id) const = 0;
  virtual std::optional<std::int32_t> find(std::string_view piece) const = 0;
  /// Returns the id of the unknown token, or -1.
  virtual std::int32_t unk_id() const = 0;
  /// Returns whether the token decodes to no text, such as <s> and </s>.
  virtual bool is_control(std::int32_t id) const = 0;

  /// Returns the size in bytes of the language code at the start of the text (">>pt<<"), or 0. The
  /// code is one token and selects the language that a model translates into.
  virtual std::size_t language_code_size(std::string_view /*utf8*/) const { return 0; }

  /// Returns the languages of a multilingual translator; empty for other tokenizers. The template
  /// of such a tokenizer has the token of one of them, in place of which that of the text's
  /// language is put.
  virtual std::span<const Language> languages() const { return {}; }

  /// Returns whether pieces that do not start a word are marked ("##ing"), which makes them longer
  /// than their text.
  virtual bool marks_subwords() const { return false; }
  /// Returns the text of pieces as written in the vocabulary, or of parts of such a text.
  virtual std::string join(std::vector<std::string> pieces) const;

  /// Returns the side at which the tokenizer's files truncate long texts, or nothing if they do not
  /// define it.
  virtual std::optional<TruncationSide> truncation_side() const { return std::nullopt; }

  /// Returns the template that the tokenizer's files define. It may be empty.
  virtual const TokenTemplate& around() const = 0;

 protected:
  [[noreturn]] void fail_id(std::int32_t id) const;
};

/// Creates a reader that returns all tokens at once.
std::unique_ptr<TokenReader> make_whole_reader(std::vector<Token> tokens);

/// Creates a decoder that decodes everything again with each id, for tokenizers whose tokens depend
/// on those before them.
std::unique_ptr<TextDecoder> make_whole_decoder(
    std::function<std::string(std::span<const std::int32_t>)> decode);

}  // namespace glassformer
