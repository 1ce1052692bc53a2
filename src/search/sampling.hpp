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
};

struct TokenChance {
  std::int32_t id;
  double probability;
};

/// The tokens that may come next, most probable first, then by ascending id. Only the tokens that
/// are read get sorted, and only the constructor allocates memory.
class TokenChances {
 public:
  explicit TokenChances(std::size_t vocab_size);

  /// `logits` [V]: finite, or -∞ for forbidden tokens; at least one is finite.
  void weigh(std::span<const float> logits, const SamplingOptions& options);
  /// Returns the next token, or nothing if there are no more. Probabilities sum to 1.
  std::optional<TokenChance> next();
  /// Draws a token: the first at which the cumulative probability exceeds u, a number of 53 bits
  /// that is uniform in [0, 1).
  std::int32_t draw(SplitMix64& random);

 private:
  std::int32_t pop();

  std::vector<float> logits_, weights_;  // [V] weights: e^((logit - the largest) / temperature)
  std::vector<std::int32_t> heap_;       // tokens not yet sorted, the best on top
  std::vector<std::int32_t> kept_;       // sorted tokens
  std::size_t next_ = 0, count_ = 0;     // index in kept_; number of all tokens
  double total_ = 0;                     // sum of their weights
};

}  // namespace glassformer
