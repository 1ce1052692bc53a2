#include "text/training/model_file.hpp"

#include <algorithm>
#include <bit>

namespace glassformer {
namespace {

/// Writes one message of the protocol buffer wire format.
class ProtobufWriter {
 public:
  ProtobufWriter& integer(std::uint32_t field, std::int64_t value) {
    append(std::uint64_t{field} << 3);
    append(static_cast<std::uint64_t>(value));  // negative numbers are ten-byte varints
    return *this;
  }

  ProtobufWriter& float32(std::uint32_t field, float value) {
    append(std::uint64_t{field} << 3 | 5);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) message_ += static_cast<char>(bits >> shift & 0xFF);
    return *this;
  }

  ProtobufWriter& bytes(std::uint32_t field, std::string_view value) {
    append(std::uint64_t{field} << 3 | 2);
    append(value.size());
    message_ += value;
    return *this;
  }

  const std::string& message() const { return message_; }

 private:
  void append(std::uint64_t varint) {
    for (; varint >= 0x80; varint >>= 7) message_ += static_cast<char>(varint | 0x80);
    message_ += static_cast<char>(varint);
  }

  std::string message_;
};

std::string piece_message(const Piece& piece) {
  ProtobufWriter message;
  message.bytes(1, piece.text).float32(2, piece.score);
  if (piece.type != PieceType::normal) message.integer(3, static_cast<std::int64_t>(piece.type));
  return message.message();
}

std::string trainer_message(const UnigramModelFile& model) {
  ProtobufWriter message;
  message.integer(3, 1);  // Unigram
  message.integer(4, static_cast<std::int64_t>(model.pieces.size()));
  message.float32(10, model.character_coverage);
  if (model.byte_fallback) message.integer(35, 1);
  const NamedPiece* named[] = {&model.unknown, &model.begin, &model.end, &model.padding};
  for (std::uint32_t i = 0; i < 4; ++i) message.integer(40 + i, named[i]->id);
  for (std::uint32_t i = 0; i < 4; ++i) {
    if (named[i]->id >= 0) message.bytes(45 + i, named[i]->text);
  }
  return message.message();
}

std::string normalizer_message(const UnigramModelFile& model) {
  return ProtobufWriter()
      .bytes(1, "user_defined")
      .bytes(2, model.precompiled_charsmap)
      .integer(3, 1)
      .integer(4, 1)
      .integer(5, 1)
      .message();
}

}  // namespace

std::vector<std::byte> write_sentencepiece_model(const UnigramModelFile& model) {
  ProtobufWriter file;
  for (const Piece& piece : model.pieces) file.bytes(1, piece_message(piece));
  file.bytes(2, trainer_message(model)).bytes(3, normalizer_message(model));
  std::vector<std::byte> bytes(file.message().size());
  std::transform(file.message().begin(), file.message().end(), bytes.begin(),
                 [](char byte) { return static_cast<std::byte>(byte); });
  return bytes;
}

}  // namespace glassformer
