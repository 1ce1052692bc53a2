// What a binary with threads has in addition; see src/kernels/pool.hpp and
// wasm/src/engine/threads.ts.

#include <cstddef>
#include <cstdlib>

#include "export.hpp"
#include "kernels/pool.hpp"

namespace {

using namespace glassformer;

constexpr std::size_t page = 65536;

extern "C" void __wasm_init_tls(void* memory);

// Sets the first thread's own variables, before all other constructors. Exceptions need them.
[[gnu::constructor(48)]] void set_thread_variables() {
  __wasm_init_tls(std::aligned_alloc(16, (__builtin_wasm_tls_size() + 15) / 16 * 16));
}

}  // namespace

extern "C" {

// Makes the calling thread number `thread` of the pool, from 1. Does not return.
GLASSFORMER_EXPORT void gf_thread(std::size_t thread) { Pool::serve(thread); }

// Says that a thread has failed.
GLASSFORMER_EXPORT void gf_thread_lost() { Pool::lose_thread(); }

// These functions would be imported from Emscripten's scripts.

GLASSFORMER_EXPORT int emscripten_resize_heap(std::size_t size) {
  const std::size_t pages = (size + page - 1) / page, now = __builtin_wasm_memory_size(0);
  return pages <= now || __builtin_wasm_memory_grow(0, pages - now) != std::size_t(-1);
}

GLASSFORMER_EXPORT void _abort_js() { __builtin_trap(); }

}  // extern "C"
