#include "explain/contrast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace glassformer {
namespace {

[[noreturn]] void refuse_infinite_logits() {
  throw_error(ErrorCode::non_finite,
              "explain: expected finite numbers, got others: the model's activations exceed the "
              "range of floats");
}

}  // namespace

double Contrast::of(const float* logits) const {
  double sum = 0;
  for (std::size_t c = 0; c < weights.size(); ++c) {
    if (weights[c] != 0.0f) sum += static_cast<double>(weights[c]) * static_cast<double>(logits[c]);
  }
  if (!(std::abs(sum) <= std::numeric_limits<float>::max())) refuse_infinite_logits();
  return sum;
}

void expect_finite(std::span<const float> numbers) {
  if (!std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); })) {
    refuse_infinite_logits();
  }
}

Contrast contrast_for(std::size_t label, std::size_t labels) {
  if (labels == 1) return {label, {1.0f}};
  if (labels == 2) return contrast_between(label, 1 - label, 2);
  Contrast contrast = {label, std::vector<float>(labels, -1.0f / static_cast<float>(labels))};
  contrast.weights[label] += 1.0f;
  return contrast;
}

Contrast contrast_between(std::size_t token, std::size_t other, std::size_t vocabulary) {
  Contrast contrast = {token, std::vector<float>(vocabulary)};
  contrast.weights[token] += 1.0f;
  contrast.weights[other] -= 1.0f;
  return contrast;
}

std::size_t largest(std::span<const float> logits) {
  return static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin());
}

}  // namespace glassformer
