// Vectors of sixteen floats, for attention.cpp and writer/kernels.cpp. bfloat16 numbers are 16-bit patterns.
#pragma once
#include <cstdint>
#include <cstring>
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

namespace {

constexpr int width = 16;  // lanes; also the only head size of attention.cpp
using Floats = float __attribute__((vector_size(64)));
using Ints = std::int32_t __attribute__((vector_size(64)));
using Bits = std::uint32_t __attribute__((vector_size(64)));
using Halves = std::uint16_t __attribute__((vector_size(32)));

Floats load(const float* from) {
  Floats values;
  std::memcpy(&values, from, sizeof values);
  return values;
}

void store(float* to, Floats values) { std::memcpy(to, &values, sizeof values); }

Floats load(const std::uint16_t* from) {
  Halves halves;
  std::memcpy(&halves, from, sizeof halves);
  return reinterpret_cast<Floats>(__builtin_convertvector(halves, Bits) << 16);
}

// Rounds to nearest, ties to even.
void store(std::uint16_t* to, Floats values) {
#ifdef __AVX512BF16__
  const __m256bh halves = _mm512_cvtneps_pbh(reinterpret_cast<__m512>(values));
#else
  Bits bits = reinterpret_cast<Bits>(values);
  bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const Halves halves = __builtin_convertvector(bits, Halves);
#endif
  std::memcpy(to, &halves, sizeof halves);
}

// exp(x) for x <= about 0, relative error below 1e-5.
Floats exp_of(Floats x) {
  Floats y = x * 1.44269504f;
  y = y < -120.0f ? Floats{} - 120.0f : y;
  const Ints whole = __builtin_convertvector(y - 0.5f, Ints);
  const Floats r = y - __builtin_convertvector(whole, Floats);
  const Floats power = 1.0f + r * (0.69314718f + r * (0.24022651f + r * (0.05550411f + r * (0.00961813f +
                       r * 0.00133336f))));
  return reinterpret_cast<Floats>(reinterpret_cast<Ints>(power) + (whole << 23));
}

float sum_of(Floats values) {
  float sum = 0;
  for (int i = 0; i < width; ++i) sum += values[i];
  return sum;
}

}  // namespace
