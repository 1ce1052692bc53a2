#pragma once

// Products of the project's own kernels at a given shape, for the benchmarks.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"
#include "kernels/packed/int8_matrix.hpp"
#include "kernels/packed/matrix.hpp"

namespace glassformer {

/// [m, k] · [k, n]
struct Shape {
  std::size_t m, k, n;

  double operations() const { return 2.0 * static_cast<double>(m * k * n); }
};

class FloatProduct {
 public:
  explicit FloatProduct(const Shape& shape)
      : shape_(shape), a_(shape.m * shape.k, 0.5f), b_(shape.k, shape.n), c_(shape.m * shape.n) {
    const std::vector<float> column(shape.k, 0.25f);
    for (std::size_t i = 0; i < shape.n; ++i) b_.set_column(i, column);
  }

  void operator()() {
    kernels().matmul({.a = a_.data(),
                      .a_stride = shape_.k,
                      .b = b_.data(),
                      .panel_stride = b_.panel_stride(),
                      .c = c_.data(),
                      .c_stride = shape_.n,
                      .m = shape_.m,
                      .n = shape_.n,
                      .k = shape_.k});
  }

 private:
  Shape shape_;
  std::vector<float> a_;
  PackedMatrix b_;
  std::vector<float> c_;
};

/// On rows that are quantized already.
class Int8Product {
 public:
  explicit Int8Product(const Shape& shape)
      : shape_(shape),
        values_(shape.m * kernels().quantized_row_bytes(shape.k)),
        row_scales_(shape.m),
        zero_points_(shape.m),
        rows_{.values = values_.data(),
              .stride = kernels().quantized_row_bytes(shape.k),
              .scales = row_scales_.data(),
              .zero_points = zero_points_.data()},
        b_(shape.k, shape.n),
        bias_(b_.padded_n()),
        c_(shape.m * shape.n) {
    const std::vector<float> a(shape.m * shape.k, 0.5f);
    kernels().quantize(a.data(), shape.m, shape.k, rows_);
    const std::vector<std::int8_t> column(shape.k, 3);
    for (std::size_t i = 0; i < shape.n; ++i) b_.set_column(i, column, 0.01f);
  }

  void operator()() {
    kernels().matmul_int8({.a = rows_,
                           .b = b_.data(),
                           .panel_stride = b_.panel_stride(),
                           .scales = b_.scales(),
                           .sums = b_.sums(),
                           .bias = bias_.data(),
                           .c = c_.data(),
                           .c_stride = shape_.n,
                           .m = shape_.m,
                           .n = shape_.n,
                           .k = shape_.k});
  }

 private:
  Shape shape_;
  std::vector<std::byte> values_;
  std::vector<float> row_scales_;
  std::vector<std::int32_t> zero_points_;
  QuantizedRows rows_;
  PackedInt8Matrix b_;
  AlignedBuffer bias_;
  std::vector<float> c_;
};

}  // namespace glassformer
