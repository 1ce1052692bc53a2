#pragma once

#include <memory>
#include <vector>

#include "models/heads/head.hpp"
#include "models/heads/vector_modules.hpp"
#include "models/stack/decoder.hpp"
#include "models/stack/encoder.hpp"
#include "run/trace/tensor_list.hpp"

namespace glassformer {

/// An encoder and a head: computes an output for a text or for each of its tokens. It is const once
/// its parameters are loaded. State that a call changes is stored in the session passed to it.
///
/// Some classifiers have a decoder, too, which reads the same text, shifted by one token, and whose
/// states the head reads (Lewis et al. 2020, section 3.1).
class EncoderModel {
 public:
  /// Parameters allocate memory when they are loaded. All must be loaded before the first run.
  explicit EncoderModel(const Architecture& architecture, Compute compute = Compute::f32);
  /// Does the same for an encoder with another input than tokens, such as PatchEmbeddings.
  EncoderModel(const Architecture& architecture, Compute compute,
               std::unique_ptr<StackInput> input);
  /// Shares the encoder of another model without a decoder. The head's parameters must be loaded.
  EncoderModel(const EncoderModel& of, const HeadConfig& config, std::unique_ptr<Head> head);

  /// Returns every parameter by its checkpoint name. Each must be set once.
  std::vector<NamedParameter> parameters();

  struct Output {
    Tensor logits;  ///< [B, C], or [N, C] if the head has an output per token
    Tensor states;  ///< [N, D] if the head leaves the states unchanged, otherwise empty
    std::vector<AttentionMap> attention;            ///< per sequence, if requested
    std::vector<AttentionMap> decoder_attention;    ///< the same, of a decoder to its own rows
    std::vector<AttentionMap> cross_attention;      ///< and to the encoder's
    Tensor contributions;                           ///< [N, C], if requested; see Head
    std::vector<std::vector<TracedTensor>> traces;  ///< one list for each sequence, if requested
  };

  /// Runs a batch. The caller must check that requested heads exist and that lengths do not exceed
  /// max_length.
  /// `rows`: the tokens whose logits are computed, by a head with an output per token; empty:
  /// all.
  Output operator()(const Batch& batch, const TraceRequest& request, Session& session,
                    std::span<const std::size_t> rows = {}) const;
  Output operator()(const Pictures& pictures, const TraceRequest& request, Session& session) const;

  /// Returns the head's logits, or the states if there is no head, for the sequences of a run. They
  /// are in the run's arena. A head with an output per token computes those of `rows` only, unless
  /// it is empty.
  View forward(const Batch& batch, std::span<const std::size_t> rows, Run& run) const;
  View forward(const Pictures& pictures, Run& run) const;

  /// Runs blocks `first` … on `states` [N, D], and returns the head's logits, or the last states if
  /// there is no head. If `first` is the number of blocks, only the parts after them run. A tracer
  /// may observe or replace the run's tensors. If there is a decoder, these are its blocks and
  /// states; throws `unsupported` unless `first` is their number.
  Tensor resume(const Sequences& sequences, std::size_t first, const ConstView& states,
                Session& session, Tracer* tracer = nullptr) const;

  /// Runs block `layer` on `states` [N, D] and returns its output. There must be no decoder.
  Tensor block(const Sequences& sequences, std::size_t layer, const ConstView& states,
               Session& session, Tracer* tracer = nullptr) const;

  /// Returns every tensor of a run by name, in the order of the run.
  std::vector<ModelTensor> tensors(Session& session) const;

  /// Passes a text's pooled vector through the head's modules.
  std::vector<float> finish_vector(std::vector<float> pooled, Session& session) const {
    return modules_(std::move(pooled), session);
  }

  const VectorModules& modules() const { return modules_; }

  Compute compute() const { return compute_; }
  const Encoder& encoder() const { return *encoder_; }
  /// Returns the decoder. May be null.
  const Decoder* decoder() const { return decoder_.get(); }
  const Head& head() const { return *head_; }
  const HeadConfig& head_config() const { return head_config_; }

 private:
  View states_of(const Batch& batch, const Run& run) const;
  View states_of(const Pictures& pictures, const Run& run) const;
  View decoded(const Batch& batch, const ConstView& encoded, const Run& run) const;
  View answer(const View& states, std::span<const std::size_t> rows, const Run& run) const;
  template <class AnyBatch>
  Output run(const AnyBatch& batch, const TraceRequest& request, Session& session,
             std::span<const std::size_t> rows) const;

  HeadConfig head_config_;
  Compute compute_;
  std::int32_t start_id_ = 0;                // of the decoder's text
  std::unique_ptr<Head> head_;               // may be null
  std::unique_ptr<Embedding> embed_tokens_;  // of both stacks; null if there is no decoder
  std::shared_ptr<Encoder> encoder_;         // may use the head's weight as its embedding table
  std::unique_ptr<Decoder> decoder_;         // may be null
  VectorModules modules_;
};

}  // namespace glassformer
