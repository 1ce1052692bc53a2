#include "layers/embedding.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {

void Embedding::operator()(std::span<const std::int32_t> ids, View<2> x) const {
  expect_shape("x of an embedding", x, {ids.size(), d_model_});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::span row(x.data() + i * d_model_, d_model_);
    copy_row(static_cast<std::size_t>(ids[i]), row);
    kernels().scale(row.data(), row.data(), d_model_, scale_);
  }
}

TableEmbedding::TableEmbedding(std::size_t vocab_size, std::size_t d_model, float scale)
    : Embedding(d_model, scale), table_({vocab_size, d_model}, 0.0f) {}

void TableEmbedding::declare(const ParameterScope& scope) {
  scope.declare("weight", {table_.shape(0), table_.shape(1)},
                [this](std::span<const float> values) {
                  std::copy(values.begin(), values.end(), table_.data());
                });
}

void TableEmbedding::copy_row(std::size_t id, std::span<float> row) const {
  std::copy_n(table_.data() + id * row.size(), row.size(), row.begin());
}

Int8TableEmbedding::Int8TableEmbedding(std::size_t vocab_size, std::size_t d_model, float scale)
    : Embedding(d_model, scale),
      table_(checked_product("an embedding", {vocab_size, d_model})),
      scales_(vocab_size) {}

void Int8TableEmbedding::declare(const ParameterScope& scope) {
  scope.declare_int8("weight", {scales_.size(), d_model()},
                     [this](std::span<const std::int8_t> values, std::span<const float> scales) {
                       std::copy(values.begin(), values.end(), table_.begin());
                       std::copy(scales.begin(), scales.end(), scales_.begin());
                     });
}

void Int8TableEmbedding::copy_row(std::size_t id, std::span<float> row) const {
  const std::int8_t* integers = table_.data() + id * row.size();
  std::transform(integers, integers + row.size(), row.begin(),
                 [scale = scales_[id]](std::int8_t value) { return value * scale; });
}

}  // namespace glassformer
