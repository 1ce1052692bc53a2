#pragma once

#include <span>
#include <string>
#include <vector>

#include "explain/gradients.hpp"
#include "explain/next_token.hpp"
#include "explain/results.hpp"

namespace glassformer {

// Gradients of the number that a contrast makes of a next token's logits. T tokens that the decoder
// has read, S source tokens; S = 0 without an encoder. All of these throw `unsupported` if this
// program or the model's arithmetic has no gradients, or the decoder has recurrent units.

/// Returns the gradients with respect to these tensors of the decoder and the encoder. Each has the
/// shape of its tensor; rows of the decoder are the tokens read. Throws `unsupported` for patches
/// of scores or weights.
Gradients next_token_gradients(const WriterRunner& model, const DecodedText& text,
                               const Contrast& contrast, const std::vector<std::string>& names,
                               std::span<const Patch> patches = {},
                               BackwardRules rules = BackwardRules::gradients);

/// Returns the embeddings of the tokens that the decoder reads, [T, D], and those of the source,
/// [S, D], if there is one.
std::vector<TracedTensor> next_token_embeddings(const WriterRunner& model, const DecodedText& text);

/// Gradient × input: Σ_D e ⊙ ∂y/∂e of each token's embedding e, [T + S] (Shrikumar et al. 2017).
/// With other rules, see gradient_times_input.
PropagatedRelevance next_gradient_times_input(const WriterRunner& model, const DecodedText& text,
                                              const Contrast& contrast,
                                              BackwardRules rules = BackwardRules::gradients);

/// Attention rollout of the row that predicts the next token, [T + S]; see rollout.hpp. Throws
/// `unsupported` for a decoder with recurrent units.
std::vector<float> next_rollout(const WriterRunner& model, const DecodedText& text);

/// Relevance (Chefer et al. 2021): the matrix [T, T + S] and the scores of its last row. Throws
/// `unsupported` for linear attention.
Relevance next_relevance(const WriterRunner& model, const DecodedText& text,
                         const Contrast& contrast);

}  // namespace glassformer
