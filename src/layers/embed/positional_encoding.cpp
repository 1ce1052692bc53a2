#include "layers/embed/positional_encoding.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/powers.hpp"
#include "kernels/kernels.hpp"

namespace glassformer {
namespace {

// Initial size of a sinusoidal table: enough for most sentences, and little memory compared to the
// weights.
constexpr std::size_t first_rows = 128;

}  // namespace

void PositionalEncoding::add_to(View x, const Sequences& sequences, const Run& run) const {
  expect_shape("x of a positional encoding", x, {sequences.tokens(), d_model_});
  const float* const table = rows(first_ + sequences.longest(), run.session());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    // Rows 0 … length - 1 of the table are contiguous, and so are the sequence's tokens.
    kernels().add_scaled(x.data() + sequences.start(i) * d_model_, table + first_ * d_model_,
                         sequences.length(i) * d_model_, 1.0f);
  }
  if (!run.tape() || !learned()) return;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    for (std::size_t j = 0; j < sequences.length(i); ++j) positions.push_back(j);
  }
  record(x, std::move(positions), run);
}

void PositionalEncoding::record(View x, std::vector<std::size_t> positions, const Run& run) const {
  run.tape()->record([this, x, positions = std::move(positions)](Tape& tape) {
    positions_backward(*learned(), first_, positions, const_view(x), tape);
  });
}

void PositionalEncoding::add_to(View x, std::span<const std::size_t> positions,
                                const Run& run) const {
  expect_shape("x of a positional encoding", x, {positions.size(), d_model_});
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::size_t row = first_ + positions[i];  // none is -1
    const float* const table = rows(row + 1, run.session());
    kernels().add_scaled(&x(i, 0), table + row * d_model_, d_model_, 1.0f);
  }
  if (run.tape() && learned()) record(x, {positions.begin(), positions.end()}, run);
}

const float* PositionalEncoding::rows(std::size_t count, Session& session) const {
  if (count > first_ + longest_) {
    throw_error(ErrorCode::internal,
                {"positions: expected at most {}, got {}", {longest_, count - first_}});
  }
  return table(count, session);
}

const float* SinusoidalEncoding::table(std::size_t count, Session& session) const {
  GrowingTable& table = session.table(this);
  if (count > table.rows) {
    extend(table, std::min(first() + longest(), std::max({count, 2 * table.rows, first_rows})));
  }
  return table.values.data();
}

// Computes each position from the previous one by rotating all angles by one step. This is twenty
// times as fast as a sine and a cosine per element, a delay that a page would notice, and the error
// is 2^-40 at position 4096.
void SinusoidalEncoding::extend(GrowingTable& table, std::size_t count) const {
  const std::size_t d_model = this->d_model();
  const std::size_t begin = table.rows;
  const bool halves = layout_ != SinusoidLayout::interleaved;
  // The divisor of the exponents. `i` already has the factor 2.
  const std::size_t shorter = layout_ == SinusoidLayout::halves_endpoint && d_model > 2 ? 2 : 0;
  const auto range = static_cast<double>(d_model - shorter);
  if (begin == 0) table.state.assign(d_model / 2, {0.0, 1.0});  // sines and cosines of the next row
  table.values.resize(count * d_model);
  table.rows = count;
  for (std::size_t i = 0; i < d_model; i += 2) {
    const double frequency = power(10000.0, -static_cast<double>(i) / range);
    const SineCosine step = sine_cosine(frequency);
    auto& [sine, cosine] = table.state[i / 2];
    for (std::size_t position = begin; position < count; ++position) {
      float* const row = &table.values[position * d_model];
      row[halves ? i / 2 : i] = static_cast<float>(sine);
      row[halves ? (d_model + i) / 2 : i + 1] = static_cast<float>(cosine);
      const double turned = sine * step.cosine + cosine * step.sine;
      cosine = cosine * step.cosine - sine * step.sine;
      sine = turned;
    }
  }
  if (begin == 0 && first() > 0) std::fill_n(&table.values[(first() - 1) * d_model], d_model, 0.0f);
}

void LearnedPositions::declare(const ParameterScope& scope) {
  scope.declare("weight", {first() + longest(), d_model()}, table_);
}

const float* LearnedPositions::table(std::size_t, Session&) const {
  return loaded(table_, "a table of learned positions");
}

namespace {

// The cells that a cell of another grid is interpolated from, along one axis, and their weights.
struct CubicTaps {
  std::array<std::size_t, 4> cells;
  std::array<float, 4> weights;
};

// Keys 1981 with a = -0.75: the weight of a sample at a distance below 2.
float cubic_weight(float distance) {
  constexpr float a = -0.75f;
  const float x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

CubicTaps cubic_taps(std::size_t cell, std::size_t from, std::size_t to) {
  const float scale = static_cast<float>(from) / static_cast<float>(to);
  const float place = scale * (static_cast<float>(cell) + 0.5f) - 0.5f;
  const float below = std::floor(place);
  const float rest = place - below;
  CubicTaps taps;
  for (std::size_t i = 0; i < 4; ++i) {
    const float offset = static_cast<float>(i) - 1;
    const float wanted = std::clamp(below + offset, 0.0f, static_cast<float>(from - 1));
    taps.cells[i] = static_cast<std::size_t>(wanted);
    taps.weights[i] = cubic_weight(rest - offset);
  }
  return taps;
}

}  // namespace

void LearnedPositions::add_interpolated(View x, const PositionGrid& from,
                                        const PositionGrid& to) const {
  expect_shape("x of interpolated positions", x, {to.special + to.rows * to.columns, d_model()});
  const std::size_t width = d_model();
  const float* const table = loaded(table_, "a table of learned positions");
  kernels().add_scaled(x.data(), table, to.special * width, 1.0f);
  for (std::size_t row = 0; row < to.rows; ++row) {
    const CubicTaps down = cubic_taps(row, from.rows, to.rows);
    for (std::size_t column = 0; column < to.columns; ++column) {
      const CubicTaps across = cubic_taps(column, from.columns, to.columns);
      float* const sum = &x(to.special + row * to.columns + column, 0);
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
          const std::size_t cell = down.cells[i] * from.columns + across.cells[j];
          kernels().add_scaled(sum, table + (from.special + cell) * width, width,
                               down.weights[i] * across.weights[j]);
        }
      }
    }
  }
}

std::unique_ptr<PositionalEncoding> make_positions(PositionKind kind, std::size_t longest,
                                                   std::size_t d_model, std::size_t first) {
  switch (kind) {
    case PositionKind::sinusoidal:
      return std::make_unique<SinusoidalEncoding>(longest, d_model);
    case PositionKind::sinusoidal_halves:
      return std::make_unique<SinusoidalEncoding>(longest, d_model, SinusoidLayout::halves);
    case PositionKind::sinusoidal_endpoint:
      return std::make_unique<SinusoidalEncoding>(longest, d_model, SinusoidLayout::halves_endpoint,
                                                  first);
    case PositionKind::learned:
      return std::make_unique<LearnedPositions>(longest, d_model, first);
    case PositionKind::relative:
    case PositionKind::none:
      break;
  }
  return nullptr;
}

}  // namespace glassformer
