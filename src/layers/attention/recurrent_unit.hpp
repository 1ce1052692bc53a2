#pragma once

#include "layers/attention/token_mixer.hpp"
#include "layers/linear/linear.hpp"

namespace glassformer {

/// A simpler simple recurrent unit that replaces a decoder's self-attention (Kim et al. 2019, "From
/// Research to Production and Back: Ludicrously Fast Neural Machine Translation", 3.2). Each
/// hypothesis has one state [D]. A gate mixes it with a new candidate:
///
///     state = gate · previous state + (1 - gate) · candidate,   gate = σ(gate_proj(input))
///
/// The initial state is zero. There are no attention weights.
class RecurrentUnit final : public TokenMixer {
 public:
  RecurrentUnit(std::size_t d_model, Compute compute)
      : d_model_(d_model), projections_(d_model, 2 * d_model, compute) {}

  /// Declares `candidate_proj` and `gate_proj`, each [D, D]; the second has a bias.
  void declare(const ParameterScope& scope) override;

  /// x += relu(state), x and input [R, D]; input may be x. Only for decoding steps: writes the new
  /// states to the step's own rows of the cache. Traces `candidate`, `gate`, `state` and `output`.
  void add_to(View x, const ConstView& input, const Run& run) const override;

 private:
  std::size_t d_model_;
  Linear projections_;  // one product for both
};

}  // namespace glassformer
