#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/fields.hpp"
#include "kernels/kernels.hpp"
#include "layers/attention/config.hpp"
#include "layers/embed/config.hpp"
#include "layers/feed_forward/config.hpp"
#include "layers/norm/config.hpp"
#include "layers/pooling/pooling.hpp"

namespace glassformer {

/// Maximum number of elements of a weight matrix, so that products of two sizes fit 32 bits.
inline constexpr std::uint64_t max_matrix_elements = 1 << 28;
inline constexpr std::uint64_t max_vocab_size = 1 << 24;
inline constexpr std::uint64_t max_width = 1 << 16;      ///< of d_model, d_ff and the like
inline constexpr std::uint64_t max_positions = 1 << 20;  ///< tokens
inline constexpr std::uint64_t max_layers = 1 << 10;

/// The mixing of a layer's rows: attention of some kind, or a recurrent unit.
enum class Mixer { full, local, linear, causal, recurrent };

/// One layer: a mixer and a feed-forward block, each with a residual connection and a norm. A
/// decoder layer behind an encoder has cross-attention between the two.
struct LayerConfig {
  Mixer mixer = Mixer::full;
  AttentionConfig attention;  ///< of the mixer, unless it is recurrent, and of cross-attention
  NormPlacement norm = NormPlacement::pre;
  bool attention_norm = true;  ///< false: the mixer reads its input without a norm
  bool residual = true;        ///< false: a sublayer's output replaces its input (an experiment)
  bool output_norms = false;   ///< x + norm(f(norm(x))): a second norm, on each sublayer's output
  bool parallel = false;       ///< both sublayers read the layer's input: x + f(x) + g(x)
  FeedForwardConfig feed_forward;

  bool operator==(const LayerConfig&) const = default;
};

/// Input that consists of token ids.
struct TokenInput {
  std::size_t vocab_size = 0;
  bool scale_embedding = false;  ///< multiply embeddings by sqrt(d_model)
  PositionKind positions = PositionKind::sinusoidal;
  /// For learned positions and `sinusoidal_endpoint`: the row of a sequence's first token.
  std::size_t position_offset = 0;
  /// The padding token, if it gets no position: it uses the row before the first.
  std::optional<std::int32_t> padding = {};
  bool zero_start = false;      ///< for a decoder: the start token's embedding is zeros
  std::size_t token_types = 0;  ///< 0: the model does not distinguish the texts of a pair
  /// The width of the embeddings, if a linear layer projects them to d_model; 0: they have d_model.
  std::size_t d_embedding = 0;
  bool norm = false;  ///< a norm on the sum of all embeddings

  bool operator==(const TokenInput&) const = default;
};

/// The buckets of the bias by distance that the layers of a stack share.
struct RelativeConfig {
  std::size_t buckets = 0;   ///< even: each direction has half of them
  std::size_t distance = 0;  ///< from here on, all distances share a bucket

  bool operator==(const RelativeConfig&) const = default;
};

/// A stack of layers with its input and its final norm: one column of "Attention Is All You Need",
/// figure 1.
struct StackConfig {
  std::variant<TokenInput, PatchInput> input;
  std::size_t d_model = 0;
  std::size_t max_length = 0;  ///< rows in a sequence
  std::vector<LayerConfig> layers = {};
  /// The layers are divided into this many groups of neighbors that share their weights. 0: each
  /// layer has its own.
  std::size_t layer_groups = 0;
  RelativeConfig relative;  ///< if there is a bias by distance, with or without other positions
  std::optional<DisentangledConfig> disentangled = {};  ///< the same for disentangled attention
  NormConfig layer_norm;
  bool final_norm = false;

  /// Returns the input. The stack must read tokens.
  TokenInput& tokens() { return std::get<TokenInput>(input); }
  const TokenInput& tokens() const { return std::get<TokenInput>(input); }
  std::size_t vocab_size() const { return tokens().vocab_size; }
  /// Returns the width of the embeddings, before a projection if there is one.
  std::size_t embedding_width() const {
    return tokens().d_embedding > 0 ? tokens().d_embedding : d_model;
  }
  /// Returns the number of query heads, which is the same in all layers.
  std::size_t n_heads() const { return layers.front().attention.n_heads; }
  /// Returns whether the layers have a recurrent unit instead of self-attention.
  bool recurrent() const { return layers.front().mixer == Mixer::recurrent; }
  /// Returns the number of the group of layers that shares the weights of this one.
  std::size_t group_of(std::size_t layer) const {
    return layer_groups == 0 ? layer : layer * layer_groups / layers.size();
  }
  /// Returns whether attention has a bias by distance.
  bool has_relative_bias() const { return relative.buckets > 0; }
  bool operator==(const StackConfig&) const = default;
};

/// Returns whether a stack reads pictures.
inline bool reads_pictures(const StackConfig& stack) {
  return std::holds_alternative<PatchInput>(stack.input);
}

/// Returns the size in bytes of one token's keys and values in a cache of this stack.
std::uint64_t cache_bytes(const StackConfig& stack);

/// A step in the computation of a text's vector, after pooling.
struct VectorModule {
  enum class Kind { dense, layer_norm, normalize };
  Kind kind = Kind::dense;
  std::size_t in = 0, out = 0;                 ///< sizes; 0 for `normalize`, which accepts any size
  bool bias = true;                            ///< for `dense`
  Activation activation = Activation::linear;  ///< for `dense`

