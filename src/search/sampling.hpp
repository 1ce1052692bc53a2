#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/split_mix.hpp"

namespace glassformer {

/// The distribution from which the next token is drawn.
struct SamplingOptions {
  float temperature = 1;  ///< above 0; logits are divided by it
  std::size_t top_k = 0;  ///< only the k most probable tokens and ties with the last; 0: all
  float top_p = 1;        ///< of those, the fewest whose probabilities reach this; at least one
  float min_p = 0;        ///< of those, tokens at least this times as probable as the best one
  /// Of those, the tokens whose surprise is nearest to the entropy, the fewest whose probabilities
  /// reach this (Meister et al. 2022, "Locally Typical Sampling", section 4.1).
  float typical_p = 1;
};

struct TokenChance {
  std::int32_t id;
  double probability;
};

/// The tokens that may come next, most probable first, then by ascending id. Only the tokens that
/// are read get sorted. Only the constructor and typical_p allocate memory.
class TokenChances {
 public:
  explicit TokenChances(std::size_t vocab_size);

  /// `logits` [V]: finite, or -∞ for forbidden tokens; at least one is finite.
  void weigh(std::span<const float> logits, const SamplingOptions& options);
  /// Returns the next token, or nothing if there are no more. Probabilities sum to 1.
  std::optional<TokenChance> next();
  /// Draws a token: the first at which the cumulative probability exceeds u, a number of 53 bits
  /// that is uniform in [0, 1).
  std::int32_t sample(SplitMix64& random);

 private:
  std::int32_t pop();
  // Returns the token at a place in the order, which may have to be found first.
  std::int32_t at(std::size_t place) { return place < kept_.size() ? kept_[place] : pop(); }
  double weight(std::int32_t id) const {
    return static_cast<double>(weights_[static_cast<std::size_t>(id)]);
  }
  void keep_typical(float mass);

  std::vector<float> logits_, weights_;  // [V] weights: e^((logit - the largest) / temperature)
  std::vector<std::int32_t> heap_;       // tokens not yet sorted, the best on top
  std::vector<std::int32_t> kept_;       // sorted tokens
  std::size_t next_ = 0, count_ = 0;     // index in kept_; number of all tokens
  double total_ = 0;                     // sum of their weights
};

}  // namespace glassformer
