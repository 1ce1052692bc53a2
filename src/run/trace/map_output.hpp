#pragma once

#include <cstddef>
#include <span>

namespace glassformer {

/// The kind of an attention map: scores before the softmax, or weights after it.
enum class MapKind { scores, weights };

struct MapShape {
  std::size_t heads, queries, keys;

  std::size_t size() const { return heads * queries * keys; }
};

/// Replaces scores or weights row by row, as soon as a row is computed.
class MapPatch {
 public:
  virtual ~MapPatch() = default;
  /// `row`: the values of a query of a head, one per key. Returns whether any value has changed.
  virtual bool replace(std::size_t head, std::size_t query, std::span<float> row) = 0;
};

/// The buffer for the scores or weights of one head, [queries, keys]. The values of keys that a
/// query does not see are already set, to -∞ and 0.
struct HeadMap {
  float* data = nullptr;  ///< null: not requested
  std::size_t keys = 0;
  float unseen = 0;           ///< the value of an unseen key
  MapPatch* patch = nullptr;  ///< null: nothing is replaced
  std::size_t head = 0;

  std::span<float> row(std::size_t query) const { return {data + query * keys, keys}; }
  bool replace(std::size_t query) const { return patch && patch->replace(head, query, row(query)); }
};

/// The buffer for the scores or weights of all heads, [heads, queries, keys]: of a sequence, or of
/// a row of a decoding step.
struct MapOutput {
  float* data = nullptr;
  MapShape shape = {};
  float unseen = 0;
  MapPatch* patch = nullptr;

  HeadMap head(std::size_t head) const {
    if (!data) return {};
    return {data + head * shape.queries * shape.keys, shape.keys, unseen, patch, head};
  }
};

}  // namespace glassformer
