#pragma once

#include <span>

#include "kernels/kernels.hpp"
#include "run/run.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// sum += x, both of one shape.
void add(View sum, const ConstView& x, const Run& run);

/// x = 0.
void set_to_zero(View x, const Run& run);

/// y = factor · x, both of one shape; y may be x.
void scale(const ConstView& x, float factor, View y, const Run& run);

/// y [rows.size(), D] = the given rows of x [N, D].
void take_rows(const ConstView& x, std::span<const std::size_t> rows, View y, const Run& run);

/// x = most · tanh(x / most).
void cap(float most, View x, const Run& run);

/// x = activation(x).
void activate(Activation activation, View x, const Run& run);

/// y = activation(gate) · x, all of one shape, rows of gate and x `stride` floats apart.
void gate(Activation activation, const float* gates, const float* x, std::size_t stride, View y,
          const Run& run);

/// Turns the gradient of activation(x) into that of x. With relu, x may be its own result.
void activation_backward(Activation activation, const ConstView& x, const ConstView& result,
                         Tape& tape);

}  // namespace glassformer
