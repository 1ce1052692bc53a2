#include "layers/embed/positional_encoding.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "base/powers.hpp"
#include "kernels/kernels.hpp"

namespace glassformer {
namespace {

// What a sinusoidal table starts with: enough for most sentences, and little beside the weights.
constexpr std::size_t least_rows = 128;

}  // namespace

void PositionalEncoding::add_to(View<2> x, const Sequences& sequences) {
  expect_shape("x of a positional encoding", x, {sequences.tokens(), d_model_});
  reserve(sequences.longest());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    // Rows 0 … length - 1 of the table lie in a row, as do the sequence's tokens.
    kernels().add_scaled(x.data() + sequences.start(i) * d_model_,
                         table_.data() + first_ * d_model_, sequences.length(i) * d_model_, 1.0f);
  }
}

void PositionalEncoding::add_to(View<2> x, std::span<const std::size_t> positions) {
  expect_shape("x of a positional encoding", x, {positions.size(), d_model_});
  for (std::size_t i = 0; i < positions.size(); ++i) {
    reserve(positions[i] + 1);  // 0 of none
    const float* row = table_.data() + (first_ + positions[i]) * d_model_;
    kernels().add_scaled(&x(i, 0), row, d_model_, 1.0f);
  }
}

void PositionalEncoding::reserve(std::size_t count) {
  if (first_ + count <= rows()) return;
  if (count > longest_) {
    throw_error(ErrorCode::internal, {"positions: expected at most {}, got {}", {longest_, count}});
  }
  extend(std::min(longest_, std::max({count, 2 * rows(), least_rows})));
}

namespace {

// Of an angle from 0 to 1, by their power series.
SinusoidalEncoding::Angle of_angle(double angle) {
  SinusoidalEncoding::Angle sums = {0.0, 0.0};
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
void SinusoidalEncoding::extend(std::size_t count) {
  const std::size_t d_model = this->d_model();
  const std::size_t first = rows();
  const bool halves = layout_ != SinusoidLayout::interleaved;
  // What the exponents are divided by: i counts twice.
  const std::size_t shorter = layout_ == SinusoidLayout::halves_endpoint && d_model > 2 ? 2 : 0;
  const auto range = static_cast<double>(d_model - shorter);
  if (first == 0) next_.assign(d_model / 2, {0.0, 1.0});
  table_.resize(count * d_model);
  for (std::size_t i = 0; i < d_model; i += 2) {
    const double frequency = power(10000.0, -static_cast<double>(i) / range);
    const Angle step = of_angle(frequency);
    Angle& angle = next_[i / 2];
    for (std::size_t position = first; position < count; ++position) {
      float* row = &table_[position * d_model];
      row[halves ? i / 2 : i] = static_cast<float>(angle.sine);
      row[halves ? (d_model + i) / 2 : i + 1] = static_cast<float>(angle.cosine);
      angle = {angle.sine * step.cosine + angle.cosine * step.sine,
               angle.cosine * step.cosine - angle.sine * step.sine};
    }
  }
}

void LearnedPositions::declare(const ParameterScope& scope) {
  const std::size_t rows = first() + longest();
  scope.declare("weight", {rows, d_model()},
                [this, rows](std::span<const float> values, std::size_t row) {
                  table_.resize(rows * d_model());
                  std::ranges::copy(values, table_.data() + row * d_model());
                });
}

void LearnedPositions::extend(std::size_t) {
  throw_error(ErrorCode::internal, "learned positions have no weights yet");
}

std::unique_ptr<PositionalEncoding> make_positions(PositionKind kind, std::size_t longest,
                                                   std::size_t d_model, std::size_t first) {
  switch (kind) {
    case PositionKind::sinusoidal:
      return std::make_unique<SinusoidalEncoding>(longest, d_model);
    case PositionKind::sinusoidal_halves:
      return std::make_unique<SinusoidalEncoding>(longest, d_model, SinusoidLayout::halves);
    case PositionKind::sinusoidal_endpoint:
      return std::make_unique<SinusoidalEncoding>(longest, d_model,
                                                  SinusoidLayout::halves_endpoint);
    case PositionKind::learned:
      return std::make_unique<LearnedPositions>(longest, d_model, first);
    case PositionKind::relative:
      break;
  }
  return nullptr;
}

}  // namespace glassformer
