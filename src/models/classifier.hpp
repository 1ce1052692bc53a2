#pragma once

#include <memory>
#include <vector>

#include "layers/pooling.hpp"
#include "models/encoder.hpp"

namespace glassformer {

/// An encoder whose pooled output a linear layer turns into one logit a class.
class EncoderClassifier {
 public:
  /// Parameters take memory when they are loaded, and all must be before it runs.
  explicit EncoderClassifier(const ModelConfig& config, Compute compute = Compute::f32);

  /// Every parameter by its checkpoint name, each to be set once.
  std::vector<Parameter> parameters();

  struct Output {
    Tensor<2> logits;                     ///< [B, C]
    std::vector<AttentionMap> attention;  ///< one a sequence, if captured
    /// What each token's final vector adds to each logit, if asked for: [N, C]. A sequence's rows
    /// and the classifier's bias sum to its logits, as pooling and classifier are both linear.
    Tensor<2> contributions;
  };

  /// Runs a batch. Requested heads must exist and lengths must not exceed max_source_length: the
  /// caller has checked both.
  Output operator()(const Batch& batch, const InspectionRequest& request);

  Compute compute() const { return compute_; }
  const Encoder& encoder() const { return encoder_; }
  const SequencePooling& pooling() const { return *pooling_; }

 private:
  Compute compute_;
  Encoder encoder_;
  std::unique_ptr<SequencePooling> pooling_;
  Linear classifier_;  // [D, C], always of floats: it is small, and the answer hangs on it
  Workspace workspace_;
};

}  // namespace glassformer
