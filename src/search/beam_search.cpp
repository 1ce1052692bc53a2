#include "search/beam_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kernels.hpp"

namespace glassformer {
namespace {

constexpr std::size_t longest_repeated = 4;  // tokens in the longest sequence checked

}  // namespace

// 2 · beams continuations suffice for `beams` to go on, as one continuation of each hypothesis is
// its end; with more end tokens, more are needed.
bool BeamSearch::choose(const Beam& beam, std::span<const NextTokens> next,
                        std::vector<Continuation>& continuations) {
  const auto better = [](const Continuation& a, const Continuation& b) {
    if (a.total != b.total) return a.total > b.total;
    return a.row != b.row ? a.row < b.row : a.id < b.id;
  };
  const std::size_t wanted = (2 + tokens().other_ends.size()) * options().beams;
  const auto add = [&](const Continuation& continuation) {
    continuations.push_back(continuation);
    std::push_heap(continuations.begin(), continuations.end(), better);
  };
  for (std::uint32_t row = 0; row < beam.live.size(); ++row) {
    const CandidateIndex last = beam.live[row];
    const std::span<const float> x = next[row].logits;
    const float normalizer = this->normalizer(next[row]);
    if (!std::isfinite(normalizer)) return false;
    const double base = beam.tree[last].total - static_cast<double>(normalizer);
    if (add_given(beam, row, next[row], normalizer, add)) continue;
    // Lower logits cannot enter the heap. Rounded down, because the exact comparison follows.
    const auto threshold = [&] {
      return continuations.size() < wanted
                 ? minus_infinity
                 : std::nextafter(static_cast<float>(continuations.front().total - base),
                                  minus_infinity);
    };
    float lowest = threshold();
    const auto next_from = [&](std::size_t i) {
      return i + writing_kernels().first_at_least(x.data() + i, x.size() - i, lowest);
    };
    for (std::size_t i = next_from(0); i < x.size(); i = next_from(i + 1)) {
      if (x[i] == minus_infinity) continue;
      const std::int32_t id = next[row].id(i);
      const Continuation continuation = {base + static_cast<double>(x[i]), row, id,
                                         x[i] - normalizer};
      if (continuations.size() == wanted && !better(continuation, continuations.front())) continue;
      if (tokens().never[static_cast<std::size_t>(id)] || repeats(beam.tree, last, id)) continue;
      if (continuations.size() == wanted) {
        std::pop_heap(continuations.begin(), continuations.end(), better);
        continuations.pop_back();
      }
      add(continuation);
      lowest = threshold();
    }
  }
  std::sort_heap(continuations.begin(), continuations.end(), better);
  return true;
}

// Returns the difference between a logit and the token's log-probability.
float BeamSearch::normalizer(const NextTokens& next) const {
  const std::span<const float> x = next.logits;
  if (next.normalizer && !(options().renormalize && std::isfinite(*next.normalizer))) {
    return *next.normalizer;
  }
  const float all = writing_kernels().log_sum_exp(x.data(), x.size());
  if (!options().renormalize) return all;
  double allowed = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (tokens().never[static_cast<std::size_t>(next.id(i))]) continue;
    allowed += std::exp(static_cast<double>(x[i] - all));
  }
  return all + static_cast<float>(std::log(allowed));
}

// Returns whether appending `id` after `last` would end a run of more than max_repeats equal
// sequences of n tokens, for some n.
bool BeamSearch::repeats(const std::vector<Candidate>& tree, CandidateIndex last,
                         std::int32_t id) const {
  if (options().max_repeats == 0) return false;
  CandidateIndex back = last;
  for (std::size_t n = 1; n <= longest_repeated && back != 0; ++n, back = tree[back].parent) {
    if (tree[back].id != id) continue;
    // `id` repeats the token n before it. Do the max_repeats · n - 1 tokens before it as well?
    CandidateIndex late = last, early = tree[back].parent;
    std::size_t same = 1;
    while (same < options().max_repeats * n && early != 0 && tree[late].id == tree[early].id) {
      late = tree[late].parent;
      early = tree[early].parent;
      ++same;
    }
    if (same == options().max_repeats * n) return true;
  }
  return false;
}

}  // namespace glassformer
