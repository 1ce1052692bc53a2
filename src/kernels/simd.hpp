#pragma once

// The vector type that all kernels use. Only files compiled for one instruction set include this
// header. Everything in it is in that set's own namespace, so that the linker never merges code for
// different machines.

#include <cstddef>
#include <cstdint>
#include <xsimd/xsimd.hpp>

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

#ifndef GLASSFORMER_ISA
#error "compile this file through isa.cpp, with -DGLASSFORMER_ISA=<name>"
#endif

namespace glassformer::GLASSFORMER_ISA {

/// A constant that is read before a loop and kept in a register. V8 rebuilds a vector constant on
/// every iteration (4–5 instructions); reading it through a volatile loads it once.
template <typename Number>
using Held = const volatile Number;

// Whether a loop over several rows advances their pointers. x86 adds an offset to each row's start
// at no cost; V8 spends an instruction per row and step on it, which competes with the
// multiplications. So in wasm each row's pointer advances by itself; the asm keeps the compiler
// from deriving one from another.
#ifdef __wasm__
inline constexpr bool rows_move = true;
#else
inline constexpr bool rows_move = false;
#endif
template <typename Element>
inline const Element* moved(const Element* row) {
#ifdef __wasm__
  asm("" : "+r"(row));
#endif
  return row;
}

struct Vec {
  using Batch = xsimd::batch<float>;
  using IntBatch = xsimd::batch<std::int32_t>;
  static constexpr std::size_t width = Batch::size;
#if defined(__wasm_relaxed_simd__) || defined(__FMA__) || defined(__ARM_NEON)
  static constexpr bool fuses_multiply_add = true;
#else
  static constexpr bool fuses_multiply_add = false;
#endif

  Batch lanes;

  static Vec load(const float* from) { return {Batch::load_unaligned(from)}; }
  static Vec broadcast(float value) { return {Batch(value)}; }
  /// Sets all lanes to *from. On wasm this must be one instruction: a load and a splat cost twice
  /// as much.
  static Vec broadcast_from(const float* from) {
#ifdef __wasm_simd128__
    return {Batch(wasm_v128_load32_splat(from))};
#else
    return {Batch(*from)};
#endif
  }
  void store(float* to) const { lanes.store_unaligned(to); }

  /// Loads the first `count` <= width elements; the other lanes get `fill`.
  static Vec load_partial(const float* from, std::size_t count, float fill) {
    if (count == width) return load(from);
    alignas(64) float lanes[width];
    for (std::size_t i = 0; i < width; ++i) lanes[i] = i < count ? from[i] : fill;
    return {Batch::load_aligned(lanes)};
  }
  void store_partial(float* to, std::size_t count) const {
    if (count == width) return store(to);
    alignas(64) float buffer[width];
    lanes.store_aligned(buffer);
    for (std::size_t i = 0; i < count; ++i) to[i] = buffer[i];
  }

  friend Vec operator+(Vec a, Vec b) { return {a.lanes + b.lanes}; }
  friend Vec operator-(Vec a, Vec b) { return {a.lanes - b.lanes}; }
  friend Vec operator*(Vec a, Vec b) { return {a.lanes * b.lanes}; }
  friend Vec operator/(Vec a, Vec b) { return {a.lanes / b.lanes}; }
  friend Vec abs(Vec a) { return {xsimd::abs(a.lanes)}; }
  /// Returns the larger or the smaller one, or b if either is NaN. On wasm, xsimd returns a
  /// instead.
#ifdef __wasm_simd128__
  friend Vec max(Vec a, Vec b) { return {xsimd::max(b.lanes, a.lanes)}; }
  friend Vec min(Vec a, Vec b) { return {xsimd::min(b.lanes, a.lanes)}; }
#else
  friend Vec max(Vec a, Vec b) { return {xsimd::max(a.lanes, b.lanes)}; }
  friend Vec min(Vec a, Vec b) { return {xsimd::min(a.lanes, b.lanes)}; }
#endif

  /// Compares lane by lane.
  friend Batch::batch_bool_type operator>=(Vec a, Vec b) { return a.lanes >= b.lanes; }

