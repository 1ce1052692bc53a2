#include "explain/interventions/value_zeroing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "explain/interventions/edges.hpp"
#include "explain/interventions/row_edits.hpp"
#include "explain/traced.hpp"

namespace glassformer {
namespace {

// Returns 1 - cos(a, b); 0 if one of them is zero.
double distance(const float* a, const float* b, std::size_t n) {
  const double lengths = std::sqrt(dot(a, a, n) * dot(b, b, n));
  return lengths == 0 ? 0 : std::max(1 - dot(a, b, n) / lengths, 0.0);
}

// Divides each row of a layer by its sum.
void to_shares(std::span<float> layer, std::size_t tokens) {
  for (std::size_t i = 0; i < tokens; ++i) {
    const std::span<float> row = layer.subspan(i * tokens, tokens);
    const float sum = std::accumulate(row.begin(), row.end(), 0.0f);
    if (sum == 0) {
      row[i] = 1;
    } else {
      for (float& share : row) share /= sum;
    }
  }
}

// Returns a · b of square matrices.
std::vector<float> product(std::span<const float> a, const std::vector<float>& b,
                           std::size_t size) {
  std::vector<float> product(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < size; ++k) {
      for (std::size_t j = 0; j < size; ++j) {
        product[i * size + j] += a[i * size + k] * b[k * size + j];
      }
    }
  }
  return product;
}

}  // namespace

ValueZeroing::ValueZeroing(const EncoderRunner& model, const ExplainedText& text, Stream stream)
    : model_(model),
      positions_(text.positions),
      stream_(std::move(stream)),
      changes_({.layers = stream_.layers,
                .heads = 1,
                .queries = stream_.tokens,
                .keys = stream_.tokens}) {
  expect_replaceable(model.model, "value_zeroing");
}

void ValueZeroing::zero(std::size_t first, std::size_t count) {
  Sequences sequences;
  std::vector<float> states;
  std::vector<RowEdit> edits;
  std::vector<std::size_t> positions;
  const std::size_t size = stream_.tokens * stream_.d_model;
  const float* const input = stream_.row(layer_, 0).data();
  for (std::size_t s = 0; s < count; ++s) {
    states.insert(states.end(), input, input + size);
    positions.insert(positions.end(), positions_.begin(), positions_.end());
    edits.push_back({.sequence = s, .token = first + s});
    sequences.add(stream_.tokens);
  }
  if (!positions.empty()) sequences.set_positions(std::move(positions));
  RowEditor editor(encoder_layer_name(layer_, "self_attn.v"), sequences, edits);
  const Tensor changed = model_.block(
      sequences, layer_, const_view(states.data(), {sequences.tokens(), stream_.d_model}), &editor);
  const std::span<float> layer = changes_.at(layer_, 0);
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t i = 0; i < stream_.tokens; ++i) {
      const float* const row = changed.data() + s * size + i * stream_.d_model;
      layer[i * stream_.tokens + first + s] =
          static_cast<float>(distance(row, stream_.row(layer_ + 1, i).data(), stream_.d_model));
    }
  }
}

bool ValueZeroing::step(std::size_t tokens) {
  if (layer_ == stream_.layers) return false;
  const std::size_t most = std::max<std::size_t>(tokens / stream_.tokens, 1);
  const std::size_t count = std::min(most, stream_.tokens - next_);
  zero(next_, count);
  next_ += count;
  if (next_ == stream_.tokens) {
    to_shares(changes_.at(layer_, 0), stream_.tokens);
    ++layer_;
    next_ = 0;
  }
  return layer_ < stream_.layers;
}

ZeroedValues ValueZeroing::take() {
  const std::span<const float> first = std::as_const(changes_).at(0, 0);
  std::vector<float> matrix(first.begin(), first.end());
  for (std::size_t layer = 1; layer < stream_.layers; ++layer) {
    matrix = product(std::as_const(changes_).at(layer, 0), matrix, stream_.tokens);
  }
  return {std::move(changes_), std::move(matrix), {}};
}

}  // namespace glassformer
