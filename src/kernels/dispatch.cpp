// The one place that knows which instruction sets this build holds and picks among them.
// CMakeLists.txt compiles isa.cpp for each of them.

#include "kernels/kernels.hpp"

namespace glassformer {

namespace baseline {
extern const Kernels table;  // whatever the compiler's target has: SSE2 on x86-64, NEON on ARM64
}
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}
namespace avx512vnni {
extern const Kernels table;
}
namespace simd128 {
extern const Kernels table;
}
namespace relaxed {
extern const Kernels table;
}

namespace {

std::vector<const Kernels*> find_available() {
  std::vector<const Kernels*> found;
#if defined(__wasm_relaxed_simd__)
  found.push_back(&relaxed::table);
#elif defined(__wasm_simd128__)
  found.push_back(&simd128::table);
#else
  found.push_back(&baseline::table);
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
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

}  // namespace glassformer
