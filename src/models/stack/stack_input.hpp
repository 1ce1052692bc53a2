#pragma once

#include "layers/linear/linear.hpp"
#include "layers/norm/norm.hpp"
#include "run/run.hpp"
#include "weights/parameter.hpp"

namespace glassformer {

/// Computes the input of a stack's first block. A subclass reads one kind of sequences: tokens or
/// pictures.
class StackInput {
 public:
  virtual ~StackInput() = default;

  virtual void declare(const ParameterScope& scope) = 0;

  /// Writes the rows of a batch to x [N, D]. Throws `internal` if this does not read such batches.
  virtual void operator()(const Batch& batch, View x, const Run& run) const;
  virtual void operator()(const Pictures& pictures, View x, const Run& run) const;
  /// Writes no rows, so that a tracer gets the name of every tensor.
  virtual void list(View x, const Run& run) const = 0;

  /// Returns the norm on the sum of all embeddings. May be null.
  virtual const Norm* layer_norm() const { return nullptr; }
  /// Returns the layer that projects the embeddings to the stack's width. May be null.
  virtual const Linear* projection() const { return nullptr; }
};

}  // namespace glassformer
