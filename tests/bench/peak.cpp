// Peak probe: measures how many multiply-adds per second one core reaches, independently of any
// product kernel, in f32 and in 8-bit integers. Three ceilings:
//   chains  independent multiply-add chains in registers: arithmetic only
//   tile    a register tile fed from panels in the first-level cache: the upper bound for a
//           matrix product
//   stream  weights of a given size in bytes, read once and multiplied by a vector: the upper
//           bound for a matrix-vector product with weights in that memory level
// The native program prints them as JSON, in billions of operations per second. The wasm build
// exports the loops, and probe.mjs measures the time. A multiply-add counts as two operations, even
// if the instruction set needs several instructions for it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#ifdef __wasm__
#include <wasm_simd128.h>
#else
#include <chrono>
#include <cstdio>
#include <cstdlib>
#endif
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace {

// `lanes`: 32-bit lanes per register. The `rows` x `vectors` sums of a tile stay in registers; one
// more row would spill. `group`: how many neighboring 8-bit products one instruction adds into a
// lane.
#if defined(__wasm_relaxed_simd__)
constexpr std::size_t lanes = 4, rows = 6, rows8 = 6, group = 4;
#elif defined(__wasm_simd128__)
constexpr std::size_t lanes = 4, rows = 5, rows8 = 4, group = 2;
#elif defined(__AVX512VNNI__)
constexpr const char* isa = "avx512-vnni";
constexpr std::size_t lanes = 16, rows = 12, rows8 = 12, group = 4;
#elif defined(__AVX512BW__)
constexpr const char* isa = "avx512";
constexpr std::size_t lanes = 16, rows = 12, rows8 = 12, group = 4;
#elif defined(__AVX2__) && defined(__FMA__)
constexpr const char* isa = "avx2";
constexpr std::size_t lanes = 8, rows = 6, rows8 = 4, group = 4;
#else
constexpr const char* isa = "baseline";
constexpr std::size_t lanes = 4, rows = 6, rows8 = 4, group = 1;
#endif
constexpr std::size_t vectors = 2;
constexpr std::size_t chain_count = 12;
constexpr std::size_t depth = 256;         // of the panels, which take 14 to 44 KB
constexpr std::size_t stream_vectors = 8;  // sums in progress while weights are streamed

typedef float Floats __attribute__((vector_size(lanes * 4)));
typedef std::int32_t Sums __attribute__((vector_size(lanes * 4)));

Floats multiply_add(Floats a, Floats b, Floats c) {
#ifdef __wasm_relaxed_simd__
  return __builtin_wasm_relaxed_madd_f32x4(a, b, c);
#else
  return a * b + c;  // contracted to one instruction if there is one
#endif
}

// Returns c plus, per lane, the products of `group` neighbors. `a` has values from 0 to 127.
Sums multiply_add(Sums a, Sums b, Sums c) {
#if defined(__wasm_relaxed_simd__)
  return Sums(wasm_i32x4_relaxed_dot_i8x16_i7x16_add(v128_t(b), v128_t(a), v128_t(c)));
#elif defined(__wasm_simd128__)
  return c + Sums(wasm_i32x4_dot_i16x8(v128_t(a), v128_t(b)));
#elif defined(__AVX512VNNI__)
  return Sums(_mm512_dpbusd_epi32(__m512i(c), __m512i(a), __m512i(b)));
#elif defined(__AVX512BW__)
  const __m512i pairs = _mm512_maddubs_epi16(__m512i(a), __m512i(b));
  return c + Sums(_mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
#elif defined(__AVX2__)
  const __m256i pairs = _mm256_maddubs_epi16(__m256i(a), __m256i(b));
  return c + Sums(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#else
  return c + a * b;
#endif
}

Floats load(const float* from) { return *reinterpret_cast<const Floats*>(from); }

// Loads lanes x group weights.
Sums load(const std::int8_t* from) {
#if defined(__wasm_simd128__) && !defined(__wasm_relaxed_simd__)
  return Sums(wasm_i16x8_load8x8(from));
#else
  if constexpr (group == 4) {
    return *reinterpret_cast<const Sums*>(from);
  } else {
    typedef std::int8_t Bytes __attribute__((vector_size(lanes)));
    return __builtin_convertvector(*reinterpret_cast<const Bytes*>(from), Sums);
  }
#endif
}

template <class Vector, class Value>
Vector broadcast(const Value* value) {
#ifdef __wasm__
  return Vector(wasm_v128_load32_splat(value));
#else
  return *value - Vector{};  // free, since x - 0 is always x; 0 + -0 would not be -0
#endif
}

volatile float float_value = 0.999F;
volatile std::int32_t group_value = group == 4 ? 0x01020301 : group == 2 ? 0x00020001 : 3;
volatile std::int32_t sink;

template <class Vector>
void keep(Vector value) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < lanes; ++i) sum ^= static_cast<std::int32_t>(value[i]);
  sink = sum;
}

// The types of each precision: the left operand and the sums are 32 bits wide in both.
struct F32 {
  using Left = float;
  using Right = float;
  using Vector = Floats;
  static constexpr std::size_t tile_rows = rows, products = lanes;
  static float value() { return float_value; }
};
struct Int8 {
  using Left = std::int32_t;  // `group` neighboring values
  using Right = std::int8_t;
  using Vector = Sums;
  static constexpr std::size_t tile_rows = rows8, products = lanes * group;
  static std::int32_t value() { return group_value; }
};

// 16 MB, larger than a second-level cache. Read as bytes, they are ordinary numbers, too.
alignas(64) std::array<float, 4'000'000> weights;
const bool filled = (weights.fill(1.0F), true);  // all untouched pages would map to one page

template <class Type>
const typename Type::Right* right() {
  return reinterpret_cast<const typename Type::Right*>(weights.data());
}

// All functions below return the number of operations in `repeats` rounds.

template <class Type>
double run_chains(double repeats) {
  using Vector = typename Type::Vector;
  const Vector m = Vector{} + Type::value();
  std::array<Vector, chain_count> x{};
  for (std::size_t i = 0; i < chain_count; ++i) {
    x[i] = m + static_cast<typename Type::Left>(i);  // all different
  }
  const auto rounds = static_cast<std::size_t>(repeats) * depth;
  for (std::size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (std::size_t i = 0; i < chain_count; ++i) x[i] = multiply_add(x[i], m, m);
  }
  for (const Vector& value : x) keep(value);
  return 2.0 * static_cast<double>(rounds * chain_count * Type::products);
}

// Computes C [rows, vectors * lanes] += left panel x right panel.
template <class Type>
double run_tile(double repeats) {
  using Vector = typename Type::Vector;
  constexpr std::size_t tile_rows = Type::tile_rows;
  std::array<typename Type::Left, depth * tile_rows> left;
  left.fill(Type::value());
  const auto rounds = static_cast<std::size_t>(repeats);
  std::array<Vector, tile_rows * vectors> product{};
  for (std::size_t round = 0; round < rounds; ++round) {
    std::array<Vector, tile_rows * vectors> sum{};
    const auto* a = left.data();
    const auto* b = right<Type>();
#pragma GCC unroll 1
    for (std::size_t k = 0; k < depth; ++k, a += tile_rows, b += vectors * Type::products) {
#pragma GCC unroll 12
      for (std::size_t i = 0; i < tile_rows; ++i) {
        const Vector ai = broadcast<Vector>(a + i);
#pragma GCC unroll 2
        for (std::size_t j = 0; j < vectors; ++j) {
          sum[i * vectors + j] =
              multiply_add(ai, load(b + j * Type::products), sum[i * vectors + j]);
        }
      }
    }
    for (std::size_t i = 0; i < sum.size(); ++i) product[i] += sum[i];
  }
  for (const Vector& value : product) keep(value);
  return 2.0 * static_cast<double>(rounds * depth * tile_rows * vectors * Type::products);
}

// Computes C [n] += vector [depth] x weights [depth, n], with n chosen for about the given size in
// bytes.
template <class Type, std::size_t streams>
double run_stream(double bytes, double repeats) {
  using Vector = typename Type::Vector;
  constexpr std::size_t width = stream_vectors / streams;
  constexpr std::size_t panel = depth * width * Type::products;
  const auto panels = static_cast<std::size_t>(bytes) / (streams * panel * sizeof(*right<Type>()));
  std::array<typename Type::Left, depth> left;
  left.fill(Type::value());
  std::array<Vector, stream_vectors> product{};
  for (std::size_t round = 0; round < static_cast<std::size_t>(repeats); ++round) {
    const auto* b = right<Type>();
    for (std::size_t i = 0; i < panels; ++i) {
      std::array<Vector, stream_vectors> sum{};
#pragma GCC unroll 1
      for (std::size_t k = 0; k < depth; ++k, b += width * Type::products) {
        const Vector ak = broadcast<Vector>(left.data() + k);
#pragma GCC unroll 8
        for (std::size_t j = 0; j < stream_vectors; ++j) {
          const auto* const from = b + j / width * panels * panel + j % width * Type::products;
          sum[j] = multiply_add(ak, load(from), sum[j]);
        }
      }
      for (std::size_t j = 0; j < sum.size(); ++j) product[j] += sum[j];
    }
  }
  for (const Vector& value : product) keep(value);
  return 2.0 * repeats * static_cast<double>(streams * panels * panel);
}

/// Reads the weights as one stream, which is simplest, or as four alternating ones, which do not
/// all wait for memory at once.
template <class Type>
double run_stream(double bytes, double streams, double repeats) {
  return streams == 1 ? run_stream<Type, 1>(bytes, repeats) : run_stream<Type, 4>(bytes, repeats);
}

}  // namespace

