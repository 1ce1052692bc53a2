#pragma once

#include "io/weights.hpp"
#include "layers/run.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// What lets the tokens of a sequence know of one another, the first sublayer of a block:
/// self-attention, or a recurrent unit in its place.
class TokenMixer {
 public:
  virtual ~TokenMixer() = default;

  virtual void declare(const ParameterScope& scope) = 0;
  /// x += f(input), x and input [N, D]; input may be x.
  virtual void add_to(View<2> x, const ConstView<2>& input, const Run& run) const = 0;
};

}  // namespace glassformer
