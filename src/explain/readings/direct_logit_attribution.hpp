#pragma once

#include <string>
#include <vector>

#include "explain/contrast.hpp"
#include "explain/explained_text.hpp"
#include "explain/next_token.hpp"
#include "explain/readings/stream_ledger.hpp"
#include "explain/results.hpp"

namespace glassformer {

/// Returns the names of the tensors that `direct_logit_attribution` reads of a run of the model.
std::vector<std::string> attribution_tensors(const EncoderModel& model);
std::vector<std::string> attribution_tensors(const LanguageModel& model);  // of its decoder

/// Splits y = contrast · logits into exact parts: direct logit attribution (Elhage et al. 2021, "A
/// Mathematical Framework for Transformer Circuits") with each norm's scale frozen, as a sum over
/// the residual stream. A vector that is added to row i of the stream contributes a_i · vector,
/// where a_i is the answer's gradient, propagated back through the head and through the norms on
/// the stream. A norm turns it into (γ ⊙ a - mean(γ ⊙ a)) / s (RMSNorm: without the mean), and
/// contributes a · β to the biases. A head contributes context_i · W_Oᵀ a_i; split by the token j
/// that it reads, A_ij v_j · W_Oᵀ a_i. Σ = y within 1e-4 · max(1, |y|) in f32.
///
/// In a classifier, pooling weights a row's gradient by p_i, and a pooler's tanh multiplies it by
/// tanh(u) / u. If there is a decoder, the parts are its own, and the rows that its attention to
/// the encoder reads follow its rows. Throws `unsupported` unless the head has one logit per class
/// of a text.
LogitAttribution direct_logit_attribution(const EncoderModel& model,
                                          std::span<const TracedTensor> trace,
                                          const Contrast& contrast,
                                          const StreamLedger::Observer& observer = {});
/// Splits y of a decoder, whose next token is computed from its last row. All parts are written to
/// that row; only heads, or a recurrent unit, read the other rows or the source's tokens. A unit's
/// state is Σ_j (Π_{k > j} gate_k) (1 - gate_j) candidate_j over the rows j so far; relu is a
/// multiplier.
LogitAttribution direct_logit_attribution(const LanguageModel& model, const NextTokenRun& run,
                                          const Contrast& contrast,
                                          const StreamLedger::Observer& observer = {});

/// Fills attribution.effects, with at most one run per column. `stream` is that of the same run; it
/// is not read if there is a decoder.
void measure_effects(const EncoderRunner& model, const ExplainedText& text, const Stream& stream,
                     const Contrast& contrast, LogitAttribution& attribution);
/// Returns one effect: how much y = `value` falls without this column; 0 for biases and rounding.
float effect_of(const WriterRunner& model, const DecodedText& text, const Contrast& contrast,
                double value, const LogitColumn& column);

}  // namespace glassformer
