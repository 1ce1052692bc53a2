#pragma once

#include "base/split_mix.hpp"
#include "search/sampling.hpp"
#include "search/search.hpp"

namespace glassformer {

/// How a token is chosen among those that may come next.
struct TokenChoice {
  bool samples = false;  ///< by `sampling`; otherwise the most probable one
  SamplingOptions sampling = {};
  std::uint64_t seed = 0;  ///< of SplitMix64
};

/// Follows one hypothesis per source, and chooses one token for it in each step. Of the options,
/// `beams` must be 1; tokens that are drawn take a single source.
class SamplingSearch final : public Search {
 public:
  /// `vocab_size`: the most tokens that the scorer offers.
  SamplingSearch(NextTokenScorer& scorer, const SpecialTokens& tokens, const TokenChoice& choice,
                 const SearchOptions& options, std::span<const std::size_t> max_lengths,
                 std::size_t vocab_size);

 private:
  bool choose(const Beam& beam, std::span<const NextTokens> next,
              std::vector<Continuation>& continuations) override;

  TokenChoice choice_;
  SplitMix64 random_;
  TokenChances chances_;
};

}  // namespace glassformer
