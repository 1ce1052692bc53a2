#include "search/search.hpp"

#include <algorithm>
#include <limits>

#include "base/powers.hpp"

namespace glassformer {

Search::Search(NextTokenScorer& scorer, const SpecialTokens& tokens, const SearchOptions& options,
               std::span<const std::size_t> max_lengths)
    : scorer_(scorer),
      tokens_(tokens),
      options_(options),
      nodes_(options.parent == no_parent ? 0 : options.parent + 1) {
  for (const std::size_t max_length : max_lengths) {
    Beam& beam = beams_.emplace_back();
    beam.best_score = -std::numeric_limits<double>::infinity();
    beam.max_length = max_length;
    beam.done = max_length == 0;
    beam.finite = true;
    // Reserves memory for a likely length. A longer output allocates more as it grows.
    const std::size_t likely = options.beams * std::min(max_length, likely_positions);
    beam.tree.reserve(1 + 2 * likely);
    beam.tree.push_back({0, tokens.start, 0, 0, 0, true, no_parent});
    beam.live = {0};
    beam.live.reserve(options.beams);
    beam.complete.reserve(likely);
  }
  extensions_.reserve(beams_.size() * options.beams);
  continuations_.reserve(2 * options.beams);
  next_.reserve(options.beams);
}

bool Search::step() {
  extensions_.clear();
  for (std::size_t source = 0; source < beams_.size(); ++source) {
    Beam& beam = beams_[source];
    if (beam.done) continue;
    for (const CandidateIndex live : beam.live) {
      Candidate& candidate = beam.tree[live];
      const NodeIndex parent = live == 0 ? options_.parent : beam.tree[candidate.parent].node;
      extensions_.push_back({.parent = parent, .source = source, .id = candidate.id});
      candidate.node = nodes_++;
    }
  }
  if (extensions_.empty()) return false;

  const std::span<const NextTokens> next = scorer_.feed(extensions_);
  bool any_left = false;
  std::size_t row = 0;
  for (Beam& beam : beams_) {
    if (beam.done) continue;
    const std::size_t rows = beam.live.size();
    continuations_.clear();
    beam.finite = choose(beam, next.subspan(row, rows), continuations_);
    if (beam.finite) {
      advance(beam);
    } else {
      beam.done = true;
    }
    row += rows;
    any_left = any_left || !beam.done;
  }
  return any_left;
}

void Search::advance(Beam& beam) {
  next_.clear();
  for (std::size_t rank = 0; rank < continuations_.size(); ++rank) {
    const Continuation& token = continuations_[rank];
    const CandidateIndex parent = beam.live[token.row];
    const auto index = static_cast<CandidateIndex>(beam.tree.size());
    beam.tree.push_back({.parent = parent,
                         .id = token.id,
                         .logprob = token.logprob,
                         .total = token.total,
                         .length = beam.tree[parent].length + 1,
                         .kept = false,
                         .node = no_parent});
    const bool ended =
        tokens_.ends(token.id) || (options_.stops && options_.stops(beam.tree, index));
    const bool ends = ended || (options_.stop != SearchOptions::Stop::best_ahead &&
                                beam.tree[parent].length + 1 >= beam.max_length);
    const bool kept = ends ? rank < options_.beams : next_.size() < options_.beams;
    beam.tree[index].kept = kept;
    beam.tree[index].ended = ended;
    if (!kept) continue;
    (ends ? beam.complete : next_).push_back(index);
    if (ends) beam.best_score = std::max(beam.best_score, score(beam.tree[index]));
  }
  if (next_.empty()) {  // no continuation is allowed
    beam.done = true;
    return;
  }
  std::swap(beam.live, next_);
  beam.done = is_done(beam) || beam.tree[beam.live.front()].length >= beam.max_length;
}

bool Search::is_done(const Beam& beam) const {
  using enum SearchOptions::Stop;
  if (beam.complete.size() < options_.beams) return false;
  if (options_.stop == at_once) return true;
  Candidate leader = beam.tree[beam.live.front()];
  if (options_.stop == best_ahead) return beam.best_score >= score(leader);
  if (options_.stop == never && options_.length_penalty > 0) {
    leader.length = static_cast<std::uint32_t>(beam.max_length);
  }
  const auto ahead = [&, best = score(leader)](CandidateIndex last) {
    return score(beam.tree[last]) >= best;
  };
  return static_cast<std::size_t>(std::ranges::count_if(beam.complete, ahead)) >= options_.beams;
}

double Search::score(const Candidate& last) const {
  const double length = std::max<std::uint32_t>(last.length, 1);
  return last.total / power(length, static_cast<double>(options_.length_penalty));
}

std::vector<Hypothesis> Search::hypotheses(std::size_t source) const {
  const Beam& beam = beams_[source];
  std::vector<Hypothesis> found;
  if (!beam.done || !beam.finite) return found;
  const bool complete = !beam.complete.empty();
  for (const CandidateIndex last : complete ? beam.complete : beam.live) {
    const Hypothesis next = {last, static_cast<float>(score(beam.tree[last])),
                             complete && beam.tree[last].ended};
    const auto worse = std::find_if(found.begin(), found.end(), [&](const Hypothesis& other) {
      return other.score < next.score;
    });
    found.insert(worse, next);
  }
  found.resize(std::min(found.size(), options_.beams));
  return found;
}

CandidateIndex Search::leader(std::size_t source) const {
  return done(source) ? hypotheses(source).front().last : beams_[source].live.front();
}

std::vector<CandidateIndex> Search::path(std::size_t source, CandidateIndex last) const {
  const std::vector<Candidate>& tree = beams_[source].tree;
  std::vector<CandidateIndex> path(tree[last].length);
  for (std::size_t i = path.size(); i > 0; --i, last = tree[last].parent) path[i - 1] = last;
  return path;
}

}  // namespace glassformer
