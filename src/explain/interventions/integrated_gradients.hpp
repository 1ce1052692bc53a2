#pragma once

#include <cstddef>
#include <vector>

#include "explain/encoder_gradients.hpp"

namespace glassformer {

/// Integrated gradients (Sundararajan et al. 2017, equation 1) of a text's token embeddings, from
/// zeros to their values: (e - 0) · the mean of ∂y/∂e along the way, at the midpoints of equal
/// steps. Positions, types and the other tokens keep their values.
class IntegratedGradientsSum {
 public:
  /// `scaled`: the tokens whose embeddings begin at zero. The model must outlive this.
  IntegratedGradientsSum(const EncoderRunner& model, ExplainedText text,
                         std::vector<std::size_t> scaled, Contrast contrast);

  /// Computes the gradients at one point. If the sum misses the difference of the answers by more
  /// than 2 % after the last one, begins again with twice as many steps, up to 256. Returns whether
  /// anything is left.
  bool step();
  IntegratedGradients take();

 private:
  void begin(std::size_t steps);
  std::vector<float> embeddings_at(float share) const;
  Gradients gradients_at(float share) const;

  EncoderRunner model_;
  ExplainedText text_;
  std::vector<std::size_t> scaled_;
  Contrast contrast_;
  std::vector<float> embeddings_;  // [T, D]
  double full_ = 0, empty_ = 0;    // the answers at both ends
  std::size_t width_ = 0, steps_ = 0, next_ = 0;
  std::vector<double> sums_;  // [T] of the scores of all steps so far
};

}  // namespace glassformer
