#pragma once

#include <cstddef>
#include <span>

namespace glassformer {

/// What queries have for keys: scores before the softmax, or weights after it.
enum class MapKind { scores, weights };

struct MapShape {
  std::size_t heads, queries, keys;

  std::size_t size() const { return heads * queries * keys; }
};

/// What replaces scores or weights, a row at a time, as soon as it is there.
class MapPatch {
 public:
  virtual ~MapPatch() = default;
  /// `row`: what a query of a head has for each key. Returns whether any number is another now.
  virtual bool replace(std::size_t head, std::size_t query, std::span<float> row) = 0;
};

/// Where the scores or weights of one head go, [queries, keys]. Those of keys that a query does not
/// see are there already: -∞ and 0.
struct HeadMap {
  float* data = nullptr;  ///< null: nobody looks at them
  std::size_t keys = 0;
  float unseen = 0;           ///< what an unseen key has
  MapPatch* patch = nullptr;  ///< null: they stay as they are
  std::size_t head = 0;

  std::span<float> row(std::size_t query) const { return {data + query * keys, keys}; }
  bool replace(std::size_t query) const { return patch && patch->replace(head, query, row(query)); }
};

/// The same of all heads, [heads, queries, keys]: of a sequence, or of a row of a decoding step.
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
