#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>

#if __has_include(<xtensor/containers/xtensor.hpp>)  // xtensor 0.26 moved its headers into folders
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xtensor.hpp>
#endif

#include "tensor/aligned_buffer.hpp"

namespace glassformer {

/// A row-major f32 tensor of N dimensions that owns its elements, aligned for the widest vector.
template <std::size_t N>
using Tensor = xt::xtensor<float, N, xt::layout_type::row_major, AlignedAllocator<float>>;

/// A contiguous row-major window on elements that somebody else owns.
template <std::size_t N>
using View = xt::xtensor_pointer<float, N, xt::layout_type::row_major>;

template <std::size_t N>
using ConstView = xt::xtensor_pointer<const float, N, xt::layout_type::row_major>;

template <std::size_t N>
View<N> view(float* data, const std::array<std::size_t, N>& shape) {
  std::size_t size = 1;
  for (std::size_t extent : shape) size *= extent;
  return xt::adapt(std::move(data), size, xt::no_ownership(), shape);
}

template <std::size_t N>
ConstView<N> const_view(const float* data, const std::array<std::size_t, N>& shape) {
  std::size_t size = 1;
  for (std::size_t extent : shape) size *= extent;
  return xt::adapt(std::move(data), size, xt::no_ownership(), shape);
}

/// A read-only window on a whole tensor or view.
template <class T>
auto const_view(const T& x) {
  std::array<std::size_t, std::tuple_size_v<typename T::shape_type>> shape;
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = x.shape(i);
  return const_view(static_cast<const float*>(x.data()), shape);
}

/// Rows [first, first + count) of a matrix: the window shares the matrix's elements.
template <class Matrix>
View<2> rows(Matrix& x, std::size_t first, std::size_t count) {
  return view<2>(x.data() + first * x.shape(1), {count, x.shape(1)});
}

[[noreturn]] void throw_shape_mismatch(std::string_view name, std::span<const std::size_t> expected,
                                       std::span<const std::size_t> got);

/// Throws `internal` unless x has this shape; the message names x, the shape expected and the one
/// it has.
template <class T>
void expect_shape(std::string_view name, const T& x, std::initializer_list<std::size_t> shape) {
  const auto& got = x.shape();
  if (!std::equal(shape.begin(), shape.end(), got.begin(), got.end())) {
    throw_shape_mismatch(name, shape, got);
  }
}

}  // namespace glassformer
