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

/// The index of a candidate in its source's search tree.
using CandidateIndex = std::uint32_t;

/// A token that a search considered: a node of the search tree. The root, candidate 0, is the start
/// token and its own parent.
struct Candidate {
  CandidateIndex parent;
  std::int32_t id;
  float logprob;         ///< of this token after its parent
  double total;          ///< of all tokens up to this one
  std::uint32_t length;  ///< tokens up to this one, without the start token
  bool kept;             ///< stayed in the beam or completed a hypothesis; otherwise dropped
  NodeIndex node;        ///< the decoder's node for it; no_parent if it was not fed
  bool ended = false;    ///< is an end token, or SearchOptions::stops returned true
};

/// One whole output.
struct Hypothesis {
  CandidateIndex last;  ///< the last token; if incomplete, the last one within the limit
  float score;          ///< total / length ^ length_penalty, including the end token
  bool complete;        ///< ended before the limit
};

/// Tokens with a special role.
struct SpecialTokens {
  std::int32_t start, end;
  std::vector<bool> never;                    ///< [V] tokens that are never generated
  std::vector<std::int32_t> other_ends = {};  ///< end a hypothesis as `end` does

  bool ends(std::int32_t id) const {
    return id == end || std::ranges::find(other_ends, id) != other_ends.end();
  }
};

struct SearchOptions {
  /// How many of its hypotheses must have ended for a source to be done before its length limit.
  enum class Stop {
    best_ahead,  ///< `beams` have ended, and the best of them is ahead of all growing ones
    all_ahead,   ///< `beams` have ended and are ahead of all growing ones
    at_once,     ///< `beams` have ended
    never,       ///< as all_ahead, but growing ones are scored at their maximum length
  };

  std::size_t beams = 4;        ///< 1: greedy
  float length_penalty = 1.0f;  ///< 0: plain log-probability
  /// Skips tokens that would repeat the last 1 to 4 tokens more often than this in a row. 0 allows
  /// any repetition.
  std::size_t max_repeats = 4;
  /// All except best_ahead are `early_stopping` false, true and "never" of the transformers
  /// library. With these, a hypothesis at the length limit counts as ended.
  Stop stop = Stop::best_ahead;
  /// Normalizes log-probabilities over the allowed tokens only.
  bool renormalize = false;
  /// The token that ends a hypothesis, with probability 1, at its source's length limit.
  std::optional<std::int32_t> last_token = {};
  /// Returns whether a hypothesis ends with this candidate of a source's tree, in addition to end
  /// tokens.
  std::function<bool(const std::vector<Candidate>& tree, CandidateIndex last)> stops = {};
  /// The node before the start token, which then is the last token of a text whose other tokens are
  /// nodes 0 to this one. no_parent: the start token is the first.
  NodeIndex parent = no_parent;
};

/// A search over a batch of sources. Each step appends one token to every hypothesis, with one call
/// of the scorer for the hypotheses of all sources; the subclass decides which tokens. A source is
/// done as SearchOptions::stop says, or at its length limit.
class Search {
 public:
  /// `max_lengths`: per source, the maximum number of tokens, including the end token.
  Search(NextTokenScorer& scorer, const SpecialTokens& tokens, const SearchOptions& options,
         std::span<const std::size_t> max_lengths);
  virtual ~Search() = default;

  /// Sets the tokens with which every hypothesis of a source begins. Call it before the first step.
  void force(std::size_t source, std::span<const std::int32_t> prefix) {
    beams_[source].prefix.assign(prefix.begin(), prefix.end());
  }

  /// Appends one token to every hypothesis of the sources that are not done. Returns whether any
  /// source is left.
  bool step();

  bool done(std::size_t source) const { return beams_[source].done; }
  /// Returns whether every log-probability was finite. If not, the source is done and has no
  /// hypotheses.
  bool finite(std::size_t source) const { return beams_[source].finite; }
  /// Returns all candidates of a source's search, parents before children.
  const std::vector<Candidate>& tree(std::size_t source) const { return beams_[source].tree; }
  /// Returns the last candidate of the most probable growing hypothesis or, if the source is done,
  /// of the best hypothesis.
  CandidateIndex leader(std::size_t source) const;
  /// Returns at most `beams` hypotheses, best first; incomplete ones only if there is no complete
  /// one. Empty until the source is done.
  std::vector<Hypothesis> hypotheses(std::size_t source) const;
  /// Returns the candidates of a hypothesis in order, without the root.
  std::vector<CandidateIndex> path(std::size_t source, CandidateIndex last) const;

 protected:
  /// The hypotheses of a source.
  struct Beam {
    std::vector<Candidate> tree;
    std::vector<CandidateIndex> live, complete;  // live: most probable first
    double best_score;                           // of the complete hypotheses
    std::size_t max_length;
    std::vector<std::int32_t> prefix;
    bool done, finite;
  };
  /// A token that may follow hypothesis `row` of a beam.
  struct Continuation {
    double total;
    std::uint32_t row;
    std::int32_t id;
    float logprob;
  };

  /// Returns whether the next token of hypothesis `row` is given: by the prefix or, at the length
  /// limit, by SearchOptions::last_token. If so, calls add(continuation), unless the scorer does
  /// not offer the token.
  template <class Add>
  bool add_given(const Beam& beam, std::uint32_t row, const NextTokens& next, float normalizer,
                 const Add& add) const {
    const Candidate& last = beam.tree[beam.live[row]];
    if (last.length < beam.prefix.size()) {
      const std::int32_t id = beam.prefix[last.length];
      if (const std::optional<float> logit = next.logit_of(id)) {
        const double base = last.total - static_cast<double>(normalizer);
        add({base + static_cast<double>(*logit), row, id, *logit - normalizer});
      }
      return true;
    }
    if (!options_.last_token || last.length + 1 < beam.max_length) return false;
    add({last.total, row, *options_.last_token, 0});
    return true;
  }

  const SpecialTokens& tokens() const { return tokens_; }
  const SearchOptions& options() const { return options_; }

 private:
  /// Fills `continuations` with the tokens that may follow a source's hypotheses, best first.
  /// Returns whether all log-probabilities are finite.
  virtual bool choose(const Beam& beam, std::span<const NextTokens> next,
                      std::vector<Continuation>& continuations) = 0;
  void advance(Beam& beam);
  bool is_done(const Beam& beam) const;
  double score(const Candidate& last) const;

  NextTokenScorer& scorer_;
  const SpecialTokens& tokens_;
  SearchOptions options_;
  std::vector<Beam> beams_;
  NodeIndex nodes_ = 0;

  // The current step.
  std::vector<Extension> extensions_;
  std::vector<Continuation> continuations_;  // best first
  std::vector<CandidateIndex> next_;
};

}  // namespace glassformer