  float maximum() const { return xsimd::reduce_max(lanes); }
};

/// a * b + c, rounded once if the machine can: faster than a product and a sum, but not the same on
/// every machine.
inline Vec multiply_add(Vec a, Vec b, Vec c) {
#ifdef __wasm_relaxed_simd__
  return {Vec::Batch(wasm_f32x4_relaxed_madd(a.lanes, b.lanes, c.lanes))};
#else
  return {xsimd::fma(a.lanes, b.lanes, c.lanes)};
#endif
}

/// Returns Σ value(i, count) over a row of n elements. `value` returns the `count` terms from the
/// i-th on as a vector, with zeros past them. Term i is added to lane i % 16 whatever the machine's
/// width, so that every machine rounds alike.
template <typename Value>
[[gnu::always_inline]] inline float sum_over(std::size_t n, const Value& value) {
  constexpr std::size_t lanes = 16, vectors = lanes / Vec::width;
  Vec sums[vectors];
  for (Vec& sum : sums) sum = Vec::broadcast(0.0f);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::size_t v = 0; v < vectors; ++v) {
      sums[v] = sums[v] + value(i + v * Vec::width, Vec::width);
    }
  }
  if (i < n) {
    alignas(64) float rest[lanes] = {};
    for (; i < n; i += Vec::width) {
      value(i, n - i < Vec::width ? n - i : Vec::width).store(rest + i % lanes);
    }
    for (std::size_t v = 0; v < vectors; ++v) {
      sums[v] = sums[v] + Vec::load(rest + v * Vec::width);
    }
  }
  // Adds lanes j and j + 8, then j and j + 4, then j and j + 2, then the last two.
  for (std::size_t half = vectors / 2; half > 0; half /= 2) {
    for (std::size_t v = 0; v < half; ++v) sums[v] = sums[v] + sums[v + half];
  }
  alignas(64) float last[Vec::width];
  sums[0].store(last);
  for (std::size_t half = Vec::width / 2; half > 2; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) last[lane] += last[lane + half];
  }
  return (last[0] + last[2]) + (last[1] + last[3]);
}

/// Returns Σ a · b of n elements.
inline float dot(const float* a, const float* b, std::size_t n) {
  return sum_over(n, [&](std::size_t i, std::size_t count) {
    return Vec::load_partial(a + i, count, 0.0f) * Vec::load_partial(b + i, count, 0.0f);
  });
}

/// 1.5 * 2^23. Adding it rounds a small number to an integer, to nearest, ties to even, and leaves
/// that integer in the low bits of the sum.
inline constexpr float rounder = 12582912.0f;
inline Held<float> held_rounder = rounder;

/// scale · 2^x for x <= 127, or 0 for x <= -127. Uses a polynomial of the given degree, lowest
/// power first, whose value at 0 is `scale`. NaN stays NaN.
template <std::size_t degree>
class Exp2 {
 public:
  explicit Exp2(Held<float> (&polynomial)[degree + 1]) {
    for (std::size_t i = 0; i <= degree; ++i) coefficients_[i] = Vec::broadcast(polynomial[i]);
  }

  Vec operator()(Vec x) const {
    // x = n + r with |r| <= 1/2; a shift moves n from the low bits into the float's exponent.
    x = max(lowest_, x);
    const Vec shifted = x + rounder_;
    const Vec r = x - (shifted - rounder_);
    Vec p = coefficients_[degree];
    for (std::size_t i = degree; i > 0; --i) p = p * r + coefficients_[i - 1];
    const auto exponent = xsimd::bitwise_cast<std::int32_t>(shifted.lanes) << 23;
    const auto scaled = xsimd::bitwise_cast<std::int32_t>(p.lanes) + exponent;
    return {xsimd::bitwise_cast<float>(Vec::IntBatch(scaled))};
  }

 private:
  static inline Held<float> lowest = -127.0f;

  Vec lowest_ = Vec::broadcast(lowest), rounder_ = Vec::broadcast(held_rounder);
  Vec coefficients_[degree + 1];
};

/// 2^x with a relative error below 2e-7. Uses the minimax polynomial of degree 5 with p(0) = 1; its
/// maximum relative error is 9.2e-8.
inline Exp2<5> precise_exp2() {
  static Held<float> polynomial[] = {1.0f,          6.9314700e-1f, 2.4022242e-1f,
                                     5.5507336e-2f, 9.6715167e-3f, 1.3264737e-3f};
  return Exp2<5>(polynomial);
}

inline constexpr float log2_e = 1.44269504f;

}  // namespace glassformer::GLASSFORMER_ISA
