#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/trie.hpp"

namespace glassformer {

/// U+2581, which represents a space in pieces and in normalized text.
constexpr std::string_view space_symbol = "\xE2\x96\x81";

enum class PieceType : std::uint8_t {
  normal = 1,
  unknown = 2,       // exactly one; covers text that no other piece covers
  control = 3,       // <s>, </s>: never found in text
  user_defined = 4,  // always one token, in any context
  unused = 5,
  byte = 6,  // <0x00> to <0xFF>
};

struct Piece {
  std::string_view text;
  float score = 0;
  PieceType type = PieceType::normal;
};

enum class SegmentationKind { unigram, bpe };

/// The parts of a SentencePiece model file that encoding and decoding depend on
/// (sentencepiece_model.proto: ModelProto; defaults are the format's).
struct SentencePieceModel {
  std::unique_ptr<char[]> file;  // holds the texts and the map
  std::vector<Piece> pieces;     // a piece's index is its id
  std::int32_t unk_id = -1;

  SegmentationKind kind = SegmentationKind::unigram;
  bool byte_fallback = false;
  bool treat_whitespace_as_suffix = false;
  std::string unk_surface = " \xE2\x81\x87 ";  // decoded text of the unknown piece

  std::string_view precompiled_charsmap;  // see CharacterMap; may be empty
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
};

/// Throws invalid_tokenizer if the file is malformed or its pieces contradict each other
/// (duplicates, not exactly one unknown piece, incomplete byte pieces). Throws unsupported for
/// other kinds of models.
SentencePieceModel parse_sentencepiece_model(std::span<const std::byte> file);

/// Builds a trie of the pieces with these types. Its values are their ids.
Trie trie_of(const std::vector<Piece>& pieces, std::initializer_list<PieceType> types);

/// Returns the byte of a piece such as "<0x41>", or -1 if it does not have that form.
int byte_of_piece(std::string_view piece);

}  // namespace glassformer
