#pragma once

// Integer dot products: 8-bit or 4-bit weights by 7-bit activations, or pairs of 16-bit integers.
// The integer counterpart of simd.hpp.

#include "kernels/simd.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace glassformer::GLASSFORMER_ISA {

#if defined(__wasm_simd128__) && !defined(__wasm_relaxed_simd__)
using QuantizedActivation = std::int16_t;
#else
using QuantizedActivation = std::uint8_t;
#endif

/// The number of activations that one step multiplies; they fill 32 bits.
inline constexpr std::size_t int8_depth = 4 / sizeof(QuantizedActivation);

// Not the compiler's own register type: GCC 12 would store a sum of that type in every step.
using Integers [[gnu::vector_size(sizeof(std::int32_t) * Vec::width)]] = std::int32_t;

// The same at any address. For __builtin_memcpy of 32 bytes, GCC 12 would move two halves through
// the stack, where the next load of the whole waits for both.
using UnalignedIntegers
    [[gnu::vector_size(sizeof(std::int32_t) * Vec::width), gnu::aligned(4), gnu::may_alias]] =
        std::int32_t;

struct IntVec {
  Integers lanes;

  static IntVec broadcast(std::int32_t value) { return {Integers{} + value}; }
  static IntVec load(const std::int32_t* from) {
    return {*reinterpret_cast<const UnalignedIntegers*>(from)};
  }
  void store(std::int32_t* to) const { *reinterpret_cast<UnalignedIntegers*>(to) = lanes; }
  Vec to_float() const {
    using Floats [[gnu::vector_size(sizeof(float) * Vec::width)]] = float;
    const Floats converted = __builtin_convertvector(lanes, Floats);
    Vec same;
    __builtin_memcpy(&same.lanes, &converted, sizeof converted);
    return same;
  }

  friend IntVec operator+(IntVec a, IntVec b) { return {a.lanes + b.lanes}; }
  friend IntVec operator-(IntVec a, IntVec b) { return {a.lanes - b.lanes}; }
  friend IntVec operator*(IntVec a, IntVec b) { return {a.lanes * b.lanes}; }
};

// Stores integers narrowed to fewer bits. On wasm this uses the narrowing instructions: clang would
// shuffle bytes, and V8 would rebuild the shuffle's indices each time.
#ifdef __wasm_simd128__
inline v128_t as_shorts(Integers integers) {
  const v128_t lanes = __builtin_bit_cast(v128_t, integers);
  return wasm_i16x8_narrow_i32x4(lanes, lanes);
}
inline void store(Integers integers, std::int16_t* to) {
  wasm_v128_store64_lane(to, as_shorts(integers), 0);
}
inline void store(Integers integers, std::uint8_t* to) {
  const v128_t shorts = as_shorts(integers);
  wasm_v128_store32_lane(to, wasm_u8x16_narrow_i16x8(shorts, shorts), 0);
}
#else
template <typename Short>
inline void store(Integers integers, Short* to) {
  using Shorter [[gnu::vector_size(sizeof(Short) * Vec::width)]] = Short;
  const Shorter narrow = __builtin_convertvector(integers, Shorter);
  __builtin_memcpy(to, &narrow, sizeof narrow);
}
#if defined(__AVX2__) && !defined(__AVX512F__)
// GCC 12 would move the integers one by one. Those that do not fit come from rows that are not
// finite.
inline void store(Integers integers, std::uint8_t* to) {
  const __m256i lanes = (__m256i)integers;
  const __m128i low = _mm256_castsi256_si128(lanes), high = _mm256_extracti128_si256(lanes, 1);
  const __m128i shorts = _mm_packs_epi32(low, high);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(shorts, shorts));
}
#endif
#endif

// The operands of one step. `read` loads Vec::width groups of 32 bits from one matrix, one group
// per sum; `repeat` loads 32 bits from the other matrix, shared by all sums. The products within
// each group of 32 bits are added up.

