#pragma once

#include <span>
#include <string>
#include <vector>

#include "glassformer/explain.hpp"
#include "models/encoder.hpp"

namespace glassformer {

/// What value_norms reads of a run.
std::vector<std::string> value_norm_tensors();

/// Value-weighted attention (Kobayashi et al. 2020, "Attention is Not Only a Weight"):
/// f(x) = (x W_V + b_V) W_O of a head, without b_O. `trace` has the tensors above, of one text.
ValueNorms value_norms(const Encoder& encoder, std::span<const TracedTensor> trace);

}  // namespace glassformer
