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

#include "text/sentencepiece/model.hpp"
#include "text/sentencepiece/normalizer.hpp"
#include "text/sentencepiece/segmenter.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// Replaces each U+2581 of a piece by a space.
std::string with_spaces(std::string_view piece);

/// Converts text to ids and back. The ids are the same as SentencePiece's for the same model file.
/// Supports Unigram and BPE, normalization map, byte fallback and user-defined pieces.
///
/// A token covers the characters that its piece was normalized from, without the white space before
/// them. Between tokens there is only white space and characters that normalize to nothing. A piece
/// that is only white space covers that white space.
class SentencePieceTokenizer final : public Tokenizer {
 public:
  /// Reads a SentencePiece model file. Throws invalid_tokenizer, or unsupported for models other
  /// than Unigram and BPE.
  static SentencePieceTokenizer parse(std::span<const std::byte> model_file);

  /// Needs memory for only a few words at a time. Throws too_large for a word of over 4 MiB.
  std::unique_ptr<TokenReader> read(std::string_view utf8) const override;
  /// Takes each token with its part of the normalized text. For an unknown token, these are the
  /// characters that are not in the vocabulary.
  using Use = std::function<void(const Token&, std::string_view)>;
  void each_piece(std::string_view utf8, const Use& use) const;

  std::unique_ptr<TextDecoder> make_decoder() const override;

  std::size_t size() const override { return model_.pieces.size(); }
  std::string_view piece(std::int32_t id) const override { return at(id).text; }
  std::string display_text(std::int32_t id) const override;
  /// Compares with every piece: linear time.
  std::optional<std::int32_t> find(std::string_view piece) const override;
  std::int32_t unk_id() const override { return model_.unk_id; }
  bool is_control(std::int32_t id) const override { return at(id).type == PieceType::control; }
  /// Empty, because the model file does not define a template.
  const TokenTemplate& around() const override;

  /// Returns the text that is cut into pieces: white space is collapsed and written as U+2581,
  /// characters are mapped.
  std::string normalize(std::string_view utf8) const;

  const SentencePieceModel& model() const { return model_; }

 private:
  friend class PieceReader;
  explicit SentencePieceTokenizer(SentencePieceModel model);
  const Piece& at(std::int32_t id) const;

  SentencePieceModel model_;
  Normalizer normalizer_;
  std::unique_ptr<Segmenter> segmenter_;
  std::vector<std::int32_t> byte_ids_;  // 256 with byte fallback, otherwise empty
};

}  // namespace glassformer
