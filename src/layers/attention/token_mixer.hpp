#pragma once

#include "run/run.hpp"
#include "tensor/tensor.hpp"
#include "weights/parameter.hpp"

namespace glassformer {

/// A sublayer that passes information between tokens: self-attention, a recurrent unit that
/// replaces it, or attention over an encoder's output.
class TokenMixer {
 public:
  virtual ~TokenMixer() = default;

  virtual void declare(const ParameterScope& scope) = 0;
  /// x += f(input), x and input [N, D]; input may be x.
  virtual void add_to(View x, const ConstView& input, const Run& run) const = 0;
};

}  // namespace glassformer
