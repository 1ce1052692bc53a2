// Compiled once per instruction set, which GLASSFORMER_ISA names. Includes neither xtensor nor
// standard-library code that could be emitted here: the linker keeps one copy of an inline
// function, possibly one that this machine cannot run.

#include "base/half.hpp"
#include "kernels/activation.hpp"
#include "kernels/backward/activation.hpp"
#include "kernels/backward/norm.hpp"
#include "kernels/backward/rows.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/gather.hpp"
#include "kernels/int16.hpp"
#include "kernels/kernels.hpp"
#include "kernels/learning.hpp"
#include "kernels/matmul.hpp"
#include "kernels/norm.hpp"
#include "kernels/quantize.hpp"
#include "kernels/softmax.hpp"

#define GLASSFORMER_QUOTE_(name) #name
#define GLASSFORMER_QUOTE(name) GLASSFORMER_QUOTE_(name)

namespace glassformer::GLASSFORMER_ISA {

template <typename Dot>
constexpr Kernels table_with() {
  Kernels table = {
      .name = GLASSFORMER_QUOTE(GLASSFORMER_ISA),
      .panel_width = panel_width,
      .int8_depth = int8_depth,
      .matmul = multiply<FloatProduct<Floats>>,
      .layer_norm = layer_norm,
      .layer_norm_unbiased = layer_norm_unbiased,
      .rms_norm = rms_norm,
      .exponentials = exponentials,
      .add_scaled = add_scaled,
      .scale = scale,
      .multiply = multiply,
      .activate = activate,
      .elu_plus_one = elu_plus_one,
  };
  if constexpr (keeps_halves) {
    table.matmul_bf16 = multiply<FloatProduct<BrainFloats>>;
#ifdef GLASSFORMER_LOADS_HALVES
    table.matmul_f16 = multiply<FloatProduct<HalfFloats>>;
#endif
  }
  table.matmul_int8 = multiply<Int8Product<Dot>>;
  table.matmul_int4 = multiply<Int4Product<Dot>>;
  table.matmul_int16 = multiply<Int16Product>;
  table.quantize = quantize;
  table.largest = largest;
  table.round_rows = round_rows;
  table.weigh = weigh;
  table.scale_integers = scale_integers;
  table.add_scaled_integers = add_scaled_integers;
  return table;
}

extern const WritingKernels writing_table;
const WritingKernels writing_table = {.log_sum_exp = log_sum_exp,
                                      .first_at_least = first_at_least,
                                      .dot_rows = dot_rows,
                                      .sum_rows = sum_rows};

extern const LearningKernels learning_table;
const LearningKernels learning_table = {
    .activate_backward = activate_backward,
    .layer_norm_backward = layer_norm_backward,
    .layer_norm_unbiased_backward = layer_norm_unbiased_backward,
    .rms_norm_backward = rms_norm_backward,
    .softmax_backward = softmax_backward,
    .add_rows = add_rows,
    .transpose = transpose,
    .dot = dot,
    .adam = adam,
};

#if defined(__wasm_relaxed_simd__)
extern const Kernels table, table_with_fused_dot;
const Kernels table = table_with<PairwiseDot>();
const Kernels table_with_fused_dot = table_with<FusedDot>();
#else
extern const Kernels table;
const Kernels table = table_with<Dot>();
#endif

}  // namespace glassformer::GLASSFORMER_ISA
