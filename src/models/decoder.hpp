#pragma once

#include <memory>
#include <vector>

#include "io/config.hpp"
#include "io/weights.hpp"
#include "layers/decoder_layer.hpp"
#include "layers/embedding.hpp"
#include "layers/positional_encoding.hpp"
#include "models/decoding_state.hpp"

namespace glassformer {

/// Tokens of hypotheses to the vectors that predict the next ones: embedding, positions, a stack of
/// layers and, where the configuration asks for it, a final norm.
class Decoder {
 public:
  Decoder(const ModelConfig& config, Compute compute, std::unique_ptr<Embedding> embed_tokens);

  /// Declares `embed_tokens`, `embed_positions`, `layers.N`, `layer_norm`.
  void declare(const ParameterScope& scope);

  /// Computes the keys and values of the encoder's states [N, D] for every layer.
  void attend_to(const ConstView<2>& encoder_states, DecodingState& state,
                 Workspace& workspace) const;

  /// One step: the vectors [R, D] of the extensions' tokens, a window on workspace.states.
  View<2> operator()(DecodingState& state, std::span<const Extension> extensions,
                     Workspace& workspace) const;

  const std::vector<std::unique_ptr<DecoderLayer>>& layers() const { return layers_; }

  /// The first box of the figure alone: x [R, D] = embeddings of the last step's tokens with their
  /// positions.
  void embed(const DecodingState& state, View<2> x) const;

 private:
  std::unique_ptr<Embedding> embed_tokens_;
  std::unique_ptr<PositionalEncoding> embed_positions_;
  std::vector<std::unique_ptr<DecoderLayer>> layers_;
  std::unique_ptr<LayerNorm> layer_norm_;  // none without a final norm
};

}  // namespace glassformer
