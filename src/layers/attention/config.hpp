#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/fields.hpp"

namespace glassformer {

/// The scaling of wavelengths for a model that reads longer texts than in its first training.
enum class RotaryScaling {
  none,
  linear,         ///< every frequency is divided by `factor`
  by_wavelength,  ///< low frequencies are divided by `factor`, high ones are kept, those between
                  ///< are blended
  per_pair,       ///< each pair's frequency is divided by a factor of its own
};

/// Rotary position embedding in halves (Su et al. 2021, RoFormer, section 3.2): the
/// pair (i, i + size / 2) of a head's query or key is rotated by position · base^(-2i / size).
struct RotaryConfig {
  float base = 10000;
  std::size_t size = 0;  ///< how many numbers of a head are rotated; even
  RotaryScaling scaling = RotaryScaling::none;
  float factor = 1;
  /// For by_wavelength. Low frequencies have wavelengths above original_length / low_frequency,
  /// high ones below original_length / high_frequency.
  float low_frequency = 1, high_frequency = 4;
  std::size_t original_length = 0;  ///< for by_wavelength: positions in the first training
  std::vector<float> factors = {};  ///< for per_pair: one for each pair
  float amplitude = 1;              ///< for per_pair: multiplies every rotated number

  bool operator==(const RotaryConfig&) const = default;
};

/// Multi-head attention. The total width E of all query heads may differ from the model's width D.
struct AttentionConfig {
  std::size_t n_heads = 0;
  std::size_t n_kv_heads = 0;  ///< key and value heads; each serves n_heads / n_kv_heads queries
  std::size_t d_head = 0;
  std::size_t window = 0;  ///< maximum distance between key and query; 0: no limit
  bool bias = false;       ///< in the q, k and v projections
  bool out_bias = false;   ///< in the out projection
  bool qk_norm = false;    ///< a norm on every head's query and key, before the rotation
  std::optional<RotaryConfig> rotary = {};
  std::optional<float> score_divisor = {};  ///< default: √d_head
  bool divide_by_layer = false;             ///< layer N also divides its scores by N + 1
  /// Scores become cap · tanh(score / cap) before the softmax (Gemma 2, 2024, section 2).
  std::optional<float> score_cap = {};

  std::size_t d_heads() const { return n_heads * d_head; }        ///< E, of all queries
  std::size_t d_kv_heads() const { return n_kv_heads * d_head; }  ///< of all keys
  bool operator==(const AttentionConfig&) const = default;
};

/// The distances of disentangled attention (He et al. 2021, "DeBERTa", section 3.1). A distance,
/// query - key, has a row in a table of 2 `span` rows that the layers of a stack share. Scores add
/// the products of queries with the row as a key, and of the row as a query with keys.
struct DisentangledConfig {
  std::size_t span = 0;  ///< rows for keys behind a query; those before it have as many
  /// Distances above half of the span, up to this one, share the rows of the other half, in steps
  /// that grow exponentially. 0: each distance below the span has a row of its own.
  std::size_t distance = 0;
  bool content_to_position = true;  ///< queries with distances
  bool position_to_content = true;  ///< distances with keys
  bool norm = false;                ///< on the rows of the table

  /// Returns the number of products in a score.
  std::size_t terms() const {
    return 1u + (content_to_position ? 1u : 0u) + (position_to_content ? 1u : 0u);
  }
  bool operator==(const DisentangledConfig&) const = default;
};

template <>
inline constexpr std::array enum_names<RotaryScaling>{"none", "linear", "by_wavelength",
                                                      "per_pair"};

}  // namespace glassformer
