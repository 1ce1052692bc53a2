#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "run/scope_path.hpp"
#include "run/trace/tracer.hpp"

namespace glassformer {

/// How many tokens a text and its answer have. The answer of a model with a decoder: the start
/// token and all but the last token that it writes. Without an encoder, the text is the answer's
/// beginning.
struct TextLengths {
  std::size_t source, target = 0;
};

/// A tensor between text and answer.
struct ModelTensor {
  /// The text length on which the size of an axis depends.
  enum class Axis { none, source, target };

  std::string name;
  Axis rows = Axis::none;   ///< none: it is one vector, or a table
  Axis keys = Axis::none;   ///< of scores and weights only
  std::size_t heads = 0;    ///< 0: it has no heads
  std::size_t entries = 0;  ///< rows of a table
  std::size_t columns = 0;  ///< of a row, or of one head's part of it
  std::size_t id = 0;       ///< two names with the same id mean the same tensor

  /// Returns whether it has rows, for tokens or in a table.
  bool has_rows() const { return rows != Axis::none || entries > 0; }
  /// [columns], [rows, columns], [rows, heads, columns] or [heads, rows, keys].
  std::vector<std::size_t> shape(const TextLengths& lengths) const;
};

/// Lists the tensors of a model, in the order of a run: a model passes a run over no rows by it, so
/// that the list is made by the code that makes the tensors.
///
///   encoder.embed_tokens, .embed_positions, .embed_types   the embeddings, before their sum
///   encoder.embed_patches                          of a picture, instead of embed_tokens
///   encoder.embeddings                             the input of layer 0
///   encoder.relative_embeddings                    the rows of distances, [2 span, D]
///   encoder.layers.0.input, .output                the stream before and after a block
///   ….self_attn_layer_norm, .final_layer_norm      a norm's result
///   ….self_attn.q, .k, .v, .context                [tokens, heads, d_head]
///   ….self_attn.scores, .weights                   [heads, queries, keys]; masked: -∞, 0
///   ….self_attn.output, .residual                  the term that is added; the stream after that
///   ….self_attn.candidate, .gate, .state           of a recurrent unit, instead of q to context
///   ….fc1, .fc2                                    after the activation; the term that is added
///   encoder.layer_norm, encoder.output             the final norm's result; the last states
///   pooled, head.dense, logits
///
/// A decoder's names begin with "decoder". It has a row per step and, behind an encoder,
/// `encoder_attn` in addition to `self_attn`. Linear attention has no scores. If positions are
/// relative or rotary, there is no `embed_positions`.
class TensorList final : public Tracer {
 public:
  /// The rows of the following tensors, and the keys of an attention to them.
  void set_rows(ModelTensor::Axis rows) { rows_ = rows; }
  std::vector<ModelTensor> take() { return std::move(tensors_); }

  void enter(std::string_view scope) override { path_.enter(scope); }
  void enter(std::size_t index) override { path_.enter(std::to_string(index)); }
  void leave() override { path_.leave(); }
  bool wants(std::string_view) const override { return true; }
  void done(std::string_view name, const CompleteRows& rows) override;
  void renamed(std::string_view name, const CompleteRows& rows) override;
  MapOutput map(MapKind kind, std::size_t index, const MapShape& shape) override;

 private:
  ModelTensor& add(std::string_view name);

  ModelTensor::Axis rows_ = ModelTensor::Axis::none;
  ScopePath path_;
  std::vector<ModelTensor> tensors_;
  std::size_t last_id_ = 0;
};

}  // namespace glassformer
