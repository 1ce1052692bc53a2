#include "layers/embed/embedding.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "kernels/kernels.hpp"

namespace glassformer {
namespace {

// A negative id becomes a number beyond the end of every table.
std::size_t expect_row(std::int32_t id, std::size_t rows) {
  const auto row = static_cast<std::size_t>(id);
  if (row < rows) return row;
  throw_error(ErrorCode::internal,
              {"an embedding: expected ids below its {} rows, got {}", {rows, id}});
}

constexpr const char* owner = "an embedding";

}  // namespace

void Embedding::operator()(std::span<const std::int32_t> ids, View x, const Run& run) const {
  expect_shape("x of an embedding", x, {ids.size(), d_model_});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::span row(x.data() + i * d_model_, d_model_);
    copy_row(expect_row(ids[i], rows_), row);
    kernels().scale(row.data(), row.data(), d_model_, scale_);
  }
  if (run.tape() && table()) {
    run.tape()->record([this, ids, x](Tape& tape) {
      embedding_backward(*table(), ids, scale_, const_view(x), tape);
    });
  }
}

void TableEmbedding::declare(const ParameterScope& scope) {
  scope.declare("weight", {rows(), d_model()}, table_);
}

void TableEmbedding::copy_row(std::size_t id, std::span<float> row) const {
  std::copy_n(loaded(table_, owner) + id * row.size(), row.size(), row.begin());
}

void Int8TableEmbedding::declare(const ParameterScope& scope) {
  scope.declare_integers(
      "weight", {rows(), d_model()}, 8,
      [this](std::span<const std::int8_t> values, std::span<const float> scales,
             std::size_t first) {
        table_.resize(rows() * d_model());
        scales_.resize(rows());
        std::ranges::copy(values, table_.data() + first * d_model());
        std::ranges::copy(scales, scales_.data() + first);
      },
      [this](std::size_t id, std::span<float> row) { copy_row(id, row); });
}

void Int8TableEmbedding::copy_row(std::size_t id, std::span<float> row) const {
  if (table_.empty()) throw_error(ErrorCode::internal, "an embedding has no weights yet");
  const std::int8_t* integers = table_.data() + id * row.size();
  std::transform(integers, integers + row.size(), row.begin(),
                 [scale = scales_[id]](std::int8_t value) { return value * scale; });
}

void TypeEmbedding::declare(const ParameterScope& scope) {
  scope.declare("weight", {types_, d_model_}, table_);
}

void TypeEmbedding::add_to(View x, std::span<const std::int32_t> types, const Run& run) const {
  expect_shape("x of a type embedding", x, {types.size(), d_model_});
  const float* table = loaded(table_, owner);
  for (std::size_t i = 0; i < types.size(); ++i) {
    const float* row = table + expect_row(types[i], types_) * d_model_;
    kernels().add_scaled(&x(i, 0), row, d_model_, 1.0f);
  }
  if (run.tape()) {
    run.tape()->record([this, types, x](Tape& tape) {
      embedding_backward(table_, types, 1.0f, const_view(x), tape);
    });
  }
}

}  // namespace glassformer