  bool operator==(const VectorModule&) const = default;
};

/// The output that a head computes from a model's last states.
enum class HeadKind {
  sequence_classes,  ///< logits [C], for each sequence
  token_classes,     ///< logits [C], for each token
  spans,             ///< two logits for each token: an answer starts, or ends, there
  masked_tokens,     ///< logits [V], for each token: the tokens that may stand there
  vectors,           ///< the states themselves
  next_token,        ///< logits [V], for each position
};

/// A layer [D, D], or [E, D] before an embedding table [V, E], with an activation and, in some
/// models, a norm, before the logits.
struct HeadDense {
  Activation activation = Activation::tanh;
  bool bias = true;
  bool norm = false;  ///< after the activation, of the same kind as the stack's

  bool operator==(const HeadDense&) const = default;
};

struct HeadConfig {
  HeadKind kind = HeadKind::sequence_classes;
  /// Logits: classes, 2 for spans, the vocabulary written. Of a DualEncoder: the size of vectors.
  std::size_t outputs = 0;
  Pooling pooling = Pooling::mean;  ///< for sequence_classes
  std::optional<HeadDense> dense = {};
  /// For sequence_classes: a second classifier reads the second row, that of the distillation
  /// token, and the logits are the mean of both (Touvron et al. 2021, "Training data-efficient
  /// image transformers & distillation through attention").
  bool distilled = false;
  bool bias = true;
  bool scale_states = false;  ///< only for next_token: states are first divided by √d_model
  /// Only for next_token: logits become cap · tanh(logit / cap).
  std::optional<float> logit_cap = {};
  std::vector<VectorModule> modules = {};  ///< for `vectors`, in this order

  bool operator==(const HeadConfig&) const = default;
};

/// The embeddings that share one table: source, target and lm_head; the last stack's and lm_head;
/// no two of them; source and target. A model with one stack has the second or the third.
enum class EmbeddingSharing { shared, tied, separate, stacks };

/// A model: one or two stacks, and the head on the last one.
struct Architecture {
  std::optional<StackConfig> encoder, decoder;
  /// Of a DualEncoder, whose `encoder` reads pictures: the stack that reads texts.
  std::optional<StackConfig> text_encoder = {};
  HeadConfig head;
  EmbeddingSharing embeddings = EmbeddingSharing::separate;
  /// The first token that the decoder of a classifier reads, before the text without its last
  /// token.
  std::int32_t start_id = 0;

  /// Returns whether there are an encoder and a decoder that both read a text, to classify it.
  bool decodes_to_classify() const { return decoder && head.kind == HeadKind::sequence_classes; }
  bool operator==(const Architecture&) const = default;
};

template <>
inline constexpr std::array enum_names<Mixer>{"full", "local", "linear", "causal", "recurrent"};
template <>
inline constexpr std::array enum_names<Pooling>{"mean", "first", "last", "patches"};
template <>
inline constexpr std::array enum_names<VectorModule::Kind>{"dense", "layer_norm", "normalize"};
template <>
inline constexpr std::array enum_names<HeadKind>{"sequence_classes", "token_classes", "spans",
                                                 "masked_tokens",    "vectors",       "next_token"};
template <>
inline constexpr std::array enum_names<EmbeddingSharing>{"shared", "tied", "separate", "stacks"};

/// Visits the fields of a stack, which differ between tokens and pictures.
void fields(Fields& visitor, StackConfig& stack);

/// Reports the field that is invalid, of the encoder or of the decoder.
class FieldErrors {
 public:
  virtual ~FieldErrors() = default;
  [[noreturn]] virtual void fail(const StackConfig* stack, const char* field,
                                 const Message& problem) const = 0;
};

/// Checks a stack after its fields were read: products of sizes stay within
/// `max_matrix_elements`, and fields that depend on each other are consistent. Everything that a
/// model's code relies on is checked here.
void validate(const StackConfig& stack, const FieldErrors& errors);
void validate(const Architecture& architecture, const FieldErrors& errors);

}  // namespace glassformer
