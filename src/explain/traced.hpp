#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layers/linear/linear.hpp"
#include "models/stack/stack.hpp"
#include "models/stack/stack_input.hpp"
#include "run/trace/trace.hpp"

namespace glassformer {

/// Returns the tensor of this name. Throws `internal` if it was not traced.
const TracedTensor& find_traced(std::span<const TracedTensor> tensors, std::string_view name);

/// The stack whose answer is explained.
struct ExplainedStack {
  const Stack& stack;
  const StackInput& input;
  std::string_view name;  ///< the prefix of its tensors' names: "encoder" or "decoder"
};

/// Returns the stack of an encoder or a decoder.
ExplainedStack explained_stack(const auto& of, std::string_view name) {
  return {of.stack(), of.input(), name};
}

/// Returns "<stack>.layers.<layer>.<name>".
std::string layer_name(std::string_view stack, std::size_t layer, std::string_view name);
inline std::string encoder_layer_name(std::size_t layer, std::string_view name) {
  return layer_name("encoder", layer, name);
}

/// Returns a tensor [H, queries, keys] of each layer of a stack as one map.
AttentionMap map_of_layers(std::span<const TracedTensor> tensors, const ExplainedStack& of,
                           std::string_view tensor);

/// Returns W [out, in], row-major, of a linear layer, as floats even if it is stored as integers.
std::vector<float> dense_weights(const Linear& linear);

/// Returns Σ a[i] · b[i], summed in doubles.
double dot(const float* a, const float* b, std::size_t n);

}  // namespace glassformer
