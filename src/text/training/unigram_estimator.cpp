#include "text/training/unigram_estimator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "base/heap_sort.hpp"
#include "base/powers.hpp"
#include "base/strings/utf8.hpp"

namespace glassformer {
namespace {

constexpr double least_expected = 0.5;
constexpr double unreachable = -std::numeric_limits<double>::infinity();

// Sums of a long word's probabilities are enlarged when they fall below this power of two.
constexpr int enlarging_exponent = 300;

// Returns the derivative of the logarithm of the gamma function: the recurrence up to 8, then the
// asymptotic series.
double digamma(double x) {
  double sum = 0;
  for (; x < 8; ++x) sum -= 1 / x;
  const double square = 1 / (x * x);
  return sum + logarithm(x) - 0.5 / x -
         square * (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square / 240)));
}

}  // namespace

UnigramEstimator::UnigramEstimator(const std::vector<WordCount>& words,
                                   std::vector<PieceEstimate> pieces)
    : words_(words), pieces_(std::move(pieces)) {
  index_pieces();
}

void UnigramEstimator::index_pieces() {
  trie_ = Trie();
  probabilities_.clear();
  for (const PieceEstimate& piece : pieces_) {
    trie_.insert(piece.text, static_cast<std::int32_t>(probabilities_.size()));
    probabilities_.push_back(power(std::numbers::e, piece.score));
  }
}

void UnigramEstimator::find_arcs(std::string_view word) {
  arcs_.clear();
  for (std::size_t begin = 0; begin < word.size(); begin += announced_size(word[begin])) {
    Trie::Node node = Trie::root;
    for (std::size_t end = begin; end < word.size();) {
      node = trie_.child(node, word[end++]);
      if (node == Trie::absent) break;
      const std::int32_t piece = trie_.value(node);
      if (piece < 0) continue;
      arcs_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                       static_cast<std::uint32_t>(piece)});
    }
  }
}

// Sets forward_[i] to the probability of the word's first i bytes, times a power of two that
// enlarged_[i] determines.
void UnigramEstimator::sum_forward(std::size_t size) {
  const double threshold = std::ldexp(1.0, -enlarging_exponent);
  forward_.assign(size + 1, 0);
  enlarged_.assign(size + 1, 0);
  forward_[0] = 1;
  std::uint32_t reached = 0;  // the last byte with a sum
  std::uint32_t last = 0;     // the byte that the arcs before this one begin at
  for (const WordArc& arc : arcs_) {
    if (arc.begin != last && forward_[arc.begin] < threshold) {
      for (std::size_t i = arc.begin; i <= reached; ++i) {
        forward_[i] = std::ldexp(forward_[i], enlarging_exponent);
      }
      for (std::size_t i = arc.begin; i <= size; ++i) ++enlarged_[i];
    }
    last = arc.begin;
    reached = std::max(reached, arc.end);
    forward_[arc.end] += forward_[arc.begin] * probabilities_[arc.piece];
  }
}

// Adds the expected number of occurrences of each piece in a word, by the forward-backward
// algorithm.
void UnigramEstimator::add_expected(const WordCount& word, std::vector<double>& counts) {
  const std::size_t size = word.text.size();
  find_arcs(word.text);
  sum_forward(size);
  backward_.assign(size + 1, 0);
  backward_[size] = static_cast<double>(word.count) / forward_[size];
  for (std::size_t i = arcs_.size(); i-- > 0;) {
    const WordArc& arc = arcs_[i];
    double behind = probabilities_[arc.piece] * backward_[arc.end];
    if (const std::uint32_t times = enlarged_[arc.end] - enlarged_[arc.begin]) {
      behind = std::ldexp(behind, static_cast<int>(times) * enlarging_exponent);
    }
    backward_[arc.begin] += behind;
    counts[arc.piece] += forward_[arc.begin] * behind;
  }
}

std::vector<double> UnigramEstimator::expected_counts() {
  std::vector<double> counts(pieces_.size());
  for (const WordCount& word : words_) add_expected(word, counts);
  return counts;
}

// The digamma function makes the estimate sparse: it is the Bayesian one with a Dirichlet prior.
void UnigramEstimator::improve() {
  std::vector<double> counts = expected_counts();
  std::vector<bool> kept(pieces_.size());
  double total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (pieces_[i].required) counts[i] = std::max(counts[i], least_expected);
    kept[i] = counts[i] >= least_expected;
    if (kept[i]) total += counts[i];
  }
  const double of_total = digamma(total);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (kept[i]) pieces_[i].score = digamma(counts[i]) - of_total;
  }
  keep(kept);
}

void UnigramEstimator::keep(const std::vector<bool>& kept) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (kept[i]) pieces_[count++] = pieces_[i];
  }
  pieces_.resize(count);
  index_pieces();
}

// Finds the path with the highest sum of scores to each byte, by Viterbi, without the piece
// `omitted`, or -1 for all pieces.
void UnigramEstimator::find_best_paths(std::size_t size, std::int64_t omitted) {
  arrivals_.assign(size + 1, {unreachable, 0, 0});
  arrivals_[0].score = 0;
  for (const WordArc& arc : arcs_) {
    if (arc.piece == omitted) continue;
    const double score = arrivals_[arc.begin].score + pieces_[arc.piece].score;
    if (score > arrivals_[arc.end].score) arrivals_[arc.end] = {score, arc.begin, arc.piece};
  }
}

std::vector<double> UnigramEstimator::counts_on_best_paths() {
  std::vector<double> counts(pieces_.size());
  for (const WordCount& word : words_) {
    find_arcs(word.text);
    find_best_paths(word.text.size(), -1);
    for (std::size_t i = word.text.size(); i > 0; i = arrivals_[i].begin) {
      counts[arrivals_[i].piece] += static_cast<double>(word.count);
    }
  }
  return counts;
}

// Returns by how much the log likelihood per piece falls if `piece` is replaced by its best
// segmentation into others.
double UnigramEstimator::loss_without(std::size_t piece, const std::vector<double>& counts,
                                      double total) {
  const std::string_view text = pieces_[piece].text;
  const double count = counts[piece];
  find_arcs(text);
  find_best_paths(text.size(), static_cast<std::int64_t>(piece));
  double parts = 0, score_of_parts = 0;
  for (std::size_t i = text.size(); i > 0; i = arrivals_[i].begin) {
    score_of_parts += logarithm(counts[arrivals_[i].piece] + count);
    ++parts;
  }
  score_of_parts -= parts * logarithm(total + count * (parts - 1));
  return count / total * (logarithm(count) - logarithm(total) - score_of_parts);
}

void UnigramEstimator::prune(std::size_t most) {
  const std::vector<double> counts = counts_on_best_paths();
  double total = 0;
  for (const double count : counts) total += count;
  std::vector<bool> kept(pieces_.size());
  std::vector<Loss> losses;
  std::size_t required = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    kept[i] = pieces_[i].required;
    required += kept[i];
    if (!kept[i] && counts[i] > 0) losses.push_back({i, loss_without(i, counts, total)});
  }
  heap_sort(losses.begin(), losses.end(), [&](const Loss& a, const Loss& b) {
    return a.value != b.value ? a.value > b.value : pieces_[a.piece].text < pieces_[b.piece].text;
  });
  losses.resize(std::min(losses.size(), most - std::min(most, required)));
  for (const Loss& loss : losses) kept[loss.piece] = true;
  keep(kept);
}

}  // namespace glassformer
