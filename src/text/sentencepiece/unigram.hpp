#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/sentencepiece/segmenter.hpp"
#include "text/trie.hpp"

namespace glassformer {

/// The Unigram language model (Kudo 2018). Finds the segmentation whose pieces have the highest sum
/// of scores, by Viterbi, in time linear in the text.
class Unigram final : public Segmenter {
 public:
  explicit Unigram(const SentencePieceModel& model);

  std::vector<Segment> segment(std::string_view words, float& score) const override;

 private:
  /// The best path to a position: its score from the start of the text, and its last piece.
  struct Arrival {
    float score = 0;
    std::uint32_t start = unreached;  // of the last piece
    std::int32_t id = -1;
  };
  static constexpr std::uint32_t unreached = UINT32_MAX;

  void find_arrivals(std::string_view word, std::vector<Arrival>& arrivals) const;
  double score(std::int32_t id, std::size_t size) const;

  struct Entry {
    float score;
    PieceType type;
  };
  std::vector<Entry> pieces_;
  Trie trie_;
  std::int32_t unk_id_;
  float unk_score_;
  float max_score_;
};

}  // namespace glassformer
