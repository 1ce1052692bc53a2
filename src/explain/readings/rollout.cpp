#include "explain/readings/rollout.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace glassformer {
namespace {

// A matrix [rows, columns].
struct Matrix {
  Matrix(std::size_t row_count, std::size_t column_count)
      : rows(row_count), columns(column_count), data(row_count * column_count) {}

  float* row(std::size_t i) { return data.data() + i * columns; }
  const float* row(std::size_t i) const { return data.data() + i * columns; }

  std::size_t rows, columns;
  std::vector<float> data;
};

Matrix identity(std::size_t rows, std::size_t columns) {
  Matrix matrix(rows, columns);
  for (std::size_t i = 0; i < rows; ++i) matrix.row(i)[i] = 1.0f;
  return matrix;
}

// Returns the mean over the heads of a layer, [queries, keys].
Matrix mean_of_heads(const AttentionMap& map, std::size_t layer) {
  Matrix mean(map.queries, map.keys);
  for (std::size_t head = 0; head < map.heads; ++head) {
    const std::span<const float> weights = map.at(layer, head);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      mean.data[i] += weights[i] / static_cast<float>(map.heads);
    }
  }
  return mean;
}

// to [columns] += scale · Σ_j weights[j] · x[j].
void add_mixture(const float* weights, const Matrix& x, float scale, float* to) {
  for (std::size_t j = 0; j < x.rows; ++j) {
    const float weight = weights[j] * scale;
    if (weight == 0.0f) continue;
    const float* row = x.row(j);
    for (std::size_t c = 0; c < x.columns; ++c) to[c] += weight * row[c];
  }
}

// Returns ½ (A + I) · x, but x for rows of A that are zero.
Matrix mix(const Matrix& attention, const Matrix& x) {
  Matrix mixed = x;
  for (std::size_t i = 0; i < x.rows; ++i) {
    const float* weights = attention.row(i);
    if (std::accumulate(weights, weights + attention.columns, 0.0f) == 0.0f) continue;
    for (std::size_t c = 0; c < x.columns; ++c) mixed.row(i)[c] *= 0.5f;
    add_mixture(weights, x, 0.5f, mixed.row(i));
  }
  return mixed;
}

Matrix roll_out(const AttentionMap& map) {
  Matrix rollout = identity(map.queries, map.keys);
  for (std::size_t layer = 0; layer < map.layers; ++layer) {
    rollout = mix(mean_of_heads(map, layer), rollout);
  }
  return rollout;
}

}  // namespace

void expect_residuals(const StackConfig& config, const char* reading) {
  if (std::ranges::all_of(config.layers, &LayerConfig::residual)) return;
  throw_error(ErrorCode::unsupported, {"{}: expected residual connections, got none", {reading}});
}

std::vector<float> rollout(const AttentionMap& attention) { return roll_out(attention).data; }

std::vector<float> rollout(const TranslationAttention& attention) {
  const Matrix encoder = roll_out(attention.encoder);  // [S, S]
  const std::size_t targets = attention.decoder.queries;
  Matrix rollout = identity(targets, targets + encoder.columns);  // [T, T + S]
  for (std::size_t layer = 0; layer < attention.decoder.layers; ++layer) {
    rollout = mix(mean_of_heads(attention.decoder, layer), rollout);
    const Matrix cross = mean_of_heads(attention.cross, layer);  // [T, S]
    for (std::size_t t = 0; t < targets; ++t) {
      for (std::size_t c = 0; c < rollout.columns; ++c) rollout.row(t)[c] *= 0.5f;
      add_mixture(cross.row(t), encoder, 0.5f, rollout.row(t) + targets);
    }
  }
  return std::move(rollout.data);
}

std::vector<float> pooled_rollout(const std::vector<float>& rollout,
                                  const std::vector<float>& weights) {
  const std::size_t columns = rollout.size() / weights.size();
  std::vector<float> scores(columns);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    for (std::size_t c = 0; c < columns; ++c) scores[c] += weights[i] * rollout[i * columns + c];
  }
  return scores;
}

}  // namespace glassformer
