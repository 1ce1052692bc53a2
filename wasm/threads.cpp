// What a binary with threads has in addition; see src/kernels/pool.hpp and wasm/src/engine/threads.ts.

#include <emscripten/emscripten.h>

#include <cstddef>

#include "binding.hpp"
#include "kernels/pool.hpp"

namespace {

using namespace glassformer;

constexpr std::size_t page = 65536;

}  // namespace

extern "C" {

// Makes the calling thread number `thread` of the pool, from 1. Does not return.
EMSCRIPTEN_KEEPALIVE void gf_thread(std::size_t thread) { Pool::serve(thread); }

// Says that a thread has failed.
EMSCRIPTEN_KEEPALIVE void gf_thread_lost() { Pool::lose_thread(); }

// Sets the number of threads of the loaded model, the calling one included.
EMSCRIPTEN_KEEPALIVE void gf_set_threads(std::size_t threads) {
  if (instance.pipeline) instance.pipeline->set_threads(threads);
}

// These functions would be imported from Emscripten's scripts.

EMSCRIPTEN_KEEPALIVE int emscripten_resize_heap(std::size_t size) {
  const std::size_t pages = (size + page - 1) / page, now = __builtin_wasm_memory_size(0);
  return pages <= now || __builtin_wasm_memory_grow(0, pages - now) != std::size_t(-1);
}

EMSCRIPTEN_KEEPALIVE void _abort_js() { __builtin_trap(); }

}  // extern "C"
