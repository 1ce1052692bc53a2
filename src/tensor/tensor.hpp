#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#if __has_include(<xtensor/containers/xtensor.hpp>)  // xtensor 0.26 moved its headers into folders
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xtensor.hpp>
#endif

#include "tensor/aligned_buffer.hpp"

namespace glassformer {

/// A row-major f32 tensor of N dimensions that owns its elements, aligned for the widest vector.
template <std::size_t N>
using Tensor = xt::xtensor<float, N, xt::layout_type::row_major, AlignedAllocator<float>>;

/// A contiguous row-major window on elements that it does not own: a pointer and a shape. Passed by
/// value; an xtensor container would carry its strides along.
template <class T, std::size_t N>
class Window {
 public:
  Window(T* data, const std::array<std::size_t, N>& shape) : data_(data), shape_(shape) {}

  T* data() const { return data_; }
  const std::array<std::size_t, N>& shape() const { return shape_; }
  std::size_t shape(std::size_t dimension) const { return shape_[dimension]; }
  std::size_t size() const {
    std::size_t size = 1;
    for (std::size_t extent : shape_) size *= extent;
    return size;
  }
  T* begin() const { return data_; }
  T* end() const { return data_ + size(); }

  template <class... Indices>
  T& operator()(Indices... indices) const {
    static_assert(sizeof...(Indices) == N);
    std::size_t offset = 0, dimension = 0;
    ((offset = offset * shape_[dimension++] + static_cast<std::size_t>(indices)), ...);
    return data_[offset];
  }

 private:
  T* data_;
  std::array<std::size_t, N> shape_;
};

template <std::size_t N>
using View = Window<float, N>;

template <std::size_t N>
using ConstView = Window<const float, N>;

template <std::size_t N>
View<N> view(float* data, const std::array<std::size_t, N>& shape) {
  return {data, shape};
}

template <std::size_t N>
ConstView<N> const_view(const float* data, const std::array<std::size_t, N>& shape) {
  return {data, shape};
}

/// Returns a read-only window on a whole tensor or view.
template <class T>
auto const_view(const T& x) {
  std::array<std::size_t, std::tuple_size_v<std::decay_t<decltype(x.shape())>>> shape;
  std::copy(x.shape().begin(), x.shape().end(), shape.begin());
  return const_view(static_cast<const float*>(x.data()), shape);
}

/// Returns a tensor with a copy of a window's elements.
template <class T, std::size_t N>
Tensor<N> copy_of(const Window<T, N>& x) {
  Tensor<N> copy(x.shape());
  std::copy(x.begin(), x.end(), copy.data());
  return copy;
}

/// Returns rows [first, first + count) of a matrix as a window that shares its elements.
template <class Matrix>
View<2> rows(Matrix& x, std::size_t first, std::size_t count) {
  return view<2>(x.data() + first * x.shape(1), {count, x.shape(1)});
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
