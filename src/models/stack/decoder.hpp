#pragma once

#include <memory>

#include "models/decoding/decoding_state.hpp"
#include "models/stack/stack.hpp"
#include "models/stack/text_embeddings.hpp"

namespace glassformer {

/// A stack and its input. Turns the tokens of hypotheses into the vectors that predict the next
/// tokens.
class Decoder {
 public:
  /// `kind`: whether it attends to an encoder's states.
  Decoder(Stack::Kind kind, const StackConfig& config, Compute compute,
          std::unique_ptr<Embedding> embed_tokens)
      : input_(config, std::move(embed_tokens)), stack_(kind, config, compute) {}

  void declare(const ParameterScope& scope);

  /// Computes the keys and values of the encoder's states [N, D] for every layer. Traces them.
  void attend_to(const ConstView& encoder_states, DecodingState& state, Tracer* tracer) const;

  /// Runs one step. Returns the vectors [R, D] of the extensions' tokens, valid until the session
  /// runs something else.
  View operator()(DecodingState& state, std::span<const Extension> extensions) const;

  /// Runs all tokens of a batch at once, without a cache: x [N, D]. `states`: an encoder's, or
  /// null. Throws `unsupported` if it has recurrent units.
  void read(const Batch& batch, const ConstView* states, View x, Run& run) const;

  /// Runs block `layer` on x [N, D], in place, as `read` does.
  void block(std::size_t layer, const ConstView* states, View x, Run& run) const;

  /// Reserves memory in the state's session for steps of up to `rows` rows.
  void reserve(DecodingState& state, std::size_t rows) const;

  /// Passes a step without rows to a tracer, which gets every tensor's name.
  void list(DecodingState& state, Tracer& tracer) const;

  const Stack& stack() const { return stack_; }
  const TextEmbeddings& input() const { return input_; }

  /// Runs only the input of the stack: x [R, D] = embeddings of the last step's tokens with their
  /// positions.
  void embed(const DecodingState& state, View x, const Run& run) const {
    input_(state.ids_, state.positions_, x, run);
  }

 private:
  void run_step(DecodingState& state, View x, Run& run) const;
  // Returns a layer's keys and values of an encoder's states.
  KeyValueRows keys_values(std::size_t layer, const ConstView& states, const Run& run) const;
  void expect_attention() const;

  TextEmbeddings input_;
  Stack stack_;
};

}  // namespace glassformer
