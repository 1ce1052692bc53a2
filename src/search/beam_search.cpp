#include "search/beam_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/powers.hpp"
#include "kernels/kernels.hpp"

namespace glassformer {
namespace {

constexpr std::size_t longest_repeated = 4;  // tokens in the longest sequence checked
constexpr float infinity = std::numeric_limits<float>::infinity();

std::optional<float> logit_of(const NextTokens& next, std::int32_t id) {
  if (next.ids.empty()) return next.logits[static_cast<std::size_t>(id)];
  const auto place = std::ranges::lower_bound(next.ids, id);
  if (place == next.ids.end() || *place != id) return std::nullopt;
  return next.logits[static_cast<std::size_t>(place - next.ids.begin())];
}

}  // namespace

BeamSearch::BeamSearch(NextTokenScorer& scorer, const SpecialTokens& tokens,
                       const SearchOptions& options, std::span<const std::size_t> max_lengths)
    : scorer_(scorer),
      tokens_(tokens),
      options_(options),
      nodes_(options.parent == no_parent ? 0 : options.parent + 1) {
  for (const std::size_t max_length : max_lengths) {
    Beam& beam = beams_.emplace_back();
    beam.best_score = -static_cast<double>(infinity);
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
  choices_.reserve(2 * options.beams);
  next_.reserve(options.beams);
}

bool BeamSearch::step() {
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
    beam.finite = choose(beam, next.subspan(row, rows));
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

// Fills choices_ with the most probable continuations, best first. 2 · beams of them suffice for
// `beams` to go on, as one continuation of each hypothesis is its end; with more end tokens, more
// are needed. Returns whether all probabilities are finite.
bool BeamSearch::choose(const Beam& beam, std::span<const NextTokens> next) {
  const auto better = [](const Choice& a, const Choice& b) {
    if (a.total != b.total) return a.total > b.total;
    return a.row != b.row ? a.row < b.row : a.id < b.id;
  };
  const std::size_t wanted = (2 + tokens_.other_ends.size()) * options_.beams;
  const auto add = [&](const Choice& choice) {
    choices_.push_back(choice);
    std::push_heap(choices_.begin(), choices_.end(), better);
  };
  choices_.clear();
  for (std::uint32_t row = 0; row < beam.live.size(); ++row) {
    const CandidateIndex last = beam.live[row];
    const std::span<const float> x = next[row].logits;
    const float normalizer = this->normalizer(next[row]);
    if (!std::isfinite(normalizer)) return false;
    const double base = beam.tree[last].total - static_cast<double>(normalizer);
    if (const std::size_t length = beam.tree[last].length; length < beam.prefix.size()) {
      const std::int32_t id = beam.prefix[length];
      if (const std::optional<float> logit = logit_of(next[row], id)) {
        add({base + static_cast<double>(*logit), row, id, *logit - normalizer});
      }
      continue;
    }
    if (options_.last_token && beam.tree[last].length + 1 >= beam.max_length) {
      add({beam.tree[last].total, row, *options_.last_token, 0});
      continue;
    }
    // Lower logits cannot enter the heap. Rounded down, because the exact comparison follows.
    const auto threshold = [&] {
      return choices_.size() < wanted
                 ? -infinity
                 : std::nextafter(static_cast<float>(choices_.front().total - base), -infinity);
    };
    float lowest = threshold();
    const auto next_from = [&](std::size_t i) {
      return i + writing_kernels().first_at_least(x.data() + i, x.size() - i, lowest);
    };
    for (std::size_t i = next_from(0); i < x.size(); i = next_from(i + 1)) {
      if (x[i] == -infinity) continue;
      const std::int32_t id = next[row].id(i);
      const Choice choice = {base + static_cast<double>(x[i]), row, id, x[i] - normalizer};
      if (choices_.size() == wanted && !better(choice, choices_.front())) continue;
      if (tokens_.never[static_cast<std::size_t>(id)] || repeats(beam.tree, last, id)) continue;
      if (choices_.size() == wanted) {
        std::pop_heap(choices_.begin(), choices_.end(), better);
        choices_.pop_back();
      }
      add(choice);
      lowest = threshold();
    }
  }
  std::sort_heap(choices_.begin(), choices_.end(), better);
  return true;
}

// Returns the difference between a logit and the token's log-probability.
float BeamSearch::normalizer(const NextTokens& next) const {
  const std::span<const float> x = next.logits;
  if (next.normalizer && !(options_.renormalize && std::isfinite(*next.normalizer))) {
    return *next.normalizer;
  }
  const float all = writing_kernels().log_sum_exp(x.data(), x.size());
  if (!options_.renormalize) return all;
  double allowed = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (tokens_.never[static_cast<std::size_t>(next.id(i))]) continue;
    allowed += std::exp(static_cast<double>(x[i] - all));
  }
  return all + static_cast<float>(std::log(allowed));
}

void BeamSearch::advance(Beam& beam) {
  next_.clear();
  for (std::size_t rank = 0; rank < choices_.size(); ++rank) {
    const Choice& choice = choices_[rank];
    const CandidateIndex parent = beam.live[choice.row];
    const auto index = static_cast<CandidateIndex>(beam.tree.size());
    beam.tree.push_back({.parent = parent,
                         .id = choice.id,
                         .logprob = choice.logprob,
                         .total = choice.total,
                         .length = beam.tree[parent].length + 1,
                         .kept = false,
                         .node = no_parent});
    const bool ended =
        tokens_.ends(choice.id) || (options_.stops && options_.stops(beam.tree, index));
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

bool BeamSearch::is_done(const Beam& beam) const {
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

// Returns whether appending `id` after `last` would end a run of more than max_repeats equal
// sequences of n tokens, for some n.
bool BeamSearch::repeats(const std::vector<Candidate>& tree, CandidateIndex last,
                         std::int32_t id) const {
  if (options_.max_repeats == 0) return false;
  CandidateIndex back = last;
  for (std::size_t n = 1; n <= longest_repeated && back != 0; ++n, back = tree[back].parent) {
    if (tree[back].id != id) continue;
    // `id` repeats the token n before it. Do the max_repeats · n - 1 tokens before it as well?
    CandidateIndex late = last, early = tree[back].parent;
    std::size_t same = 1;
    while (same < options_.max_repeats * n && early != 0 && tree[late].id == tree[early].id) {
      late = tree[late].parent;
      early = tree[early].parent;
      ++same;
    }
    if (same == options_.max_repeats * n) return true;
  }
  return false;
}

double BeamSearch::score(const Candidate& last) const {
  const double length = std::max<std::uint32_t>(last.length, 1);
  return last.total / power(length, static_cast<double>(options_.length_penalty));
}

std::vector<Hypothesis> BeamSearch::hypotheses(std::size_t source) const {
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

CandidateIndex BeamSearch::leader(std::size_t source) const {
  return done(source) ? hypotheses(source).front().last : beams_[source].live.front();
}

std::vector<CandidateIndex> BeamSearch::path(std::size_t source, CandidateIndex last) const {
  const std::vector<Candidate>& tree = beams_[source].tree;
  std::vector<CandidateIndex> path(tree[last].length);
  for (std::size_t i = path.size(); i > 0; --i, last = tree[last].parent) path[i - 1] = last;
  return path;
}

}  // namespace glassformer
