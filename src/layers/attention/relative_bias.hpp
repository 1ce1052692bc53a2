#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/tensor.hpp"
#include "weights/loader.hpp"

namespace glassformer {

/// Which keys have distances of their own: those before a query and those behind it, or, where a
/// query sees none behind it, those before alone.
enum class Distances { both_ways, before };

struct RelativeBiasShape {
  std::size_t n_heads;
  std::size_t buckets;   ///< of distances: even, as each way has half of them
  std::size_t distance;  ///< from here on all distances are in one bucket
  Distances distances;
};

/// What attention's scores get for how far a key is from its query: a learned number for each head
/// and bucket of distances, one distance each for near keys, more and more for far ones (Raffel et
/// al. 2020, section 2.1). All layers of a stack share it.
class RelativeBias {
 public:
  explicit RelativeBias(const RelativeBiasShape& shape) : shape_(shape) {}
  RelativeBias(const RelativeBias&) = delete;
  RelativeBias& operator=(const RelativeBias&) = delete;

  /// Declares `weight` [buckets, H].
  void declare(const ParameterScope& scope);

  /// What the scores of a head get, by key - query: [0] is that of a query's own position, and it
  /// may be read from 1 - `length` to `length` - 1. It lives until a longer one is asked for.
  const float* of(std::size_t head, std::size_t length) {
    reserve(length);
    return by_distance_.data() + head * (2 * longest_ - 1) + longest_ - 1;
  }

  /// Makes room for this length, so that shorter ones allocate nothing.
  void reserve(std::size_t length);

  /// The bucket of a key so far behind its query, before it where negative.
  static std::size_t bucket(const RelativeBiasShape& shape, std::ptrdiff_t behind);

 private:
  RelativeBiasShape shape_;
  AlignedBuffer weight_;       // [buckets, H], empty until it is set
  std::size_t longest_ = 0;    // length that there is room for
  AlignedBuffer by_distance_;  // [H, 2 · longest_ - 1]
};

}  // namespace glassformer
