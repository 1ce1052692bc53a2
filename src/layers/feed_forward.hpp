#pragma once

#include <cstddef>

#include "layers/linear.hpp"
#include "layers/workspace.hpp"

namespace glassformer {

/// x += fc2(activation(fc1(input))): "Attention Is All You Need", section 3.3.
class FeedForward {
 public:
  FeedForward(std::size_t d_model, std::size_t d_ff, Epilogue activation, Compute compute)
      : fc1_(d_model, d_ff, compute), fc2_(d_ff, d_model, compute), activation_(activation) {}

  /// Declares `fc1` [F, D] and `fc2` [D, F] with their biases.
  void declare(const ParameterScope& scope);

  /// x and input [n, D]; input may be x.
  void add_to(View<2> x, const ConstView<2>& input, Workspace& workspace) const;

 private:
  Linear fc1_, fc2_;
  Epilogue activation_;
};

}  // namespace glassformer
