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

/// U+2581, which stands for a space in pieces and in the text that is cut into them.
constexpr std::string_view space_symbol = "\xE2\x96\x81";

enum class PieceType : std::uint8_t {
  normal = 1,
  unknown = 2,       // exactly one; stands for what no other piece covers
  control = 3,       // <s>, </s>: never found in text
  user_defined = 4,  // always one token, whatever surrounds it
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
  std::unique_ptr<char[]> file;  // which the texts and the map lie in
  std::vector<Piece> pieces;     // a piece's index is its id
  std::int32_t unk_id = -1;

  SegmentationKind kind = SegmentationKind::unigram;
  bool byte_fallback = false;
  bool treat_whitespace_as_suffix = false;
  std::string unk_surface = " \xE2\x81\x87 ";  // what the unknown piece decodes to

  std::string_view precompiled_charsmap;  // see CharacterMap; empty for none
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
};

/// Throws invalid_tokenizer if the file is malformed or its pieces contradict each other
/// (duplicates, not exactly one unknown piece, incomplete byte pieces), unsupported for other kinds
/// of model.
SentencePieceModel parse_sentencepiece_model(std::span<const std::byte> file);

/// The pieces of these types with their ids.
Trie trie_of(const std::vector<Piece>& pieces, std::initializer_list<PieceType> types);

/// The value of a piece "<0x41>", or -1 if it is not of that form.
int byte_of_piece(std::string_view piece);

}  // namespace glassformer
