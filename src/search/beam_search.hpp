#pragma once

#include "search/search.hpp"

namespace glassformer {

/// Beam search. Each step keeps the `beams` most probable continuations of a source's hypotheses;
/// those that end leave the beam. With a single beam, this is greedy search.
class BeamSearch final : public Search {
 public:
  using Search::Search;

 private:
  bool choose(const Beam& beam, std::span<const NextTokens> next,
              std::vector<Continuation>& continuations) override;
  float normalizer(const NextTokens& next) const;
  bool repeats(const std::vector<Candidate>& tree, CandidateIndex last, std::int32_t id) const;
};

}  // namespace glassformer
