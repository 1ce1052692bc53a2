#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/sentencepiece/model.hpp"

namespace glassformer {

/// A special piece's id and text.
struct NamedPiece {
  std::int32_t id = -1;  // -1 if absent
  std::string text;
};

/// A Unigram model as written to a file. The other fields have the format's defaults.
struct UnigramModelFile {
  std::vector<Piece> pieces;
  NamedPiece unknown, begin, end, padding;
  float character_coverage = 1;
  bool byte_fallback = false;
  std::string_view precompiled_charsmap;
};

/// Writes a SentencePiece model file (sentencepiece_model.proto: ModelProto).
std::vector<std::byte> write_sentencepiece_model(const UnigramModelFile& model);

}  // namespace glassformer
