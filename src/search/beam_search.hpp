#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "search/scorer.hpp"

namespace glassformer {

/// A candidate's place in its source's search tree.
using CandidateIndex = std::uint32_t;

/// One token that a search considered: a node of its tree. The tree's root, candidate 0, is the
/// start token, and its own parent.
struct Candidate {
  CandidateIndex parent;
  std::int32_t id;
  float logprob;         ///< of this token after its parent
  double total;          ///< of all tokens up to this one
  std::uint32_t length;  ///< tokens up to this one, the start token not counted
  bool kept;             ///< went on in the beam or completed a hypothesis; else it was dropped
  NodeIndex node;        ///< the decoder's node that was fed with it; no_parent if none was
  bool ended = false;    ///< it is an end token, or SearchOptions::stops says so
};

/// One whole output.
struct Hypothesis {
  CandidateIndex last;  ///< the last token; of an incomplete one, the last within the limit
  float score;          ///< total / length ^ length_penalty, the end token counted
  bool complete;        ///< it ended before the limit
};

/// Which tokens have a role of their own.
struct SpecialTokens {
  std::int32_t start, end;
  std::vector<bool> never;                    ///< [V] tokens that are never put out
  std::vector<std::int32_t> other_ends = {};  ///< that end a hypothesis as `end` does

  bool ends(std::int32_t id) const {
    return id == end || std::ranges::find(other_ends, id) != other_ends.end();
  }
};

struct SearchOptions {
  /// When a source is done, beside at its length limit.
  enum class Stop {
    best_ahead,  ///< `beams` hypotheses have ended and the best is ahead of all that still grow
    all_ahead,   ///< and all of the best `beams` are
    at_once,     ///< `beams` have ended
    never,       ///< as all_ahead, but with those that grow at their longest
  };

  std::size_t beams = 4;        ///< 1: greedy
  float length_penalty = 1.0f;  ///< 0: plain log-probability
  /// Tokens that would repeat the last 1 to 4 tokens more often than this in a row are passed over;
  /// 0 lets a hypothesis repeat itself.
  std::size_t max_repeats = 4;
  /// All but best_ahead are the library transformers' early_stopping false, true and "never"; with
  /// these, a hypothesis at the length limit counts as one that has ended.
  Stop stop = Stop::best_ahead;
  /// Log-probabilities are those among the tokens that may be put out.
  bool renormalize = false;
  /// What a hypothesis ends with, surely, where it would get longer than its source's limit.
  std::optional<std::int32_t> last_token = {};
  /// Whether a hypothesis ends with this candidate of a source's tree, beside end tokens.
  std::function<bool(const std::vector<Candidate>& tree, CandidateIndex last)> stops = {};
  /// The node that the start token follows: the start token is the last one of a text whose others
  /// are nodes 0 to this. no_parent: it is the first.
  NodeIndex parent = no_parent;
};

/// Beam search over a batch of sources, a token a step, all their hypotheses in one call of the
/// scorer. Each step keeps, of a source's continuations, the `beams` most probable ones; those that
/// end leave the beam. A source is done as SearchOptions::stop says, or at its length limit.
class BeamSearch {
 public:
  /// `max_lengths`: one a source, the most tokens it may get, the end token included.
  BeamSearch(NextTokenScorer& scorer, const SpecialTokens& tokens, const SearchOptions& options,
             std::span<const std::size_t> max_lengths);

  /// The tokens that every hypothesis of a source begins with; before the first step.
  void force(std::size_t source, std::span<const std::int32_t> prefix) {
    beams_[source].prefix.assign(prefix.begin(), prefix.end());
  }

  /// Appends one token to every hypothesis of the sources that are not done. Returns whether any is
  /// left.
  bool step();

  bool done(std::size_t source) const { return beams_[source].done; }
  /// Whether every log-probability was a finite number. A source is done where one is not, and has
  /// no hypotheses.
  bool finite(std::size_t source) const { return beams_[source].finite; }
  /// Everything a source's search considered, parents before children.
  const std::vector<Candidate>& tree(std::size_t source) const { return beams_[source].tree; }
  /// The most probable hypothesis of those still growing; if the source is done, the best one's
  /// last candidate.
  CandidateIndex leader(std::size_t source) const;
  /// At most `beams`, best first; incomplete ones only if none is complete. None before done.
  std::vector<Hypothesis> hypotheses(std::size_t source) const;
  /// A hypothesis' candidates, in order, without the root.
  std::vector<CandidateIndex> path(std::size_t source, CandidateIndex last) const;

 private:
  struct Beam {
    std::vector<Candidate> tree;
    std::vector<CandidateIndex> live, complete;  // live: most probable first
    double best_score;                           // of the complete ones
    std::size_t max_length;
    std::vector<std::int32_t> prefix;
    bool done, finite;
  };
  /// A continuation of live hypothesis `row` that may be among the best.
  struct Choice {
    double total;
    std::uint32_t row;
    std::int32_t id;
    float logprob;
  };

  bool choose(const Beam& beam, std::span<const NextTokens> next);
  float normalizer(const NextTokens& next) const;
  void advance(Beam& beam);
  bool is_done(const Beam& beam) const;
  bool repeats(const std::vector<Candidate>& tree, CandidateIndex last, std::int32_t id) const;
  double score(const Candidate& last) const;

  NextTokenScorer& scorer_;
  const SpecialTokens& tokens_;
  SearchOptions options_;
  std::vector<Beam> beams_;
  NodeIndex nodes_ = 0;

  // The step under way.
  std::vector<Extension> extensions_;
  std::vector<Choice> choices_;  // a heap, the worst on top; then best first
  std::vector<CandidateIndex> next_;
};

}  // namespace glassformer
