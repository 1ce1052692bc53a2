#pragma once

// Marks a function that the module exports.

#if defined(__EMSCRIPTEN__)
#include <emscripten/emscripten.h>
#define GLASSFORMER_EXPORT EMSCRIPTEN_KEEPALIVE
#else
#define GLASSFORMER_EXPORT
#endif
