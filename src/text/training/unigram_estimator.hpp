#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/training/word_counts.hpp"
#include "text/trie.hpp"

namespace glassformer {

/// A piece and the natural logarithm of its probability.
struct PieceEstimate {
  std::string_view text;
  double score = 0;
  bool required = false;  // is never removed
};

/// The pieces that match a word: arcs from one of its bytes to another.
struct WordArc {
  std::uint32_t begin, end, piece;
};

/// Estimates the probabilities of pieces, and removes those that are least useful (Kudo 2018,
/// section 3.2). The words and the pieces' texts must outlive it.
///
/// Each character of the words must be a required piece. The results are the same on every machine.
class UnigramEstimator {
 public:
  UnigramEstimator(const std::vector<WordCount>& words, std::vector<PieceEstimate> pieces);

  /// Runs one iteration of expectation maximization. Removes pieces that are expected to occur less
  /// than half a time.
  void improve();

  /// Keeps `most` pieces, or more if more are required. Removes those without which the likelihood
  /// of the words falls the least.
  void prune(std::size_t most);

  const std::vector<PieceEstimate>& pieces() const { return pieces_; }

 private:
  struct Loss {
    std::size_t piece;
    double value;
  };

  void find_arcs(std::string_view word);
  void add_expected(const WordCount& word, std::vector<double>& counts);
  void sum_forward(std::size_t size);
  void find_best_paths(std::size_t size, std::int64_t omitted);

  std::vector<double> expected_counts();
  std::vector<double> counts_on_best_paths();
  double loss_without(std::size_t piece, const std::vector<double>& counts, double total);
  void keep(const std::vector<bool>& kept);
  void index_pieces();

  const std::vector<WordCount>& words_;
  std::vector<PieceEstimate> pieces_;
  std::vector<double> probabilities_;
  Trie trie_;

  // Memory of one word. The next three have an entry per byte and one more.
  std::vector<WordArc> arcs_;  // in ascending order of `begin`
  std::vector<double> forward_, backward_;
  std::vector<std::uint32_t> enlarged_;  // how often forward_ was enlarged up to here
  struct Arrival {
    double score;
    std::uint32_t begin, piece;  // of the last piece on the best path
  };
  std::vector<Arrival> arrivals_;
};

}  // namespace glassformer
