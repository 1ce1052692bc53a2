#pragma once

#include <string>
#include <vector>

#include "explain/explained_text.hpp"
#include "explain/gradients.hpp"
#include "explain/results.hpp"

namespace glassformer {

/// Returns the gradients of a contrast of a classifier's logits for a text, with some numbers
/// replaced. Throws `unsupported` if this program or the model's arithmetic has no gradients.
Gradients encoder_gradients(const EncoderRunner& model, const ExplainedText& text,
                            const Contrast& contrast, const std::vector<std::string>& names,
                            std::vector<Patch> patches = {},
                            BackwardRules rules = BackwardRules::gradients);

/// Gradient × input: Σ_D e ⊙ ∂y/∂e of each token's embedding e, [T] (Shrikumar et al. 2017). If
/// there is a decoder, first of its tokens, then of the encoder's, [2 T]. With other rules, what
/// these pass on is the gradient: the tokens' relevance. Throws `unsupported` for linear attention
/// then.
PropagatedRelevance gradient_times_input(const EncoderRunner& model, const ExplainedText& text,
                                         const Contrast& contrast,
                                         BackwardRules rules = BackwardRules::gradients);

/// The attention weights of all layers and their gradients, each [L, H, T, T].
struct WeightGradients {
  struct Maps {
    AttentionMap weights, gradients;
  };
  Maps encoder;
  Maps decoder = {}, cross = {};  ///< of a decoder to its own rows, and to the encoder's
};
WeightGradients weight_gradients(const EncoderRunner& model, const ExplainedText& text,
                                 const Contrast& contrast);

}  // namespace glassformer
