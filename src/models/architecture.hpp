#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "layers/attention/attention_kind.hpp"
#include "layers/embed/positional_encoding.hpp"
#include "layers/norm/norm.hpp"
#include "layers/norm/residual.hpp"
#include "layers/pooling/pooling.hpp"

namespace glassformer {

/// What a stack of blocks is, and what leads into it and out of it. Nothing here says what the
/// stack is used for.
struct StackConfig {
  std::size_t vocab_size = 0;
  std::size_t max_length = 0;  ///< tokens in a sequence
  std::size_t layers = 0;
  std::size_t d_model = 0;
  std::size_t n_heads = 0;
  std::size_t d_head = 0;  ///< n_heads · d_head need not be d_model
  std::size_t d_ff = 0;

  bool scale_embedding = false;  ///< multiply embeddings by sqrt(d_model)
  PositionKind positions = PositionKind::sinusoidal;
  std::size_t position_offset = 0;    ///< learned only: the row of a sequence's first token
  std::size_t relative_buckets = 0;   ///< relative only: see RelativeBiasShape
  std::size_t relative_distance = 0;  ///< relative only
  /// A token that has no position and is not counted: it gets the row before the first.
  std::optional<std::int32_t> padding = {};
  /// Of a decoder: what it reads first, the start token, is embedded as zeros.
  bool zero_start = false;
  std::size_t token_types = 0;  ///< 0: the model does not tell texts of a pair apart
  bool embedding_norm = false;  ///< a norm on the sum of all embeddings

  NormPlacement norm = NormPlacement::pre;
  NormKind layer_norm = NormKind::standard;
  float layer_norm_eps = 0;
  bool final_norm = false;  ///< a norm after the last layer

  AttentionType attention = AttentionType::full;
  std::size_t attention_window = 0;         ///< local only: a query sees keys at most this far away
  bool attention_bias = false;              ///< biases in the q, k, v and out projections
  std::optional<float> score_divisor = {};  ///< of attention; none: √d_head
  bool divide_by_layer = false;             ///< layer N's scores are divided by N + 1 as well

  Activation activation = Activation::relu;
  bool gated = false;  ///< the feed-forward block has a gate
  bool feed_forward_bias = true;

  bool operator==(const StackConfig&) const = default;
};

/// A step from a text's pooled vector to the one that is given.
struct VectorModule {
  enum class Kind { dense, layer_norm, normalize };
  Kind kind = Kind::dense;
  std::size_t in = 0, out = 0;                 ///< sizes; 0 of `normalize`, which takes any
  bool bias = true;                            ///< of `dense`
  Activation activation = Activation::linear;  ///< of `dense`

  bool operator==(const VectorModule&) const = default;
};

/// What a model's last states become.
enum class HeadKind {
  sequence_classes,  ///< a logit for each class, once a sequence
  token_classes,     ///< a logit for each class, once a token
  spans,             ///< two logits a token: that an answer starts, or ends, there
  vectors,           ///< the states themselves
  next_token,        ///< a logit for each token of the vocabulary, once a position
};

struct HeadConfig {
  HeadKind kind = HeadKind::sequence_classes;
  std::size_t outputs = 0;               ///< logits: classes, 2 of spans, the target vocabulary
  Pooling pooling = Pooling::mean;       ///< of sequence_classes
  std::optional<Activation> dense = {};  ///< a layer [D, D] with it, between pooling and classes
  bool bias = true;
  bool scale_states = false;  ///< next_token only: states are divided by √d_model first
  std::vector<VectorModule> modules = {};  ///< of `vectors`, in their order

  bool operator==(const HeadConfig&) const = default;
};

/// Which embeddings are one table: source, target and lm_head; target and lm_head; none; source and
/// target. Of a decoder alone, the second or the third.
enum class EmbeddingSharing { shared, tied, separate, stacks };

/// A model: one stack or two, and what stands on the last.
struct Architecture {
  std::optional<StackConfig> encoder, decoder;
  HeadConfig head;
  EmbeddingSharing embeddings = EmbeddingSharing::separate;

  bool operator==(const Architecture&) const = default;
};

}  // namespace glassformer
