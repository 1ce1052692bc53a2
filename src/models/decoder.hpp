#pragma once

#include <memory>

#include "models/decoding_state.hpp"
#include "models/stack.hpp"

namespace glassformer {

/// Tokens of hypotheses to the vectors that predict the next ones.
class Decoder {
 public:
  /// `kind`: whether it attends to an encoder's states.
  Decoder(Stack::Kind kind, const StackConfig& config, Compute compute,
          std::unique_ptr<Embedding> embed_tokens)
      : stack_(kind, config, compute, std::move(embed_tokens)) {}

  void declare(const ParameterScope& scope) { stack_.declare(scope); }

  /// Computes the keys and values of the encoder's states [N, D] for every layer.
  void attend_to(const ConstView<2>& encoder_states, DecodingState& state,
                 Workspace& workspace) const;

  /// One step: the vectors [R, D] of the extensions' tokens, a window on workspace.states.
  View<2> operator()(DecodingState& state, std::span<const Extension> extensions,
                     Workspace& workspace) const;

  const Stack& stack() const { return stack_; }

  /// The first box of the figure alone: x [R, D] = embeddings of the last step's tokens with their
  /// positions.
  void embed(const DecodingState& state, View<2> x, const Run& run) const {
    stack_.embed(state.ids_, state.positions_, x, run);
  }

 private:
  Stack stack_;
};

}  // namespace glassformer
