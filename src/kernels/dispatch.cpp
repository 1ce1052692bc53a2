// The only file that selects among the instruction sets of this build. CMakeLists.txt compiles
// isa.cpp once for each of them.

#include "kernels/kernels.hpp"
#include "kernels/learning.hpp"

#if defined(__wasm_relaxed_simd__)
#include <wasm_simd128.h>
#endif

namespace glassformer {

namespace baseline {
extern const Kernels table;  // the compiler's default target: SSE2 on x86-64, NEON on ARM64
extern const WritingKernels writing_table;
extern const LearningKernels learning_table;
}  // namespace baseline
namespace avx2 {
extern const Kernels table;
extern const WritingKernels writing_table;
extern const LearningKernels learning_table;
}  // namespace avx2
namespace avx512 {
extern const Kernels table;
extern const WritingKernels writing_table;
extern const LearningKernels learning_table;
}  // namespace avx512
namespace avx512vnni {
extern const Kernels table;
extern const WritingKernels writing_table;
extern const LearningKernels learning_table;
}  // namespace avx512vnni
namespace simd128 {
extern const Kernels table;
extern const WritingKernels writing_table;
extern const LearningKernels learning_table;
}  // namespace simd128
namespace relaxed {
extern const Kernels table, table_with_fused_dot;
extern const WritingKernels writing_table;
extern const LearningKernels learning_table;
}  // namespace relaxed

namespace {

#if defined(__wasm_relaxed_simd__)
// Returns whether the processor multiplies and adds bytes in one instruction. WebAssembly has no
// query for this, but the result of the relaxed instruction depends on the processor for
// activations above 127, here 255: VNNI reads the byte as unsigned, SDOT reads it as -1, and if
// several instructions do the work, sums of two products saturate at 16 bits. The baseline compiler
// of V8 11.3 (Node 20) gives yet another number, which is wrong; there, the version with several
// instructions is correct.
bool has_fused_dot() {
  volatile std::int8_t byte = 127;  // volatile prevents constant folding
  const v128_t weights = wasm_i8x16_splat(byte), activations = wasm_i8x16_splat(-1);
  const v128_t sums =
      wasm_i32x4_relaxed_dot_i8x16_i7x16_add(weights, activations, wasm_i32x4_splat(0));
  const int sum = wasm_i32x4_extract_lane(sums, 0);
  return sum == 4 * 127 * 255 || sum == 4 * 127 * -1;
}
#endif

std::vector<const Kernels*> find_available() {
  std::vector<const Kernels*> found;
#if defined(__wasm_relaxed_simd__)
  found.push_back(&relaxed::table);
  if (has_fused_dot()) found.push_back(&relaxed::table_with_fused_dot);
#elif defined(__wasm_simd128__)
  found.push_back(&simd128::table);
#else
  found.push_back(&baseline::table);
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c")) {
    found.push_back(&avx2::table);
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    found.push_back(&avx512::table);
    if (__builtin_cpu_supports("avx512vnni")) found.push_back(&avx512vnni::table);
  }
#endif
#endif
  return found;
}

}  // namespace

const std::vector<const Kernels*>& available_kernels() {
  static const std::vector<const Kernels*> available = find_available();
  return available;
}

const Kernels& kernels() {
  static const Kernels& best = *available_kernels().back();
  return best;
}

const WritingKernels& writing_kernels([[maybe_unused]] const Kernels& kernels) {
#if defined(__wasm_relaxed_simd__)
  return relaxed::writing_table;
#elif defined(__wasm_simd128__)
  return simd128::writing_table;
#else
#if defined(__x86_64__)
  if (&kernels == &avx2::table) return avx2::writing_table;
  if (&kernels == &avx512::table) return avx512::writing_table;
  if (&kernels == &avx512vnni::table) return avx512vnni::writing_table;
#endif
  return baseline::writing_table;
#endif
}

const WritingKernels& writing_kernels() {
  static const WritingKernels& best = writing_kernels(kernels());
  return best;
}

const LearningKernels& learning_kernels([[maybe_unused]] const Kernels& kernels) {
#if defined(__wasm_relaxed_simd__)
  return relaxed::learning_table;
#elif defined(__wasm_simd128__)
  return simd128::learning_table;
#else
#if defined(__x86_64__)
  if (&kernels == &avx2::table) return avx2::learning_table;
  if (&kernels == &avx512::table) return avx512::learning_table;
  if (&kernels == &avx512vnni::table) return avx512vnni::learning_table;
#endif
  return baseline::learning_table;
#endif
}

const LearningKernels& learning_kernels() {
  static const LearningKernels& best = learning_kernels(kernels());
  return best;
}

bool has_relaxed_simd() {
#if defined(__wasm_relaxed_simd__)
  return true;
#else
  return false;
#endif
}

}  // namespace glassformer
