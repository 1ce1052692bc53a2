#include "layers/attention/relative_bias.hpp"

#include <algorithm>
#include <span>

#include "base/error.hpp"
#include "base/powers.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {
namespace {

// What it starts with: enough for most texts, and little beside the weights.
constexpr std::size_t least_length = 128;

}  // namespace

void RelativeBias::declare(const ParameterScope& scope) {
  scope.declare("weight", {shape_.buckets, shape_.n_heads},
                [this](std::span<const float> values, std::size_t row) {
                  weight_.resize(shape_.buckets * shape_.n_heads);
                  std::ranges::copy(values, weight_.data() + row * shape_.n_heads);
                });
}

// Half of a way's buckets have a distance each; the rest grow like powers, up to `distance`. In
// floats, as the original has it: on the edge of two buckets the rounding decides.
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

void RelativeBias::reserve(std::size_t length) {
  if (length <= longest_) return;
  if (weight_.empty()) throw_error(ErrorCode::internal, "relative positions have no weights yet");
  const std::size_t longest = std::max({length, 2 * longest_, least_length});
  const std::size_t distances = 2 * longest - 1;
  by_distance_.resize(checked_product("a bias by distance", {shape_.n_heads, distances}));
  longest_ = longest;
  for (std::size_t i = 0; i < distances; ++i) {
    const auto behind = static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(longest_ - 1);
    const float* row = weight_.data() + bucket(shape_, behind) * shape_.n_heads;
    for (std::size_t head = 0; head < shape_.n_heads; ++head) {
      by_distance_[head * distances + i] = row[head];
    }
  }
}

}  // namespace glassformer
