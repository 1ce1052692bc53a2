#pragma once

#include <memory>
#include <vector>

#include "models/encoder.hpp"
#include "models/head.hpp"
#include "models/vector_modules.hpp"

namespace glassformer {

/// An encoder and a head: it answers about a text, or about each of its tokens.
class EncoderModel {
 public:
  /// Parameters take memory when they are loaded, and all must be before it runs.
  explicit EncoderModel(const Architecture& architecture, Compute compute = Compute::f32);

  /// Every parameter by its checkpoint name, each to be set once.
  std::vector<Parameter> parameters();

  struct Output {
    Tensor<2> logits;  ///< [B, C] or, of a head that answers for every token, [N, C]
    Tensor<2> states;  ///< [N, D] of a head that leaves them as they are; else empty
    std::vector<AttentionMap> attention;            ///< one a sequence, if asked for
    Tensor<2> contributions;                        ///< [N, C], if asked for; see Head
    std::vector<std::vector<TracedTensor>> traces;  ///< one list a sequence, if asked for
  };

  /// Runs a batch. Requested heads must exist and lengths must not exceed max_length: the caller
  /// has checked both.
  Output operator()(const Batch& batch, const TraceRequest& request);

  /// What the head makes of a run from block `first` on, of the states [N, D] that enter it: its
  /// logits, or the last states where there is no head. With `first` as many as there are blocks
  /// only what follows them runs. A tracer may look at the run's tensors, or replace them.
  Tensor<2> resume(const Sequences& sequences, std::size_t first, const ConstView<2>& states,
                   Tracer* tracer = nullptr);

  /// What the head's modules make of a text's pooled vector.
  std::vector<float> finish_vector(std::vector<float> pooled) {
    return modules_(std::move(pooled), workspace_);
  }

  Compute compute() const { return compute_; }
  const Encoder& encoder() const { return encoder_; }
  const Head& head() const { return *head_; }
  const HeadConfig& head_config() const { return head_config_; }

 private:
  HeadConfig head_config_;
  Compute compute_;
  Encoder encoder_;
  std::unique_ptr<Head> head_;  // null: none
  VectorModules modules_;
  Workspace workspace_;
};

}  // namespace glassformer
