#pragma once

#include <cstddef>
#include <cstdint>

#include "run/session.hpp"
#include "weights/parameter.hpp"

namespace glassformer {

/// Which keys have distances of their own: those before a query and those after it, or, if a query
/// sees none after it, those before alone.
enum class Distances { both_ways, before };

struct RelativeBiasShape {
  std::size_t n_heads;
  std::size_t buckets;   ///< of distances: even, as each direction has half of them
  std::size_t distance;  ///< from here on all distances are in one bucket
  Distances distances;
};

/// A bias of attention's scores by the distance of key and query: a learned number per head and
/// bucket of distances, one bucket per distance for near keys, wider and wider ones for far keys
/// (Raffel et al. 2020, section 2.1). All layers of a stack share it.
class RelativeBias {
 public:
  explicit RelativeBias(const RelativeBiasShape& shape) : shape_(shape) {}
  RelativeBias(const RelativeBias&) = delete;
  RelativeBias& operator=(const RelativeBias&) = delete;

  /// Declares `weight` [buckets, H].
  void declare(const ParameterScope& scope);

  /// The bias of a head's scores, by key - query: [0] belongs to the query's own position, and
  /// 1 - `length` … `length` - 1 may be read, until a longer one is asked for in the session.
  const float* of(std::size_t head, std::size_t length, Session& session) const;

  /// Computes the table for this length, so that shorter ones allocate nothing.
  void reserve(std::size_t length, Session& session) const { table(length, session); }

  /// The bucket of a key `behind` positions after its query; negative: before it.
  static std::size_t bucket(const RelativeBiasShape& shape, std::ptrdiff_t behind);

 private:
  // By head and distance, [H, 2 rows - 1] for a table of so many `rows`.
  const GrowingTable& table(std::size_t length, Session& session) const;

  RelativeBiasShape shape_;
  Parameter weight_;  // [buckets, H]
};

}  // namespace glassformer
