#include "layers/attention/relative_bias.hpp"

#include <algorithm>
#include <span>

#include "base/error.hpp"
#include "base/powers.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {
namespace {

// Initial size: enough for most texts, and little memory compared to the weights.
constexpr std::size_t least_distances = 128;

}  // namespace

void RelativeBias::declare(const ParameterScope& scope) {
  scope.declare("weight", {shape_.buckets, shape_.n_heads}, weight_);
}

// In each direction, half of the buckets hold one distance each. The rest grow exponentially up to
// `distance`. Computed in floats, as in the original: at the edge of two buckets, the rounding
// decides.
std::size_t RelativeBias::bucket(const RelativeBiasShape& shape, std::ptrdiff_t behind) {
  std::size_t count = shape.buckets, first = 0;
  if (shape.distances == Distances::both_ways) {
    count /= 2;
    if (behind > 0) first = count;
  } else {
    behind = std::min<std::ptrdiff_t>(behind, 0);
  }
  const auto far = static_cast<std::size_t>(behind < 0 ? -behind : behind);
  const std::size_t exact = count / 2;
  if (far < exact) return first + far;
  const auto log_of = [&](std::size_t distance) {
    return static_cast<float>(
        logarithm(static_cast<double>(distance) / static_cast<double>(exact)));
  };
  const float steps = log_of(far) / log_of(shape.distance) * static_cast<float>(count - exact);
  return first + std::min(exact + static_cast<std::size_t>(steps), count - 1);
}

const float* RelativeBias::of(std::size_t head, std::size_t length, Session& session) const {
  const GrowingTable& values = table(std::max<std::size_t>(length, 1), session);
  return values.values.data() + head * (2 * values.rows - 1) + values.rows - 1;
}

const GrowingTable& RelativeBias::table(std::size_t length, Session& session) const {
  GrowingTable& table = session.table(this);
  if (length <= table.rows) return table;
  const float* const weight = loaded(weight_, "a bias by distance");
  const std::size_t longest = std::max({length, 2 * table.rows, least_distances});
  const std::size_t distances = 2 * longest - 1;
  table.values.resize(checked_product("a bias by distance", {shape_.n_heads, distances}));
  table.rows = longest;
  for (std::size_t i = 0; i < distances; ++i) {
    const auto behind = static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(longest - 1);
    const float* row = weight + bucket(shape_, behind) * shape_.n_heads;
    for (std::size_t head = 0; head < shape_.n_heads; ++head) {
      table.values[head * distances + i] = row[head];
    }
  }
  return table;
}

}  // namespace glassformer
