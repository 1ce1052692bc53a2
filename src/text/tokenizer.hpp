#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/normalizer.hpp"
#include "text/segmenter.hpp"
#include "text/sentencepiece_model.hpp"

namespace glassformer {

/// A piece of the input. start and end count UTF-16 code units of the input text, in which a byte
/// that is not valid UTF-8 counts as one.
///
/// A token covers the characters that its piece was normalised from, without the white space before
/// them: consecutive tokens never overlap, and only white space and characters that normalise to
/// nothing lie between them. A piece of nothing but white space covers that white space, or, where
/// it is the prefix that the input does not have, nothing (start = end). Where one character became
/// several pieces (a ligature, or the bytes of an unknown character), the first covers it and the
/// others are empty at its end.
struct Token {
  std::int32_t id;
  std::uint32_t start;
  std::uint32_t end;

  bool operator==(const Token&) const = default;
};

/// Text to ids and back, with the ids that SentencePiece gives for the same model file: Unigram and
/// BPE, normalisation map, byte fallback, user-defined pieces.
class Tokenizer {
 public:
  /// Reads a SentencePiece model file. Throws invalid_tokenizer, or unsupported for a kind of model
  /// other than Unigram and BPE.
  static Tokenizer parse(std::span<const std::byte> model_file);

  /// Any bytes are accepted; what is not valid UTF-8 becomes U+FFFD. Adds no special tokens.
  /// Throws too_large for more than 256 MiB, or where TokenReader does.
  std::vector<Token> encode(std::string_view utf8) const;

  /// Throws invalid_option for an id outside the vocabulary.
  std::string decode(std::span<const std::int32_t> ids) const;

  std::size_t size() const { return model_.pieces.size(); }
  /// Throws invalid_option for an id outside the vocabulary.
  std::string_view piece(std::int32_t id) const { return at(id).text; }
  std::optional<std::int32_t> find(std::string_view piece) const;  // looks at every piece in turn
  std::int32_t unk_id() const { return model_.unk_id; }
  /// Whether the piece stands for no text: <s>, </s> and their like.
  bool is_control(std::int32_t id) const { return at(id).type == PieceType::control; }

  /// What encode cuts into pieces: white space collapsed and written as U+2581, characters mapped.
  std::string normalize(std::string_view utf8) const;

 private:
  friend class TextDecoder;
  friend class TokenReader;
  explicit Tokenizer(SentencePieceModel model);
  const Piece& at(std::int32_t id) const;

  SentencePieceModel model_;
  Normalizer normalizer_;
  std::unique_ptr<Segmenter> segmenter_;
  std::vector<std::int32_t> byte_ids_;  // 256 with byte fallback, else none
};

/// A text's tokens, some words at a time: the same ones as all at once, in memory for a few words.
class TokenReader {
 public:
  /// The tokenizer and the text outlive this. Throws too_large for more than 256 MiB.
  TokenReader(const Tokenizer& tokenizer, std::string_view utf8);

  /// Appends the tokens of the next words; may extend the last one that it appended before. Returns
  /// whether there may be more. Throws too_large for a word of over 4 MiB, where a word is what the
  /// tokenizer cannot cut without the rest: with some models, the whole text.
  bool read(std::vector<Token>& tokens);

 private:
  const Tokenizer& tokenizer_;
  Normalization normalization_;
  float score_ = 0;            // of the pieces so far
  std::uint32_t covered_ = 0;  // UTF-16 units of the text that tokens cover
  bool after_unknown_ = false;
};

/// Ids to text, one at a time. The text only grows, by whole characters: bytes that may yet become
/// one wait.
class TextDecoder {
 public:
  /// The tokenizer outlives this.
  explicit TextDecoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// Throws invalid_option for an id outside the vocabulary.
  void push(std::int32_t id);
  /// No byte follows: what waits is not a character.
  void finish() { flush(Waiting::end); }

  const std::string& text() const { return text_; }

 private:
  enum class Waiting { goes_on, end };
  void flush(Waiting waiting);

  const Tokenizer& tokenizer_;
  std::string text_;
  std::string bytes_;  // of a run of byte pieces, not yet in the text
  bool prefix_seen_ = false;
};

}  // namespace glassformer