#ifdef __wasm__
#define EXPORT(name) extern "C" __attribute__((export_name(#name))) double name
EXPORT(chains_f32)(double repeats) { return run_chains<F32>(repeats); }
EXPORT(chains_int8)(double repeats) { return run_chains<Int8>(repeats); }
EXPORT(tile_f32)(double repeats) { return run_tile<F32>(repeats); }
EXPORT(tile_int8)(double repeats) { return run_tile<Int8>(repeats); }
EXPORT(stream_f32)(double bytes, double streams, double repeats) {
  return run_stream<F32>(bytes, streams, repeats);
}
EXPORT(stream_int8)(double bytes, double streams, double repeats) {
  return run_stream<Int8>(bytes, streams, repeats);
}
#else
namespace {

/// Returns the best of many short runs, so that some are not interrupted.
template <class Loop>
double best(const Loop& loop) {
  double rate = 0;
  for (int run = 0; run < 60; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const double operations = loop();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    rate = std::max(rate, operations / time.count() * 1e-9);
  }
  return rate;
}

template <class Type>
void report(const char* precision, int argc, char** argv) {
  std::printf("\"%s\": {\"chains\": %.1f, \"tile\": %.1f, \"stream\": {", precision,
              best([] { return run_chains<Type>(2e3); }), best([] { return run_tile<Type>(2e3); }));
  for (int i = 1; i < argc; ++i) {
    const double bytes = std::atof(argv[i]);
    const auto rate = [bytes](double streams) {
      return best([=] { return run_stream<Type>(bytes, streams, 2e7 / bytes); });
    };
    std::printf("%s\"%s\": %.1f", i == 1 ? "" : ", ", argv[i], std::max(rate(1), rate(4)));
  }
  std::printf("}}");
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("{\"isa\": \"%s\", ", isa);
  report<F32>("f32", argc, argv);
  std::printf(", ");
  report<Int8>("int8", argc, argv);
  std::printf("}\n");
}
#endif
