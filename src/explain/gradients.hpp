#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "explain/contrast.hpp"
#include "kernels/compute.hpp"
#include "models/config.hpp"
#include "run/run.hpp"
#include "run/trace/patch.hpp"
#include "run/trace/traced_tensor.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// A term of the explained number: y = Σ weight · logits[row, column].
struct AnswerTerm {
  std::size_t row, column;
  float weight;
};
using AnswerTerms = std::vector<AnswerTerm>;

/// Returns the terms of a contrast of one row of logits.
AnswerTerms terms_of(const Contrast& contrast, std::size_t row);

/// The gradients of the explained number: ∂y/∂tensor, each with the shape of its tensor.
struct Gradients {
  double answer = 0;  ///< y
  std::vector<TracedTensor> tensors;
};

/// Throws `unsupported` if this program is linked without gradients. The linker removes the code
/// after a call of this from such a program.
inline void expect_linked_gradients() {
  if (make_linked_tape) return;
  throw_error(ErrorCode::unsupported,
              "gradients: expected a program that computes them, got one without them");
}

/// Appends Σ a · b of each row of two tensors [N, D].
void append_row_products(const TracedTensor& a, const TracedTensor& b, std::vector<float>& to);

/// Throws `unsupported` if this program, or this arithmetic, has no gradients.
void expect_gradients(Compute compute);

/// Runs `forward` over one text, or over one source and one target, and takes the pass back.
/// `forward` returns the logits, in the arena of the session; `answer` says what is explained.
/// `names`: see TraceRequest. `inner` replaces numbers by the patches; it may be null. Throws
/// `non_finite` if a gradient is not finite, and `unsupported` for patches of scores or weights.
/// With other rules than those of gradients, the tensors are what these rules pass on.
Gradients gradients_of(const std::function<View(Run&)>& forward,
                       const std::function<AnswerTerms(const ConstView& logits)>& answer,
                       std::span<const std::string> names, Session& session,
                       Tracer* inner = nullptr, std::span<const Patch> patches = {},
                       BackwardRules rules = BackwardRules::gradients);

/// Throws `unsupported` if these rules have none for the attention of a stack.
void expect_rules(const StackConfig& config, BackwardRules rules);

}  // namespace glassformer
