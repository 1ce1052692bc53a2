#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "text/word_models/word_model.hpp"

namespace glassformer {

/// The Unigram language model (Kudo 2018) as defined by a tokenizer.json. Unlike in Unigram, scores
/// and sums are doubles, and every token can be found in a text.
class ScoredPieces final : public WordModel {
 public:
  struct Options {
    std::optional<std::int32_t> unknown;
    bool byte_fallback = false;
  };
  /// `scores` has one score per id.
  ScoredPieces(Vocabulary vocabulary, std::vector<double> scores, const Options& options);

  /// Throws invalid_tokenizer for a character that is not in the vocabulary if there is no unknown
  /// token.
  void cut(CharacterSpan word, std::vector<WordToken>& tokens) const override;
  std::int32_t unknown() const override { return unknown_; }

 private:
  void add_unknown(CharacterSpan word, const WordToken& token,
                   std::vector<WordToken>& tokens) const;

  std::vector<double> scores_;
  double unknown_score_;
  std::int32_t unknown_;
  bool byte_fallback_;
  std::array<std::int32_t, 256> bytes_;
};

}  // namespace glassformer
