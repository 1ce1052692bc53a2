#include <cmath>

#include "layers/norm/norm.hpp"

namespace glassformer {

void frozen_norm_backward(const Norm& norm, const float* x, std::span<float> a) {
  const double n = static_cast<double>(a.size()), eps = static_cast<double>(norm.eps());
  double mean = 0, mean_a = 0, squares = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    a[c] *= norm.weight()[c];
    mean += static_cast<double>(x[c]) / n;
    mean_a += static_cast<double>(a[c]) / n;
  }
  if (norm.kind() == NormKind::rms) mean = mean_a = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    const double centered = static_cast<double>(x[c]) - mean;
    squares += centered * centered;
  }
  const double spread = norm.kind() == NormKind::unbiased ? std::sqrt(squares / (n - 1)) + eps
                                                          : std::sqrt(squares / n + eps);
  for (float& each : a) {
    each = static_cast<float>((static_cast<double>(each) - mean_a) / spread);
  }
}

}  // namespace glassformer
