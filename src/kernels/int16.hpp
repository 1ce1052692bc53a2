#pragma once

// The steps of 16-bit integer attention other than its two matrix products. Each step is rounded
// separately, so the results are identical on every machine.

#include "kernels/gather.hpp"
#include "kernels/kernels.hpp"
#include "kernels/quantize.hpp"
#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

/// Returns the integers of x, which is already shifted by `rounder`; `offset` is rounder_bits.
inline Integers unshifted(Vec x, std::int32_t offset) { return bits_of(x) - offset; }

inline Vec widened(const std::int16_t* from) {
#ifdef __wasm_simd128__
  return IntVec{(Integers)wasm_i32x4_load16x4(from)}.to_float();
#else
  using Shorts [[gnu::vector_size(sizeof(std::int16_t) * Vec::width)]] = std::int16_t;
  Shorts narrow;
  __builtin_memcpy(&narrow, from, sizeof narrow);
  return IntVec{__builtin_convertvector(narrow, Integers)}.to_float();
#endif
}

// Bits of the absolute values; see range_of.
inline Integers magnitude(Vec x) { return bits_of(x) & INT32_MAX; }

inline float largest(const GatheredRows& x) {
  Integers found = {};
  for (std::size_t j = 0; j < x.count; ++j) {
    const float* from = row(x, j);
    std::size_t i = 0;
    for (; i + Vec::width <= x.columns; i += Vec::width) {
      found = larger(found, magnitude(Vec::load(from + i)));
    }
    if (i < x.columns) {
      found = larger(found, magnitude(Vec::load_partial(from + i, x.columns - i, 0.0f)));
    }
  }
  return largest_positive(found);
}

inline void round_rows(const GatheredRows& x, float factor, std::int16_t* to) {
  const Vec factors = Vec::broadcast(factor), shift = Vec::broadcast(held_rounder);
  const std::int32_t offset = held_rounder_bits;
  for (std::size_t j = 0; j < x.count; ++j) {
    const float* from = row(x, j);
    std::size_t i = 0;
    for (; i + Vec::width <= x.columns; i += Vec::width) {
      store(unshifted(Vec::load(from + i) * factors + shift, offset), to + i);
    }
    for (; i < x.columns; ++i) to[i] = static_cast<std::int16_t>(rounded(from[i] * factor));
    if (i % 2 == 1) to[i++] = 0;
    to += i;
  }
}

inline std::int32_t weigh(const std::int32_t* scores, std::size_t n, float factor,
                          std::int16_t* weights) {
  const std::size_t whole = n - n % Vec::width;
  std::int32_t highest = scores[0];
  if (whole > 0) {
    Integers lanes = IntVec::load(scores).lanes;
    for (std::size_t i = Vec::width; i < whole; i += Vec::width) {
      const Integers next = IntVec::load(scores + i).lanes;
      lanes = lanes > next ? lanes : next;
    }
    for (std::size_t i = 0; i < Vec::width; ++i) highest = lanes[i] > highest ? lanes[i] : highest;
  }
  for (std::size_t i = whole; i < n; ++i) highest = scores[i] > highest ? scores[i] : highest;

  // The minimax polynomial of degree 3 with p(0) = 1; its maximum relative error is 1.0e-4.
  constexpr float unit = Kernels::weight_unit;
  static Held<float> polynomial[] = {unit, unit * 6.9328290e-1f, unit * 2.4221098e-1f,
                                     unit * 5.5009058e-2f};
  const Exp2<3> exp2(polynomial);
  const Vec factors = Vec::broadcast(factor), shift = Vec::broadcast(held_rounder);
  const std::int32_t offset = held_rounder_bits;
  const auto weight_of = [&](Integers score) {
    return unshifted(exp2(IntVec{score - highest}.to_float() * factors) + shift, offset);
  };
  // Unsigned, because the sum may wrap: if the factor is NaN, the weights are meaningless.
  Unsigned sums = {};
  std::size_t i = 0;
  for (; i < whole; i += Vec::width) {
    const Integers weight = weight_of(IntVec::load(scores + i).lanes);
    store(weight, weights + i);
    sums += (Unsigned)weight;
  }
  if (i < n) {
    Integers rest = Integers{} + highest;
    __builtin_memcpy(&rest, scores + i, (n - i) * sizeof(std::int32_t));
    const Integers weight = weight_of(rest);
    for (std::size_t lane = 0; i < n; ++i, ++lane) {
      weights[i] = static_cast<std::int16_t>(weight[lane]);
      sums[lane] += static_cast<std::uint32_t>(weight[lane]);
    }
  }
  std::uint32_t sum = 0;
  for (std::size_t lane = 0; lane < Vec::width; ++lane) sum += sums[lane];
  return static_cast<std::int32_t>(sum);
}

inline void scale_integers(float* y, const std::int16_t* x, std::size_t n, float scale) {
  const Vec factor = Vec::broadcast(scale);
  std::size_t i = 0;
  for (; i + Vec::width <= n; i += Vec::width) (widened(x + i) * factor).store(y + i);
  for (; i < n; ++i) y[i] = scale * static_cast<float>(x[i]);
}

inline void add_scaled_integers(float* y, const std::int32_t* x, std::size_t n, float scale) {
  const Vec factor = Vec::broadcast(scale);
  std::size_t i = 0;
  for (; i + Vec::width <= n; i += Vec::width) {
    (Vec::load(y + i) + factor * IntVec::load(x + i).to_float()).store(y + i);
  }
  for (; i < n; ++i) y[i] += scale * static_cast<float>(x[i]);
}

}  // namespace glassformer::GLASSFORMER_ISA