#if defined(__wasm_simd128__)
using Register = v128_t;
inline Register read(const void* from) { return wasm_v128_load(from); }
inline Register repeat(const void* from) { return wasm_v128_load32_splat(from); }
inline IntVec products_of_pairs(Register a, Register b) {
  return {(Integers)wasm_i32x4_dot_i16x8(a, b)};
}
#elif defined(__AVX512F__)
using Register = __m512i;
inline Register read(const void* from) { return _mm512_loadu_si512(from); }
inline IntVec products_of_pairs(Register a, Register b) {
  return {(Integers)_mm512_madd_epi16(a, b)};
}
#elif defined(__AVX2__)
using Register = __m256i;
inline Register read(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
inline IntVec products_of_pairs(Register a, Register b) {
  return {(Integers)_mm256_madd_epi16(a, b)};
}
#else  // any other machine: the reference
using Register = Integers;
inline Register read(const void* from) {
  Register whole;
  __builtin_memcpy(&whole, from, sizeof whole);
  return whole;
}
inline IntVec products_of_pairs(Register a, Register b) {
  return {(a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16)};
}
#endif

#ifndef __wasm_simd128__
inline Register repeat(const void* from) {
  std::int32_t word;
  __builtin_memcpy(&word, from, sizeof word);
  return (Register)(Integers{} + word);
}
#endif

// Steps per loop iteration. V8 adds an interrupt check to every iteration, which is expensive if a
// step takes only a few instructions.
#ifdef __wasm_simd128__
inline constexpr std::size_t steps_of_pairs = 2;
#else
inline constexpr std::size_t steps_of_pairs = 1;
#endif

/// Adds the products of 16-bit pairs.
struct PairDot {
  static constexpr std::size_t steps_at_once = steps_of_pairs;

  IntVec add(Register a, Register b, IntVec sum) const {
#ifdef __AVX512VNNI__
    return {(Integers)_mm512_dpwssd_epi32((Register)sum.lanes, a, b)};
#else
    return sum + products_of_pairs(a, b);
#endif
  }
};

// The ways to add `int8_depth` products of 8-bit weights to each sum in one step. With activations
// in 0 … 127 nothing saturates or wraps on the way, so all of them give the same sums.

#if defined(__wasm_relaxed_simd__)
/// One instruction if the processor has it (VNNI, SDOT), otherwise five.
struct FusedDot {
  static constexpr std::size_t steps_at_once = 1;

  static Register weights(const std::int8_t* from) { return read(from); }

  IntVec add(Register weights, Register activations, IntVec sum) const {
    return {(Integers)wasm_i32x4_relaxed_dot_i8x16_i7x16_add(weights, activations,
                                                             (Register)sum.lanes)};
  }
};
/// Three instructions on every x86 processor. wasm's instruction that adds pairs would load the
/// ones from memory there.
struct PairwiseDot {
  static constexpr std::size_t steps_at_once = 1;
  static inline Held<std::int16_t> one = 1;
  Register ones = wasm_i16x8_splat(one);

  static Register weights(const std::int8_t* from) { return read(from); }

  IntVec add(Register weights, Register activations, IntVec sum) const {
    const Register pairs = wasm_i16x8_relaxed_dot_i8x16_i7x16(weights, activations);
    return sum + products_of_pairs(pairs, ones);
  }
};
#else
struct Dot {
  static constexpr std::size_t steps_at_once =
      sizeof(QuantizedActivation) == 2 ? steps_of_pairs : 1;

#if defined(__wasm_simd128__)
  static Register weights(const std::int8_t* from) { return wasm_i16x8_load8x8(from); }
#else
  static Register weights(const std::int8_t* from) { return read(from); }
#endif

  IntVec add(Register weights, Register activations, IntVec sum) const {
#if defined(__wasm_simd128__)
    return sum + products_of_pairs(activations, weights);
#elif defined(__AVX512VNNI__)
    return {(Integers)_mm512_dpbusd_epi32((Register)sum.lanes, activations, weights)};
#elif defined(__AVX512F__)
    return sum +
           products_of_pairs(_mm512_maddubs_epi16(activations, weights), _mm512_set1_epi16(1));
#elif defined(__AVX2__)
    return sum +
           products_of_pairs(_mm256_maddubs_epi16(activations, weights), _mm256_set1_epi16(1));
#else
    for (int byte = 24; byte >= 0; byte -= 8) {  // the products of the bytes, 32 bits each
      sum.lanes += (weights << (24 - byte) >> 24) * (activations << (24 - byte) >> 24);
    }
    return sum;
#endif
  }
};
#endif

/// Unpacks 4-bit weights. Each byte holds two, which become 16 times their value, so that no
/// instruction has to extend a sign.
class Nibbles {
 public:
  struct Pair {
    Register low, high;  // the weights of two steps
  };

#if defined(__wasm_simd128__) && !defined(__wasm_relaxed_simd__)
  Pair read_pair(const std::byte* from) const {
    const Register both = wasm_i16x8_load8x8(from);
    return {wasm_i16x8_shr(wasm_i16x8_shl(both, 12), 8), both & mask_};
  }

 private:
  static inline Held<std::int32_t> high_bits = ~0x000F000F;
#else
  Pair read_pair(const std::byte* from) const {
    const auto both = (Integers)read(from), mask = (Integers)mask_;
    return {(Register)(both << 4 & mask), (Register)(both & mask)};
  }

 private:
  static inline Held<std::int32_t> high_bits = ~0x0F0F0F0F;
#endif
  Register mask_ = (Register)(Integers{} + high_bits);
};

/// Loads bfloat16 numbers, the upper halves of floats.
inline Vec load_bfloats(const void* from) {
#if defined(__wasm_simd128__)
  return {Vec::Batch(wasm_i32x4_shl(wasm_u32x4_load16x4(from), 16))};
#elif defined(__AVX512F__)
  const __m256i halves = _mm256_loadu_si256(static_cast<const __m256i*>(from));
  return {Vec::Batch(_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16)))};
#elif defined(__AVX2__)
  const __m128i halves = _mm_loadu_si128(static_cast<const __m128i*>(from));
  return {Vec::Batch(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16)))};
#else
  using Halves [[gnu::vector_size(sizeof(std::uint16_t) * Vec::width)]] = std::uint16_t;
  Halves halves;
  __builtin_memcpy(&halves, from, sizeof halves);
  const Integers bits = __builtin_convertvector(halves, Integers) << 16;
  Vec same;
  __builtin_memcpy(&same.lanes, &bits, sizeof bits);
  return same;
#endif
}

// Whether the machine has an instruction for numbers in IEEE half precision.
#if defined(__F16C__) || defined(__ARM_NEON)
#define GLASSFORMER_LOADS_HALVES
/// Loads numbers in IEEE half precision.
inline Vec load_halves(const std::uint16_t* from) {
#if defined(__ARM_NEON)
  return {Vec::Batch(vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from))))};
#elif defined(__AVX512F__)
  return {Vec::Batch(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))))};
#else
  return {Vec::Batch(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))))};
#endif
}
#endif

}  // namespace glassformer::GLASSFORMER_ISA
