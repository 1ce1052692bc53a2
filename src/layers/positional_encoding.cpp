#include "layers/positional_encoding.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"

namespace glassformer {

void PositionalEncoding::add_to(View<2> x, const Batch& batch) const {
  const std::size_t d_model = table_.shape(1);
  expect_shape("x of a positional encoding", x, {batch.tokens(), d_model});
  for (std::size_t i = 0; i < batch.size(); ++i) {
    // Rows 0 … length - 1 of the table lie in a row, as do the sequence's tokens.
    kernels().add_scaled(x.data() + batch.start(i) * d_model, table_.data(),
                         batch.length(i) * d_model, 1.0f);
  }
}

void PositionalEncoding::add_to(View<2> x, std::span<const std::size_t> positions) const {
  const std::size_t d_model = table_.shape(1);
  expect_shape("x of a positional encoding", x, {positions.size(), d_model});
  for (std::size_t i = 0; i < positions.size(); ++i) {
    kernels().add_scaled(&x(i, 0), &table_(positions[i], 0), d_model, 1.0f);
  }
}

namespace {

struct SineAndCosine {
  double sine, cosine;
};

// Of an angle from 0 to 1, by their power series.
SineAndCosine of_angle(double angle) {
  SineAndCosine sums = {0.0, 0.0};
  double term = 1.0;  // angle^n / n!
  for (int n = 0; n < 24; n += 4) {
    sums.cosine += term;
    sums.sine += term *= angle / (n + 1);
    sums.cosine -= term *= angle / (n + 2);
    sums.sine -= term *= angle / (n + 3);
    term *= angle / (n + 4);
  }
  return sums;
}

}  // namespace

// Each position turns the angles of the one before by the same step: twenty times as fast as two
// functions an element, which a page would wait for, and 2^-40 off at position 4096.
SinusoidalEncoding::SinusoidalEncoding(std::size_t longest, std::size_t d_model)
    : PositionalEncoding(longest, d_model) {
  for (std::size_t i = 0; i < d_model; i += 2) {
    const double frequency =
        std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(d_model));
    const SineAndCosine step = of_angle(frequency);
    SineAndCosine angle = {0.0, 1.0};
    for (std::size_t position = 0; position < longest; ++position) {
      table_(position, i) = static_cast<float>(angle.sine);
      table_(position, i + 1) = static_cast<float>(angle.cosine);
      angle = {angle.sine * step.cosine + angle.cosine * step.sine,
               angle.cosine * step.cosine - angle.sine * step.sine};
    }
  }
}

void LearnedPositions::declare(const ParameterScope& scope) {
  scope.declare("weight", {table_.shape(0), table_.shape(1)},
                [this](std::span<const float> values) {
                  std::copy(values.begin(), values.end(), table_.data());
                });
}

}  // namespace glassformer
