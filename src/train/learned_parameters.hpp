#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "run/tape.hpp"
#include "weights/parameter.hpp"

namespace glassformer {

/// The parameters of a model while it learns. Each keeps its plain values, which the optimizer
/// changes, in addition to the packed copy from which its layer computes.
class LearnedParameters {
 public:
  /// A named part of a gradient's buffer: several names may share one.
  struct Part {
    std::string name;
    std::vector<std::size_t> shape;
    std::span<float> value;
    std::size_t slot;   ///< of its buffer in ParameterGradients
    std::size_t first;  ///< its first number in that buffer

    std::size_t size() const { return value.size(); }
    std::span<float> of(ParameterGradients& gradients) const {
      return gradients.of(slot).subspan(first, size());
    }
  };

  /// Takes the parameters of a model of floats, which must be loaded and must outlive this. Throws
  /// `internal` for 8-bit integers.
  explicit LearnedParameters(std::vector<NamedParameter> parameters);

  std::span<const Part> parts() const { return parts_; }
  std::size_t count() const;  ///< of numbers

  /// Returns gradients of all parameters, set to zero.
  ParameterGradients make_gradients() const { return ParameterGradients(sizes_); }

  /// Makes the layers compute from the current values. Sessions that ran before must forget their
  /// tables.
  void pack();
  /// Does so for the values of one part.
  void pack(std::size_t part);

 private:
  std::vector<NamedParameter> parameters_;
  std::vector<Part> parts_;
  std::vector<std::size_t> sizes_;
};

}  // namespace glassformer
