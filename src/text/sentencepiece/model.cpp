#include "text/sentencepiece/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "base/strings/mistaken.hpp"
#include "base/strings/utf8.hpp"
#include "text/sentencepiece/protobuf.hpp"

namespace glassformer {
namespace {

[[noreturn]] void fail(const Message& problem) {
  throw_error(ErrorCode::invalid_tokenizer, {"tokenizer.model: {}", {problem}});
}

[[noreturn]] void fail_piece(std::size_t id, const Message& problem) {
  fail({"piece {}: {}", {id, problem}});
}

Piece parse_piece(std::string_view message, std::size_t id) {
  Piece piece;
  ProtobufReader reader(message);
  while (reader.next()) {
    switch (reader.field()) {
      case 1:
        piece.text = reader.bytes();
        break;
      case 2:
        piece.score = reader.float32();
        break;
      case 3: {
        const std::uint64_t type = reader.varint();
        if (type < 1 || type > 6) fail_piece(id, {"expected a type from 1 to 6, got {}", {type}});
        piece.type = static_cast<PieceType>(type);
        break;
      }
    }
  }
  if (piece.text.empty()) fail_piece(id, "expected a text, got none");
  if (!is_valid_utf8(piece.text)) fail_piece(id, "expected UTF-8 text, got other bytes");
  if (!std::isfinite(piece.score)) fail_piece(id, "expected a finite score");
  return piece;
}

SegmentationKind parse_kind(std::int32_t model_type) {
  if (model_type == 1) return SegmentationKind::unigram;
  if (model_type == 2) return SegmentationKind::bpe;
  throw_error(
      ErrorCode::unsupported,
      {"tokenizer.model: expected model type 1 (Unigram) or 2 (BPE), got {}", {model_type}});
}

void parse_trainer_spec(std::string_view message, SentencePieceModel& model) {
  ProtobufReader reader(message);
  while (reader.next()) {
    switch (reader.field()) {
      case 3:
        model.kind = parse_kind(reader.int32());
        break;
      case 24:
        model.treat_whitespace_as_suffix = reader.boolean();
        break;
      case 35:
        model.byte_fallback = reader.boolean();
        break;
      case 44:
        model.unk_surface = reader.bytes();
        break;
    }
  }
}

void parse_normalizer_spec(std::string_view message, SentencePieceModel& model) {
  ProtobufReader reader(message);
  while (reader.next()) {
    switch (reader.field()) {
      case 2:
        model.precompiled_charsmap = reader.bytes();
        break;
      case 3:
        model.add_dummy_prefix = reader.boolean();
        break;
      case 4:
        model.remove_extra_whitespaces = reader.boolean();
        break;
      case 5:
        model.escape_whitespaces = reader.boolean();
        break;
    }
  }
}

void check_denormalizer_spec(std::string_view message) {
  ProtobufReader reader(message);
  while (reader.next()) {
    if (reader.field() == 2 && !reader.bytes().empty()) {
      throw_error(ErrorCode::unsupported,
                  "tokenizer.model: denormalizer_spec: expected no character map");
    }
  }
}

// Checks that pieces that are never found in text have unique names. The other pieces are checked
// when they are added to a trie.
void check_names(const std::vector<Piece>& pieces) {
  std::set<std::string_view> names;
  for (const Piece& piece : pieces) {
    const bool named = piece.type == PieceType::unknown || piece.type == PieceType::control ||
                       piece.type == PieceType::byte;
    if (named && !names.insert(piece.text).second) {
      fail({"piece \"{}\" appears twice", {piece.text}});
    }
  }
}

void check_bytes(const SentencePieceModel& model) {
  std::array<bool, 256> found{};
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    const Piece& piece = model.pieces[id];
    if (piece.type != PieceType::byte) continue;
    const int byte = byte_of_piece(piece.text);
    if (byte < 0) {
      fail_piece(id, {"expected a byte piece <0x00> to <0xFF>, got {}", {piece.text}});
    }
    if (!model.byte_fallback) fail_piece(id, "expected no byte piece without byte_fallback");
    found[static_cast<std::size_t>(byte)] = true;
  }
  const auto count = std::count(found.begin(), found.end(), true);
  if (model.byte_fallback && count != 256) {
    fail({"expected 256 byte pieces for byte_fallback, got {}", {count}});
  }
}

std::int32_t find_unknown(const std::vector<Piece>& pieces) {
  const auto is_unknown = [](const Piece& piece) { return piece.type == PieceType::unknown; };
  const auto count = std::count_if(pieces.begin(), pieces.end(), is_unknown);
  if (count != 1) fail({"expected one unknown piece, got {}", {count}});
  return static_cast<std::int32_t>(std::find_if(pieces.begin(), pieces.end(), is_unknown) -
                                   pieces.begin());
}

}  // namespace

SentencePieceModel parse_sentencepiece_model(std::span<const std::byte> file) {
  const std::string_view start(reinterpret_cast<const char*>(file.data()), file.size());
  if (const std::string_view problem = mistaken_content(start); !problem.empty()) {
    throw_error(ErrorCode::invalid_tokenizer, {"the SentencePiece model: {}", {problem}});
  }
  SentencePieceModel model;
  model.file = std::make_unique_for_overwrite<char[]>(file.size());
  std::copy_n(reinterpret_cast<const char*>(file.data()), file.size(), model.file.get());
  ProtobufReader reader({model.file.get(), file.size()});
  while (reader.next()) {
    switch (reader.field()) {
      case 1:
        model.pieces.push_back(parse_piece(reader.bytes(), model.pieces.size()));
        break;
      case 2:
        parse_trainer_spec(reader.bytes(), model);
        break;
      case 3:
        parse_normalizer_spec(reader.bytes(), model);
        break;
      case 5:
        check_denormalizer_spec(reader.bytes());
        break;
    }
  }
  model.unk_id = find_unknown(model.pieces);
  check_names(model.pieces);
  check_bytes(model);
  return model;
}

Trie trie_of(const std::vector<Piece>& pieces, std::initializer_list<PieceType> types) {
  Trie trie;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const bool wanted = std::find(types.begin(), types.end(), pieces[id].type) != types.end();
    if (wanted) trie.insert(pieces[id].text, static_cast<std::int32_t>(id));
  }
  return trie;
}

int byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || piece.substr(0, 3) != "<0x" || piece[5] != '>') return -1;
  constexpr std::string_view digits = "0123456789ABCDEF";
  const std::size_t high = digits.find(piece[3]);
  const std::size_t low = digits.find(piece[4]);
  if (high == digits.npos || low == digits.npos) return -1;
  return static_cast<int>(high * 16 + low);
}

}  // namespace glassformer
