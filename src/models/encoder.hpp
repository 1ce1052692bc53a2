#pragma once

#include <memory>
#include <vector>

#include "io/config.hpp"
#include "io/weights.hpp"
#include "layers/embedding.hpp"
#include "layers/encoder_layer.hpp"
#include "layers/positional_encoding.hpp"
#include "models/capture.hpp"

namespace glassformer {

/// Token ids to contextual vectors: embedding, positions, a stack of layers and, where the
/// configuration asks for it, a final norm.
class Encoder {
 public:
  Encoder(const ModelConfig& config, Compute compute, std::unique_ptr<Embedding> embed_tokens);

  /// Declares `embed_tokens`, `embed_positions`, `layers.N`, `layer_norm`.
  void declare(const ParameterScope& scope);

  /// The vectors [N, D] of the batch's tokens: a window on workspace.states. With
  /// request.capture, `maps` receives one attention map a sequence.
  View<2> operator()(const Batch& batch, const InspectionRequest& request,
                     std::vector<AttentionMap>& maps, Workspace& workspace) const;

  const std::vector<std::unique_ptr<EncoderLayer>>& layers() const { return layers_; }

  /// The first box of the figure alone: x [N, D] = embeddings with their positions.
  void embed(const Batch& batch, View<2> x) const;

 private:
  std::unique_ptr<Embedding> embed_tokens_;
  std::unique_ptr<PositionalEncoding> embed_positions_;
  std::vector<std::unique_ptr<EncoderLayer>> layers_;
  std::unique_ptr<LayerNorm> layer_norm_;  // none without a final norm
  std::size_t n_heads_;
};

}  // namespace glassformer
