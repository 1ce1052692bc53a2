// Peak probe: how many float multiply-adds a second one core reaches here, apart from any product
// kernel. Two ceilings:
//   chains  independent multiply-add chains that live in registers: the arithmetic alone
//   tile    a register tile fed from panels in the first-level cache: the best a matrix product
//           can hope for
// Natively it is a program that prints {"isa", "chains", "tile"} in GFLOP/s; as wasm it exports
// both loops, and bench.mjs holds the clock. A multiply-add counts as two operations, also where
// the instruction set needs two instructions for it.
#include <array>
#include <cstddef>

#ifdef __wasm__
#include <wasm_simd128.h>
#else
#include <algorithm>
#include <chrono>
#include <cstdio>
#endif

namespace {

#if defined(__wasm_relaxed_simd__)
constexpr std::size_t lanes = 4, rows = 6;
#elif defined(__wasm_simd128__)
constexpr std::size_t lanes = 4, rows = 5;  // a sixth row spills: the product needs a register
#elif defined(__AVX512F__)
constexpr const char* isa = "avx512";
constexpr std::size_t lanes = 16, rows = 12;
#elif defined(__AVX2__) && defined(__FMA__)
constexpr const char* isa = "avx2";
constexpr std::size_t lanes = 8, rows = 6;
#else
constexpr const char* isa = "baseline";
constexpr std::size_t lanes = 4, rows = 6;
#endif
constexpr std::size_t vectors = 2;  // rows x vectors accumulators
constexpr std::size_t chain_count = 12;
constexpr std::size_t depth = 256;  // panels: 256 x (rows + vectors * lanes) floats, 14 to 44 KB

typedef float Vector __attribute__((vector_size(lanes * sizeof(float))));

Vector multiply_add(Vector a, Vector b, Vector c) {
#ifdef __wasm_relaxed_simd__
  return __builtin_wasm_relaxed_madd_f32x4(a, b, c);
#else
  return a * b + c;                         // contracted to one instruction where there is one
#endif
}

Vector broadcast(const float* value) {
#ifdef __wasm__
  return wasm_v128_load32_splat(value);
#else
  return Vector{} + *value;
#endif
}

volatile float sink;
volatile float factor = 0.999F, term = 0.001F;

void keep(Vector value) {
  float sum = 0;
  for (std::size_t i = 0; i < lanes; ++i) sum += value[i];
  sink = sum;
}

alignas(64) std::array<float, depth * rows> left;
alignas(64) std::array<Vector, depth * vectors> right;
alignas(64) std::array<Vector, rows * vectors> product;

}  // namespace

#ifdef __wasm__
#define EXPORT(name) extern "C" __attribute__((export_name(name)))
#else
#define EXPORT(name) static
#endif

/// Runs `repeats` rounds and returns how many floating-point operations that was.
EXPORT("chains") double chains(double repeats) {
  const Vector m = Vector{} + factor, c = Vector{} + term;
  std::array<Vector, chain_count> x{};
  for (std::size_t i = 0; i < chain_count; ++i) x[i] = c * static_cast<float>(i);  // all different
  const auto rounds = static_cast<std::size_t>(repeats) * depth;
  for (std::size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (std::size_t i = 0; i < chain_count; ++i) x[i] = multiply_add(x[i], m, c);
  }
  for (const Vector& value : x) keep(value);
  return 2.0 * static_cast<double>(rounds * chain_count * lanes);
}

/// C[rows, vectors * lanes] += left panel x right panel, `repeats` times; returns the operations.
EXPORT("tile") double tile(double repeats) {
  const float a_value = factor, b_value = term;
  left.fill(a_value);
  right.fill(Vector{} + b_value);
  const auto rounds = static_cast<std::size_t>(repeats);
  product.fill(Vector{});
  for (std::size_t round = 0; round < rounds; ++round) {
    std::array<Vector, rows * vectors> sum{};
    const float* a = left.data();
    const Vector* b = right.data();
#pragma GCC unroll 1
    for (std::size_t k = 0; k < depth; ++k, a += rows, b += vectors) {
#pragma GCC unroll 12
      for (std::size_t i = 0; i < rows; ++i) {
        const Vector ai = broadcast(a + i);
#pragma GCC unroll 2
        for (std::size_t j = 0; j < vectors; ++j) {
          sum[i * vectors + j] = multiply_add(ai, b[j], sum[i * vectors + j]);
        }
      }
    }
    for (std::size_t i = 0; i < sum.size(); ++i) product[i] += sum[i];
  }
  for (const Vector& value : product) keep(value);
  return 2.0 * static_cast<double>(rounds * depth * rows * vectors * lanes);
}

#ifndef __wasm__
namespace {

double gflops(double (*probe)(double)) {
  double best = 0;
  for (int run = 0; run < 100; ++run) {  // short, so that some run is not interrupted
    const auto start = std::chrono::steady_clock::now();
    const double operations = probe(5e3);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::max(best, operations / time.count() * 1e-9);
  }
  return best;
}

}  // namespace

int main() {
  std::printf("{\"isa\": \"%s\", \"chains\": %.1f, \"tile\": %.1f}\n", isa, gflops(chains),
              gflops(tile));
}
#endif
