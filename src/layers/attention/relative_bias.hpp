#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "run/run.hpp"
#include "weights/parameter.hpp"

namespace glassformer {

/// The keys that have buckets of their own: those before and after a query, or, if a query attends
/// to no later keys, only those before it.
enum class Distances { both_ways, before };

struct RelativeBiasShape {
  std::size_t n_heads;
  std::size_t buckets;   ///< number of buckets; even, because each direction has half of them
  std::size_t distance;  ///< all distances from here on share a bucket
  Distances distances;
};

/// A bias of attention scores by the distance of key and query: a learned number per head and
/// bucket of distances. Near keys have one bucket per distance, far keys have increasingly wide
/// buckets (Raffel et al. 2020, section 2.1). All layers of a stack share it.
class RelativeBias {
 public:
  explicit RelativeBias(const RelativeBiasShape& shape) : shape_(shape) {}
  RelativeBias(const RelativeBias&) = delete;
  RelativeBias& operator=(const RelativeBias&) = delete;

  /// Declares `weight` [buckets, H].
  void declare(const ParameterScope& scope);

  /// Returns the bias of a head's scores, indexed by key - query: [0] is the query's own position;
  /// indices 1 - `length` … `length` - 1 are valid. The pointer is valid until a longer table is
  /// requested in the session.
  const float* of(std::size_t head, std::size_t length, Session& session) const;

  /// Computes the table for this length, so that shorter ones allocate nothing.
  void reserve(std::size_t length, Session& session) const { table(length, session); }

  /// Adds gradients by key - query, from 1 - length to length - 1, to those of the buckets.
  void backward(std::size_t head, std::span<const float> by_distance, Tape& tape) const;

  /// Returns the bucket of a key `behind` positions after its query; negative: before it.
  static std::size_t bucket(const RelativeBiasShape& shape, std::ptrdiff_t behind);

 private:
  // Returns a table with at least `length` rows. A table with n rows is [H, 2 n - 1], by head and
  // distance.
  const GrowingTable& table(std::size_t length, Session& session) const;

  RelativeBiasShape shape_;
  Parameter weight_;  // [buckets, H]
};

}  // namespace glassformer
