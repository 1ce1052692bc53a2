#pragma once

// Integer sums of products, of 8-bit weights with 7-bit activations or of 16-bit pairs: the other
// half of simd.hpp.

#include "kernels/simd.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace glassformer::GLASSFORMER_ISA {

#if defined(__wasm_simd128__) && !defined(__wasm_relaxed_simd__)
using Activation = std::int16_t;
#else
using Activation = std::uint8_t;
#endif

/// Activations that one step multiplies: as many as fill 32 bits.
inline constexpr std::size_t int8_depth = 4 / sizeof(Activation);

/// Vec::width sums of products of weights, each sum's own, and activations that all share.
struct IntVec {
#if defined(__wasm_simd128__)
  v128_t lanes;

  static IntVec broadcast(std::int32_t value) { return {wasm_i32x4_splat(value)}; }
  static IntVec load(const std::int32_t* from) { return {wasm_v128_load(from)}; }
  void store(std::int32_t* to) const { wasm_v128_store(to, lanes); }
  Vec to_float() const { return {Vec::Batch(wasm_f32x4_convert_i32x4(lanes))}; }
  friend IntVec operator-(IntVec a, IntVec b) { return {wasm_i32x4_sub(a.lanes, b.lanes)}; }
  friend IntVec operator*(IntVec a, IntVec b) { return {wasm_i32x4_mul(a.lanes, b.lanes)}; }
#if defined(__wasm_relaxed_simd__)
  static v128_t weights(const std::int8_t* from) { return wasm_v128_load(from); }
#else
  static v128_t weights(const std::int8_t* from) { return wasm_i16x8_load8x8(from); }
#endif
  static v128_t activations(const std::byte* from) { return wasm_v128_load32_splat(from); }
  static v128_t pairs(const std::int16_t* from) { return wasm_v128_load(from); }
  static v128_t pair(const std::int16_t* from) { return wasm_v128_load32_splat(from); }
  IntVec plus_products(v128_t a, v128_t b) const {
    return {wasm_i32x4_add(lanes, wasm_i32x4_dot_i16x8(a, b))};
  }

#elif defined(__AVX512F__)
  __m512i lanes;

  static IntVec broadcast(std::int32_t value) { return {_mm512_set1_epi32(value)}; }
  static IntVec load(const std::int32_t* from) { return {_mm512_loadu_si512(from)}; }
  void store(std::int32_t* to) const { _mm512_storeu_si512(to, lanes); }
  Vec to_float() const { return {Vec::Batch(_mm512_cvtepi32_ps(lanes))}; }
  friend IntVec operator-(IntVec a, IntVec b) { return {_mm512_sub_epi32(a.lanes, b.lanes)}; }
  friend IntVec operator*(IntVec a, IntVec b) { return {_mm512_mullo_epi32(a.lanes, b.lanes)}; }
  static __m512i weights(const std::int8_t* from) { return _mm512_loadu_si512(from); }
  static __m512i activations(const std::byte* from) { return _mm512_set1_epi32(word(from)); }
  static __m512i pairs(const std::int16_t* from) { return _mm512_loadu_si512(from); }
  static __m512i pair(const std::int16_t* from) { return _mm512_set1_epi32(word(from)); }
  IntVec plus_products(__m512i a, __m512i b) const {
#if defined(__AVX512VNNI__)
    return {_mm512_dpwssd_epi32(lanes, a, b)};
#else
    return {_mm512_add_epi32(lanes, _mm512_madd_epi16(a, b))};
#endif
  }

#elif defined(__AVX2__)
  __m256i lanes;

  static IntVec broadcast(std::int32_t value) { return {_mm256_set1_epi32(value)}; }
  static IntVec load(const std::int32_t* from) { return {_mm256_loadu_si256(vector(from))}; }
  void store(std::int32_t* to) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), lanes); }
  Vec to_float() const { return {Vec::Batch(_mm256_cvtepi32_ps(lanes))}; }
  friend IntVec operator-(IntVec a, IntVec b) { return {_mm256_sub_epi32(a.lanes, b.lanes)}; }
  friend IntVec operator*(IntVec a, IntVec b) { return {_mm256_mullo_epi32(a.lanes, b.lanes)}; }
  static __m256i weights(const std::int8_t* from) { return _mm256_loadu_si256(vector(from)); }
  static __m256i activations(const std::byte* from) { return _mm256_set1_epi32(word(from)); }
  static __m256i pairs(const std::int16_t* from) { return _mm256_loadu_si256(vector(from)); }
  static __m256i pair(const std::int16_t* from) { return _mm256_set1_epi32(word(from)); }
  IntVec plus_products(__m256i a, __m256i b) const {
    return {_mm256_add_epi32(lanes, _mm256_madd_epi16(a, b))};
  }

