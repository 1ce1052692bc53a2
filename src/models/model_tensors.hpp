#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/architecture.hpp"

namespace glassformer {

/// How many tokens a text has, and its answer: of a model with a decoder, the start token and all
/// but the last of what it puts out. Where there is no encoder, the text is the answer's beginning.
struct TextLengths {
  std::size_t source, target = 0;
};

/// A tensor between text and answer.
struct ModelTensor {
  /// What an extent counts.
  enum class Axis { none, source, target };

  std::string name;
  Axis rows = Axis::none;   ///< none: it is one vector
  Axis keys = Axis::none;   ///< of scores and weights alone
  std::size_t heads = 0;    ///< 0: it is not of heads
  std::size_t columns = 0;  ///< of a row, or of one head's
  std::size_t place = 0;    ///< names of one place stand for one tensor

  /// [columns], [rows, columns], [rows, heads, columns] or [heads, rows, keys].
  std::vector<std::size_t> shape(const TextLengths& lengths) const;
};

/// Every tensor that a run of such a model shows, in the order of the run:
///
///   encoder.embed_tokens, .embed_positions, .embed_types   what was looked up, what is added
///   encoder.embeddings                             what enters layer 0
///   encoder.layers.0.input, .output                the stream before and after a block
///   ….self_attn_layer_norm, .final_layer_norm      a norm's result
///   ….self_attn.q, .k, .v, .context                [tokens, heads, d_head]
///   ….self_attn.scores, .weights                   [heads, queries, keys], what is masked -∞, 0
///   ….self_attn.output, .residual                  what is added; the stream after that
///   ….self_attn.candidate, .gate, .state           of a recurrent unit: no q to context
///   ….fc1, .fc2                                    after the activation; what is added
///   encoder.layer_norm, encoder.output             the final norm's result; what is read next
///   pooled, head.dense, logits
///
/// A decoder's begin with "decoder", have a row for each step and, behind an encoder,
/// `encoder_attn` beside `self_attn`. Linear attention has no scores. Where positions are relative
/// there is no `embed_positions`, and scores have their bias.
std::vector<ModelTensor> tensors_of(const Architecture& architecture);

}  // namespace glassformer
