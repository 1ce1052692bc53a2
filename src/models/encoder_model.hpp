#pragma once

#include <memory>
#include <vector>

#include "models/encoder.hpp"
#include "models/head.hpp"
#include "models/vector_modules.hpp"
#include "run/tensor_list.hpp"

namespace glassformer {

/// An encoder and a head: it answers about a text, or about each of its tokens. It is const once
/// its parameters are loaded; what a call changes belongs to the session that the call gets.
class EncoderModel {
 public:
  /// Parameters take memory when they are loaded, and all must be before it runs.
  explicit EncoderModel(const Architecture& architecture, Compute compute = Compute::f32);

  /// Every parameter by its checkpoint name, each to be set once.
  std::vector<NamedParameter> parameters();

  struct Output {
    Tensor<2> logits;  ///< [B, C] or, of a head that answers for every token, [N, C]
    Tensor<2> states;  ///< [N, D] of a head that leaves them as they are; else empty
    std::vector<AttentionMap> attention;            ///< one per sequence, if asked for
    Tensor<2> contributions;                        ///< [N, C], if asked for; see Head
    std::vector<std::vector<TracedTensor>> traces;  ///< one list per sequence, if asked for
  };

  /// Runs a batch. Requested heads must exist and lengths must not exceed max_length: the caller
  /// has checked both.
  Output operator()(const Batch& batch, const TraceRequest& request, Session& session) const;

  /// Runs from block `first` on, from the states [N, D] that enter it, and returns the head's
  /// logits, or the last states if there is no head. If there are only `first` blocks, only the
  /// parts after them run. A tracer may observe the run's tensors, or replace them.
  Tensor<2> resume(const Sequences& sequences, std::size_t first, const ConstView<2>& states,
                   Session& session, Tracer* tracer = nullptr) const;

  /// Every tensor of a run, by name, in the order of the run.
  std::vector<ModelTensor> tensors(Session& session) const;

  /// Passes a text's pooled vector through the head's modules.
  std::vector<float> finish_vector(std::vector<float> pooled, Session& session) const {
    return modules_(std::move(pooled), session);
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
};

}  // namespace glassformer
