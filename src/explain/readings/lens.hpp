#pragma once

#include "explain/explained_text.hpp"
#include "explain/results.hpp"
#include "models/runner.hpp"

namespace glassformer {

/// Computes the logit lens (nostalgebraist 2020) of a classifier: applies the final norm, with the
/// statistics of each state, pooling and the head to each layer's residual. If a model answers from
/// the mean of its tokens, the text's logits are the mean of the tokens' logits. The last row is
/// the model's own answer. The head was not trained on early layers (Belrose et al. 2023): read the
/// direction of their logits rather than the size. Throws `unsupported` unless the head has one
/// logit per class of a text.
Lens lens(const EncoderRunner& model, const Stream& stream);

/// The number of tokens returned per row, and the number of tokens that have texts.
struct GuessLimits {
  std::size_t count, vocabulary;
};

/// Computes the logit lens of a decoder: the most probable next tokens, best first, that the final
/// norm and the projection give for each row of its stream [R, D], without their texts. Overwrites
/// the rows.
std::vector<std::vector<Guess>> lens(const WriterRunner& model, View stream,
                                     const GuessLimits& most);

}  // namespace glassformer
