#pragma once

#include <span>

#include "layers/embed/config.hpp"
#include "layers/linear/linear.hpp"

namespace glassformer {

/// Maps the patches of a picture to vectors: each patch, flattened, times a learned matrix plus, in
/// most models, a bias (Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words", section 3.1).
/// This is a convolution whose stride is the size of its kernel.
class PatchEmbedding {
 public:
  PatchEmbedding(const PatchInput& input, std::size_t d_model, Compute compute);

  /// Declares `weight` [D, channels · height · width of a patch] and, with one, `bias` [D].
  void declare(const ParameterScope& scope);

  /// x [P, D] = the vectors of a picture's patches, row by row. `pixels`: [channels, height,
  /// width].
  void operator()(std::span<const float> pixels, std::size_t width, View x, const Run& run) const;

 private:
  PatchInput input_;
  Linear projection_;
};

}  // namespace glassformer
