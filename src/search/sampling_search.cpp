#include "search/sampling_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kernels.hpp"

namespace glassformer {

SamplingSearch::SamplingSearch(NextTokenScorer& scorer, const SpecialTokens& tokens,
                               const TokenChoice& choice, const SearchOptions& options,
                               std::span<const std::size_t> max_lengths, std::size_t vocab_size)
    : Search(scorer, tokens, options, max_lengths),
      choice_(choice),
      random_(choice.seed),
      chances_(choice.samples ? vocab_size : 0) {}

bool SamplingSearch::choose(const Beam& beam, std::span<const NextTokens> next,
                            std::vector<Continuation>& continuations) {
  const NextTokens& scores = next[0];
  const float normalizer =
      scores.normalizer ? *scores.normalizer
                        : writing_kernels().log_sum_exp(scores.logits.data(), scores.logits.size());
  if (!std::isfinite(normalizer)) return false;
  const auto add = [&](const Continuation& only) { continuations.push_back(only); };
  if (add_given(beam, 0, scores, normalizer, add)) return true;
  const auto best = std::ranges::max_element(scores.logits);
  if (*best == -std::numeric_limits<float>::infinity()) return true;  // no token may come
  auto id = static_cast<std::int32_t>(best - scores.logits.begin());
  if (choice_.samples) {
    chances_.weigh(scores.logits, choice_.sampling);
    id = chances_.sample(random_);
  }
  if (tokens().never[static_cast<std::size_t>(id)]) return true;
  const std::span<const float> own = scores.unchanged.empty() ? scores.logits : scores.unchanged;
  const float logit = own[static_cast<std::size_t>(id)];
  const double base = beam.tree[beam.live[0]].total - static_cast<double>(normalizer);
  add({base + static_cast<double>(logit), 0, id, logit - normalizer});
  return true;
}

}  // namespace glassformer
