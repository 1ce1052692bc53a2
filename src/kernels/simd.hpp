#pragma once

// The vector type that every kernel is written on. This header is included only by files compiled
// for one instruction set; everything in it lives in that set's own namespace, so that the linker
// never merges code made for different machines.

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

/// A constant for a loop to keep in a register: to be read before it. A vector whose lanes the
/// compiler knows, V8 makes anew in every turn, in four or five instructions.
template <typename Number>
using Held = const volatile Number;

// How a loop reads along several rows at once. x86 adds a step to each row's start for nothing; V8
// makes that an instruction a row and step, which wait for the units that multiply. There the rows
// themselves move, each for itself as far as the compiler knows.
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
  /// All lanes = *from. On wasm this must be one instruction: a load and a splat cost twice as
  /// much.
  static Vec broadcast_from(const float* from) {
#ifdef __wasm_simd128__
    return {Batch(wasm_v128_load32_splat(from))};
#else
    return {Batch(*from)};
#endif
  }
  void store(float* to) const { lanes.store_unaligned(to); }

  /// The first `count` <= width elements; the other lanes hold `fill`.
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
  /// The larger one and the smaller one; b where either is not a number. On wasm xsimd's give a.
#ifdef __wasm_simd128__
  friend Vec max(Vec a, Vec b) { return {xsimd::max(b.lanes, a.lanes)}; }
  friend Vec min(Vec a, Vec b) { return {xsimd::min(b.lanes, a.lanes)}; }
#else
  friend Vec max(Vec a, Vec b) { return {xsimd::max(a.lanes, b.lanes)}; }
  friend Vec min(Vec a, Vec b) { return {xsimd::min(a.lanes, b.lanes)}; }
#endif

  /// Which lanes of a are at least those of b.
  friend Batch::batch_bool_type operator>=(Vec a, Vec b) { return a.lanes >= b.lanes; }

  float maximum() const { return xsimd::reduce_max(lanes); }
};

/// a * b + c, rounded once where the machine can: faster than a product and a sum, and not the same
/// on every machine.
inline Vec multiply_add(Vec a, Vec b, Vec c) {
#ifdef __wasm_relaxed_simd__
  return {Vec::Batch(wasm_f32x4_relaxed_madd(a.lanes, b.lanes, c.lanes))};
#else
  return {xsimd::fma(a.lanes, b.lanes, c.lanes)};
#endif
}

/// Σ value(i, count) over a row of n elements: value gives the `count` terms from the i-th on, as a
/// vector with zeros past them. Term i is added in lane i % 16 whatever the machine's width, so
/// that every machine rounds alike.
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
  // Lanes j and j + 8, then j and j + 4, then j and j + 2, then the last two.
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

/// 1.5 * 2^23: adding it rounds a small number to an integer, to nearest even, and leaves that in
/// the low bits of the sum.
inline constexpr float rounder = 12582912.0f;
inline Held<float> held_rounder = rounder;

/// scale · 2^x for x <= 127 through a polynomial of the given degree, lowest power first, which is
/// `scale` at 0; 0 from -127 down. What is not a number stays none.
template <std::size_t degree>
class Exp2 {
 public:
  explicit Exp2(Held<float> (&polynomial)[degree + 1]) {
    for (std::size_t i = 0; i <= degree; ++i) coefficients_[i] = Vec::broadcast(polynomial[i]);
  }

  Vec operator()(Vec x) const {
    // x = n + r with |r| <= 1/2; a shift moves n from the low bits into a float's exponent.
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

/// 2^x with a relative error below 2e-7: the polynomial of degree 5 with p(0) = 1 whose largest
/// relative error is least, 9.2e-8.
inline Exp2<5> precise_exp2() {
  static Held<float> polynomial[] = {1.0f,          6.9314700e-1f, 2.4022242e-1f,
                                     5.5507336e-2f, 9.6715167e-3f, 1.3264737e-3f};
  return Exp2<5>(polynomial);
}

inline constexpr float log2_e = 1.44269504f;

}  // namespace glassformer::GLASSFORMER_ISA
