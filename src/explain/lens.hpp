#pragma once

#include "explain/explained_text.hpp"
#include "glassformer/explain.hpp"
#include "models/runner.hpp"

namespace glassformer {

/// The logit lens (nostalgebraist 2020) of a classifier: the final norm, with statistics of each
/// state's own, pooling and head on each layer's residual. Of a model that answers from the mean of
/// its tokens, the mean of the tokens' logits is the text's. The last row is the model's own
/// answer. Early layers are off what the head was trained on (Belrose et al. 2023): read their
/// direction rather than their size. Throws `unsupported` unless the head has a logit for each
/// class of a text.
Lens lens(const EncoderRunner& model, const Stream& stream);

/// How many tokens are named of a row, and how many there are texts for.
struct GuessLimits {
  std::size_t count, vocabulary;
};

/// The same of a decoder: the likeliest next tokens, best first, as the final norm and the
/// projection read them from each row of its stream [R, D], without their texts. The rows are
/// overwritten.
std::vector<std::vector<Guess>> lens(const WriterRunner& model, View<2> stream,
                                     const GuessLimits& most);

}  // namespace glassformer
