#pragma once

#include <string>
#include <vector>

#include "explain/contrast.hpp"
#include "explain/explained_text.hpp"
#include "explain/next_token.hpp"
#include "glassformer/explain.hpp"

namespace glassformer {

/// What ledger reads of a run of such a model.
std::vector<std::string> ledger_tensors(const EncoderModel& model);
std::vector<std::string> ledger_tensors(const LanguageModel& model);  // of its decoder

/// The exact parts of y = contrast · logits: direct logit attribution (Elhage et al. 2021, "A
/// Mathematical Framework for Transformer Circuits") with each norm's scale frozen, as a sum over
/// the residual stream. What is added to row i of the stream counts a_i · vector; a_i is the
/// answer's gradient, led back through the head and through the norms that stand on the stream: a
/// norm makes (γ ⊙ a - mean(γ ⊙ a)) / s of it (RMSNorm: without the mean) and gives a · β to the
/// biases. A head's part is context_i · W_Oᵀ a_i; by the token j that it reads, A_ij v_j · W_Oᵀ
/// a_i. Σ = y within 1e-4 · max(1, |y|) in f32.
///
/// Of a classifier pooling weights a row's gradient by p_i; a pooler's tanh multiplies it by
/// tanh(u) / u. Throws `unsupported` unless the head has a logit for each class of a text.
Ledger ledger(const EncoderModel& model, std::span<const TracedTensor> trace,
              const Contrast& contrast);
/// Of a decoder, whose next token is read from its last row: all else is written there, and heads
/// alone, or a recurrent unit, bring it what the other rows have, or the source's tokens. A unit's
/// state is Σ_j (Π_{k > j} gate_k) (1 - gate_j) candidate_j over the rows j so far, and relu a
/// multiplier.
Ledger ledger(const LanguageModel& model, const NextTokenRun& run, const Contrast& contrast);

/// Fills ledger.effects, a run or less for each column. `stream` is the same run's.
void measure_effects(const EncoderRunner& model, const ExplainedText& text, const Stream& stream,
                     const Contrast& contrast, Ledger& ledger);
/// One of them: how much y = `value` falls without this column; 0 of biases and rounding.
float effect_of(const WriterRunner& model, const DecodedText& text, const Contrast& contrast,
                double value, const LedgerColumn& column);

}  // namespace glassformer
