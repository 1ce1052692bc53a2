#pragma once

#include <memory>
#include <span>
#include <vector>

#include "models/language_model.hpp"
#include "models/stack/encoder.hpp"

namespace glassformer {

/// The whole Transformer of "Attention Is All You Need", figure 1: an encoder, a decoder and a
/// projection onto the target vocabulary.
///
///     encoded = model.encode(sources, request, session)
///     state = model.begin(encoded, limits, request, session)
///     hidden = model.decode(state, {{.source = 0, .id = start}})  // node 0
///     logits = model.project(hidden, session)                     // [1, V]: its first token's
///     hidden = model.decode(state, {{.parent = 0, .id = a},       // node 1
///                                   {.parent = 0, .id = b}})      // node 2
class Seq2Seq final : public LanguageModel {
 public:
  /// Parameters allocate memory when they are loaded. All must be loaded before the first run.
  explicit Seq2Seq(const Architecture& architecture, Compute compute = Compute::f32);

  /// Returns every parameter by its checkpoint name. Each must be set once.
  std::vector<NamedParameter> parameters();

  struct Encoded {
    Batch sources;
    Tensor states;                        ///< [N, D]
    std::vector<AttentionMap> attention;  ///< the encoder's, for each source, if requested
    std::vector<std::vector<TracedTensor>> traces;  ///< one list for each source, if requested
  };
  /// Runs the encoder over a batch. The caller must check that requested heads exist and that
  /// lengths do not exceed the encoder's max_length.
  Encoded encode(const Batch& sources, const TraceRequest& request, Session& session) const;

  /// Returns the encoder's states [N, D], which are in the run's arena.
  View forward_sources(const Batch& sources, const Run& run) const;

  /// Starts a tree for these sources and computes their cross keys and values. Otherwise the same
  /// as LanguageModel::begin.
  DecodingState begin(const Encoded& encoded, const DecodingLimits& limits,
                      const TraceRequest& request, Session& session) const;

  std::vector<ModelTensor> tensors(Session& session) const override;

  const Encoder& encoder() const { return encoder_; }

 private:
  std::unique_ptr<Embedding> make_encoder_embedding() const;

  Encoder encoder_;
};

}  // namespace glassformer
