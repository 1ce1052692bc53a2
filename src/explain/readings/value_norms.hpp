#pragma once

#include <span>
#include <string>
#include <vector>

#include "explain/results.hpp"
#include "explain/traced.hpp"

namespace glassformer {

/// Returns the names of the tensors that value_norms reads of a run on this stack.
std::vector<std::string> value_norm_tensors(std::string_view stack = "encoder");

/// Computes value-weighted attention (Kobayashi et al. 2020, "Attention is Not Only a Weight"):
/// f(x) = (x W_V + b_V) W_O of a head, without b_O. `trace` has the tensors above, of one text.
ValueNorms value_norms(const ExplainedStack& of, std::span<const TracedTensor> trace);

}  // namespace glassformer
