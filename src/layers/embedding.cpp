#include "layers/embedding.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace glassformer {

Embedding::Embedding(std::size_t vocab_size, std::size_t d_model, float scale)
    : table_({vocab_size, d_model}, 0.0f), scale_(scale) {}

void Embedding::declare(const ParameterScope& scope) {
  scope.declare("weight", {table_.shape(0), table_.shape(1)},
                [this](std::span<const float> values) {
                  std::copy(values.begin(), values.end(), table_.data());
                });
}

void Embedding::operator()(const Batch& batch, View<2> x) const {
  const std::size_t d_model = table_.shape(1);
  expect_shape("x of an embedding", x, {batch.tokens(), d_model});
  for (std::size_t i = 0; i < batch.tokens(); ++i) {
    const float* row = table_.data() + static_cast<std::size_t>(batch.ids()[i]) * d_model;
    kernels().scale(x.data() + i * d_model, row, d_model, scale_);
  }
}

}  // namespace glassformer
