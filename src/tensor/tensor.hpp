#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>

#if __has_include(<xtensor/containers/xtensor.hpp>)  // xtensor 0.26 moved its headers into folders
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xtensor.hpp>
#endif

#include "tensor/aligned_buffer.hpp"

namespace glassformer {

/// A row-major matrix of floats that owns its elements, aligned for the widest vector.
using Tensor = xt::xtensor<float, 2, xt::layout_type::row_major, AlignedAllocator<float>>;

/// Rows and columns.
using MatrixShape = std::array<std::size_t, 2>;

/// A contiguous row-major window on a matrix that it does not own: a pointer and a shape. Passed by
/// value; an xtensor container would carry its strides along.
template <class T>
class Window {
 public:
  Window(T* data, const MatrixShape& shape) : data_(data), shape_(shape) {}

  T* data() const { return data_; }
  const MatrixShape& shape() const { return shape_; }
  std::size_t shape(std::size_t dimension) const { return shape_[dimension]; }
  std::size_t size() const { return shape_[0] * shape_[1]; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size(); }

  T& operator()(std::size_t row, std::size_t column) const {
    return data_[row * shape_[1] + column];
  }

 private:
  T* data_;
  MatrixShape shape_;
};

using View = Window<float>;
using ConstView = Window<const float>;

inline View view(float* data, const MatrixShape& shape) { return {data, shape}; }
inline ConstView const_view(const float* data, const MatrixShape& shape) { return {data, shape}; }

/// Returns a read-only window on a whole tensor or view.
template <class AnyMatrix>
ConstView const_view(const AnyMatrix& x) {
  return {x.data(), {x.shape()[0], x.shape()[1]}};
}

/// Returns a tensor with a copy of a window's elements.
template <class T>
Tensor copy_of(const Window<T>& x) {
  Tensor copy(Tensor::shape_type{x.shape(0), x.shape(1)});
  std::copy(x.begin(), x.end(), copy.data());
  return copy;
}

/// Returns rows [first, first + count) of a matrix as a window that shares its elements.
template <class AnyMatrix>
View rows(AnyMatrix& x, std::size_t first, std::size_t count) {
  return view(x.data() + first * x.shape(1), {count, x.shape(1)});
}

[[noreturn]] void throw_shape_mismatch(std::string_view name, std::span<const std::size_t> expected,
                                       std::span<const std::size_t> got);

/// Throws `internal` unless x has this shape. The message contains the name, the expected shape and
/// the actual one.
template <class T>
void expect_shape(std::string_view name, const T& x, std::initializer_list<std::size_t> shape) {
  const auto& got = x.shape();
  if (!std::equal(shape.begin(), shape.end(), got.begin(), got.end())) {
    throw_shape_mismatch(name, shape, got);
  }
}

}  // namespace glassformer