#else  // any machine: the reference
  std::int32_t lanes[Vec::width];

  static IntVec broadcast(std::int32_t value) {
    IntVec all;
    for (std::int32_t& lane : all.lanes) lane = value;
    return all;
  }
  static IntVec load(const std::int32_t* from) {
    IntVec loaded;
    __builtin_memcpy(loaded.lanes, from, sizeof loaded.lanes);
    return loaded;
  }
  void store(std::int32_t* to) const { __builtin_memcpy(to, lanes, sizeof lanes); }
  Vec to_float() const {
    float values[Vec::width];
    for (std::size_t i = 0; i < Vec::width; ++i) values[i] = static_cast<float>(lanes[i]);
    return Vec::load(values);
  }
  friend IntVec operator-(IntVec a, IntVec b) {
    for (std::size_t i = 0; i < Vec::width; ++i) a.lanes[i] -= b.lanes[i];
    return a;
  }
  friend IntVec operator*(IntVec a, IntVec b) {
    for (std::size_t i = 0; i < Vec::width; ++i) a.lanes[i] *= b.lanes[i];
    return a;
  }
  static const std::int8_t* weights(const std::int8_t* from) { return from; }
  static const std::byte* activations(const std::byte* from) { return from; }
  static const std::int16_t* pairs(const std::int16_t* from) { return from; }
  static const std::int16_t* pair(const std::int16_t* from) { return from; }
  IntVec plus_products(const std::int16_t* a, const std::int16_t* b) const {
    IntVec sum = *this;
    for (std::size_t i = 0; i < Vec::width; ++i) {
      sum.lanes[i] += a[0] * b[2 * i] + a[1] * b[2 * i + 1];
    }
    return sum;
  }
#endif

 private:
  [[maybe_unused]] static std::int32_t word(const void* from) {
    std::int32_t value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
  }
#if defined(__AVX2__)
  static const __m256i* vector(const void* from) { return static_cast<const __m256i*>(from); }
#endif
};

// How a step adds `int8_depth` products to each sum. With activations in 0 … 127 nothing saturates
// or wraps on the way, so that all of these get the same sums.

#if defined(__wasm_relaxed_simd__)
/// One instruction where the processor has it (VNNI, SDOT); without it, five.
struct FusedDot {
  static IntVec add(v128_t weights, v128_t activations, IntVec sum) {
    return {wasm_i32x4_relaxed_dot_i8x16_i7x16_add(weights, activations, sum.lanes)};
  }
};
/// Three instructions everywhere on x86, where adding pairs would fetch the ones from memory.
struct PairwiseDot {
  static inline Held<std::int16_t> one = 1;
  v128_t ones = wasm_i16x8_splat(one);

  IntVec add(v128_t weights, v128_t activations, IntVec sum) const {
    const v128_t pairs = wasm_i16x8_relaxed_dot_i8x16_i7x16(weights, activations);
    return {wasm_i32x4_add(sum.lanes, wasm_i32x4_dot_i16x8(pairs, ones))};
  }
};
#else
struct Dot {
#if defined(__wasm_simd128__)
  static IntVec add(v128_t weights, v128_t activations, IntVec sum) {
    return {wasm_i32x4_add(sum.lanes, wasm_i32x4_dot_i16x8(weights, activations))};
  }
#elif defined(__AVX512VNNI__)
  static IntVec add(__m512i weights, __m512i activations, IntVec sum) {
    return {_mm512_dpbusd_epi32(sum.lanes, activations, weights)};
  }
#elif defined(__AVX512F__)
  static IntVec add(__m512i weights, __m512i activations, IntVec sum) {
    const __m512i pairs = _mm512_maddubs_epi16(activations, weights);
    return {_mm512_add_epi32(sum.lanes, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))};
  }
#elif defined(__AVX2__)
  static IntVec add(__m256i weights, __m256i activations, IntVec sum) {
    const __m256i pairs = _mm256_maddubs_epi16(activations, weights);
    return {_mm256_add_epi32(sum.lanes, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))};
  }
#else
  static IntVec add(const std::int8_t* weights, const std::byte* activations, IntVec sum) {
    for (std::size_t i = 0; i < Vec::width; ++i) {
      for (std::size_t j = 0; j < int8_depth; ++j) {
        sum.lanes[i] += weights[i * int8_depth + j] * static_cast<std::int32_t>(activations[j]);
      }
    }
    return sum;
  }
#endif
};
#endif

}  // namespace glassformer::GLASSFORMER_ISA
