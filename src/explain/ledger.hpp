#pragma once

#include <string>
#include <vector>

#include "explain/contrast.hpp"
#include "explain/explained_text.hpp"
#include "glassformer/explain.hpp"

namespace glassformer {

/// What ledger reads of a run of such a model.
std::vector<std::string> ledger_tensors(const EncoderModel& model);

/// The exact parts of y = contrast · logits, of a classifier: direct logit attribution (Elhage et
/// al. 2021, "A Mathematical Framework for Transformer Circuits") with each norm's scale frozen, as
/// a sum over the residual stream. What is added to row i of the stream counts a_i · vector; a_i is
/// the answer's gradient, led back through the head and through the norms that stand on the stream:
/// pooling weights it by p_i; a pooler's tanh multiplies it by tanh(u) / u; a norm makes
/// (γ ⊙ a - mean(γ ⊙ a)) / s of it (RMSNorm: without the mean) and gives a · β to the biases. A
/// head's part is context_i · W_Oᵀ a_i; by the token j that it reads, A_ij v_j · W_Oᵀ a_i.
/// Σ = y within 1e-4 · max(1, |y|) in f32. Throws `unsupported` unless the head has a logit for
/// each class of a text.
Ledger ledger(const EncoderModel& model, std::span<const TracedTensor> trace,
              const Contrast& contrast);

/// Fills ledger.effects, a run or less for each column. `stream` is the same run's.
void measure_effects(EncoderModel& model, const ExplainedText& text, const Stream& stream,
                     const Contrast& contrast, Ledger& ledger);

}  // namespace glassformer
