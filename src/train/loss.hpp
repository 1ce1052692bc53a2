#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/tensor.hpp"

namespace glassformer {

/// The right answer for a row of logits: one class, or a share of each.
struct Target {
  std::size_t row = 0;             ///< of the logits
  std::int32_t label = 0;          ///< the right class, if there are no shares
  std::vector<float> shares = {};  ///< [C], sum 1 (Hinton et al. 2015, "soft targets"); or empty
};

struct LossSum {
  double loss = 0;          ///< the sum over the targets
  std::size_t count = 0;    ///< of the targets
  std::size_t correct = 0;  ///< targets whose class has the largest logit

  LossSum& operator+=(const LossSum& other);
  double mean() const { return count > 0 ? loss / static_cast<double>(count) : 0; }
  double accuracy() const {
    return count > 0 ? static_cast<double>(correct) / static_cast<double>(count) : 0;
  }
};

/// The cross-entropy -Σ_c t_c log softmax(logits)_c of each target, where t is 1 - smoothing for
/// the right class plus smoothing / C for every class (Szegedy et al. 2016, section 7).
class CrossEntropy {
 public:
  explicit CrossEntropy(float smoothing) : smoothing_(smoothing) {}

  /// Returns the sum of the losses for logits [R, C].
  LossSum operator()(const ConstView& logits, const std::vector<Target>& targets) const;
  /// Adds the gradient of `weight` · that sum to `gradient` [R, C], which must be zero.
  LossSum backward(const ConstView& logits, const std::vector<Target>& targets, float weight,
                   View gradient) const;

 private:
  LossSum add(const ConstView& logits, const Target& target, float weight, float* gradient) const;

  float smoothing_;
};

}  // namespace glassformer
