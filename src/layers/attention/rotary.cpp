#include "layers/attention/rotary.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/powers.hpp"

namespace glassformer {
namespace {

constexpr std::size_t least_rows = 64;

}  // namespace

// Computed in floats, as in the original: at large positions, the rounding of a frequency matters.
float Rotary::frequency(const RotaryConfig& config, std::size_t i) {
  const auto exponent = static_cast<float>(2 * i) / static_cast<float>(config.size);
  const auto turns =
      static_cast<float>(power(static_cast<double>(config.base), static_cast<double>(exponent)));
  if (config.scaling == RotaryScaling::per_pair) return 1.0f / (config.factors[i] * turns);
  const float plain = 1.0f / turns;
  if (config.scaling == RotaryScaling::none) return plain;
  const float divided = plain / config.factor;
  if (config.scaling == RotaryScaling::linear) return divided;

  const float wavelength = 2 * std::numbers::pi_v<float> / plain;
  const auto length = static_cast<float>(config.original_length);
  if (wavelength < length / config.high_frequency) return plain;
  if (wavelength > length / config.low_frequency) return divided;
  const float kept =
      (length / wavelength - config.low_frequency) / (config.high_frequency - config.low_frequency);
  return (1 - kept) * divided + kept * plain;
}

const float* Rotary::table(std::size_t count, Session& session) const {
  GrowingTable& table = session.table(this);
  if (count <= table.rows) return table.values.data();
  const std::size_t half = config_.size / 2, first = table.rows;
  const std::size_t rows = std::max({count, 2 * table.rows, least_rows});
  table.values.resize(rows * config_.size);
  table.rows = rows;
  for (std::size_t i = 0; i < half; ++i) {
    const float frequency = Rotary::frequency(config_, i);
    for (std::size_t position = first; position < rows; ++position) {
      const float angle = static_cast<float>(position) * frequency;
      const SineCosine turned = sine_cosine(static_cast<double>(angle));
      float* const row = &table.values[position * config_.size];
      row[i] = static_cast<float>(turned.cosine) * config_.amplitude;
      row[half + i] = static_cast<float>(turned.sine) * config_.amplitude;
    }
  }
  return table.values.data();
}

void Rotary::operator()(float* rows, std::size_t stride, const Heads& heads, const Run& run) const {
  const Rows where = {stride, heads, run.segments, run.positions};
  turn(rows, where, 1.0f, run.session());
  if (!run.tape()) return;
  run.tape()->record([this, rows, where, &session = run.session()](Tape& tape) {
    turn(tape.gradient(rows), where, -1.0f, session);
  });
}

void Rotary::turn(std::span<float> numbers, std::size_t position, Session& session) const {
  const RowSegment one = {.first = 0, .count = 1, .position = position};
  turn(numbers.data(), {numbers.size(), {1, numbers.size()}, {&one, 1}, {}}, 1.0f, session);
}

void Rotary::turn_back(std::span<float> numbers, std::size_t position, Session& session) const {
  const RowSegment one = {.first = 0, .count = 1, .position = position};
  turn(numbers.data(), {numbers.size(), {1, numbers.size()}, {&one, 1}, {}}, -1.0f, session);
}

void Rotary::turn(float* x, const Rows& rows, float direction, Session& session) const {
  const std::size_t half = config_.size / 2;
  for (const RowSegment& segment : rows.segments) {
    for (std::size_t i = 0; i < segment.count; ++i) {
      const std::size_t row = segment.first + i;
      const std::size_t position =
          rows.positions.empty() ? segment.position + i : rows.positions[row];
      const float* const cosines = table(position + 1, session) + position * config_.size;
      const float* const sines = cosines + half;
      for (std::size_t head = 0; head < rows.heads.count; ++head) {
        float* const first = x + row * rows.stride + head * rows.heads.d_head;
        float* const second = first + half;
        for (std::size_t j = 0; j < half; ++j) {
          const float a = first[j], b = second[j], sine = direction * sines[j];
          first[j] = a * cosines[j] - b * sine;
          second[j] = b * cosines[j] + a * sine;
        }
      }
    }
  }
}

}  // namespace glassformer
