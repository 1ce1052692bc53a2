#pragma once

#include <cstddef>

#include "kernels/kernels.hpp"
#include "kernels/pool.hpp"

namespace glassformer {

// Kernels on the threads of a pool, with the results that they have on one thread, bit for bit.

/// Kernels::matmul. Splits the columns of b or, if there are few, also the rows of a.
void matmul(const MatmulArgs& args, Pool& pool);
/// Kernels::matmul_bf16 or Kernels::matmul_f16, which `multiply` is.
void matmul(const HalfMatmulArgs& args, void (*multiply)(const HalfMatmulArgs&), Pool& pool);
/// Kernels::quantize of `x` into `args.a`, then Kernels::matmul_int8.
void matmul_int8(const float* x, const Int8MatmulArgs& args, Pool& pool);
/// Kernels::quantize of `x` into `args.a`, then Kernels::matmul_int4.
void matmul_int4(const float* x, const Int4MatmulArgs& args, Pool& pool);
/// Kernels::activate.
void activate(Activation activation, float* x, std::size_t n, Pool& pool);

}  // namespace glassformer
