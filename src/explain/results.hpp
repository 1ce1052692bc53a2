#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/attention_map.hpp"

// Explanations of a model's answer. Shapes: T tokens, L layers, H heads, C labels. If a classifier
// has a decoder, scores and attributions have 2 T rows: the tokens that the decoder reads,
// beginning with its start token, then those of the encoder; layers are the decoder's.
//
// The explained number is computed from logits, never from probabilities, which saturate and whose
// parts do not add up. For a classifier with two labels it is the log-odds, z_label - z_other; with
// more labels, the label's logit minus the mean of all logits; with one label, its logit. For a
// model that continues texts, it is the lead of one next token over another, z_token - z_against.

namespace glassformer {

/// The shares of all tokens in the last states; see Explainer::rollout.
struct Rollout {
  /// [T, T] row i: shares in token i's last state; rows sum to 1. With a decoder, [T, 2 T]: of its
  /// rows in its tokens, then the encoder's.
  std::vector<float> matrix;
  std::vector<float> scores;  ///< [T] shares in the state, or states, that the model answers from
};

/// Σ_D e ⊙ ∂y/∂e of each token's embedding e; see Explainer::gradient_times_input.
struct GradientScores {
  std::vector<float> scores;  ///< [T]
};

/// The relevance of each token's embedding, as rules pass it back from the explained number; see
/// Explainer::attn_lrp.
struct PropagatedRelevance {
  std::vector<float> scores = {};  ///< [T]
  /// The explained number. What the scores lack of it is that of biases and positions and, with
  /// AttnLRP, of the softmax.
  float value = 0;
};

/// Integrated gradients of the token embeddings; see Explainer::integrated_gradients.
struct IntegratedGradients {
  std::vector<float> scores = {};  ///< [T] 0 for special tokens
  float value = 0;                 ///< the explained number
  float baseline = 0;              ///< the same with zeros for the text's embeddings
  float gap = 0;                   ///< value - baseline - the sum of the scores
  std::size_t steps = 0;           ///< points at which gradients were computed
};

/// The relevance of all tokens; see Explainer::relevance.
struct Relevance {
  std::vector<float> matrix;  ///< [T, T], or [T, 2 T] row i: relevance for token i's last state
  std::vector<float> scores;  ///< [T] relevance for the answer
};

/// The norms of the vectors that attention moves. Weights only say which share of them is moved.
struct ValueNorms {
  AttentionMap heads;   ///< [L, H, T, T] per head, ‖α_ij f(x_j)‖
  AttentionMap layers;  ///< [L, 1, T, T] all heads together, ‖Σ_h α_ij f(x_j)‖
};

/// How much each token's output of a layer changes if another token's value vector is zero; see
/// Explainer::value_zeroing.
struct ZeroedValues {
  AttentionMap layers;        ///< [L, 1, T, T] 1 - cos(changed, unchanged) as shares; rows sum to 1
  std::vector<float> matrix;  ///< [T, T] the product of the layers
  std::vector<float> scores;  ///< [T] shares in the state, or states, that the model answers from
};

/// The logits that the model's head computes from the stream before each layer, and after the last.
struct Lens {
  std::size_t layers, tokens, labels;
  std::vector<float> logits;        ///< [L + 1, C] of the text, as if no layer followed
  std::vector<float> token_logits;  ///< [L + 1, T, C] of each token by itself
};

/// A token that may come next.
struct Guess {
  std::int32_t id;
  float logprob;
  std::string text = {};  ///< as in InputToken
};

/// A part of the model that writes into the residual stream.
struct LogitColumn {
  enum class Kind {
    embed_tokens,
    embed_patches,
    embed_positions,
    embed_types,
    head,          ///< an attention head of a layer, without out_proj's bias
    recurrent,     ///< a layer's recurrent unit, in a decoder without self-attention
    cross_head,    ///< a head of a layer's attention to the encoder
    feed_forward,  ///< a layer's feed-forward block, without fc2's bias
    bias,          ///< all biases, including those of norms and of the model's head
    rounding,      ///< with compute int8: the rounding errors of its products
  };
  Kind kind;
  std::size_t layer = 0, head = 0;

  bool operator==(const LogitColumn&) const = default;
};

/// Returns a column's name: "embed_tokens", "layers.0.self_attn.head.3",
/// "layers.0.encoder_attn.head.3", "layers.0.fc2", "bias", …
std::string to_string(const LogitColumn& column);

/// A number as a sum over tokens and over the parts that write to each token. The tokens of a
/// translator are those that its decoder has read, starting with the start token, followed by those
/// of its source.
struct StreamParts {
  std::vector<LogitColumn> columns;
  std::size_t tokens = 0;
  std::vector<float>
      written;              ///< [T, columns] by the token whose row is written; sums to the number
  std::vector<float> read;  ///< the same, but heads by the token that they read

  /// Returns the sum over `view`, which is `written` or `read`.
  double sum(const std::vector<float>& view) const;
};

/// The explained number as such a sum.
struct LogitAttribution : StreamParts {
  double value = 0;  ///< the explained number of the run
  /// [columns] except for biases and rounding: how much the number falls if the column's tensor is
  /// set to zero and everything after it is computed again. These do not add up: parts can replace
  /// each other, and norms rescale the rest. Empty if not requested.
  std::vector<float> effects = {};
  /// The heads among the columns, and their loadings, [heads, columns]; see HeadLoadings. Empty if
  /// not requested.
  std::vector<std::string> heads = {};
  std::vector<float> asks = {}, answers = {}, content = {};
};

/// The vectors that are carried from one text's run into another's.
struct PatchingSite {
  enum class Kind {
    residual,      ///< the input of a layer, or the output of the last
    attention,     ///< the output of a layer's attention
    feed_forward,  ///< the output of a layer's feed-forward block
    head,          ///< the input of out_proj from one head
    query,         ///< a layer's queries, of all heads
    key,           ///< its keys
    value,         ///< its values
  };
  Kind kind = Kind::residual;
  std::size_t head = 0;  ///< for Kind::head
};

/// How the answer changes if one vector, or the vectors of a cell's tokens, are carried over.
struct PatchingTable {
  std::size_t rows = 0, cells = 0;        ///< L + 1 rows for residuals, otherwise L
  std::size_t label = 0;                  ///< the label that the number is for
  float base = 0, donor = 0;              ///< the explained number of both texts, as aligned
  float plain_base = 0, plain_donor = 0;  ///< the same with their own positions
  std::vector<std::vector<std::size_t>> members;  ///< per cell, the base's tokens
  /// Per cell, whether all of its tokens lack a donor. For residuals, the cell is then knocked out
  /// from that layer on; otherwise there is nothing to carry over.
  std::vector<bool> unpaired;
  /// [rows, cells] The number with the cell carried; NaN: no such cell, or not measured yet.
  std::vector<float> values;
  std::size_t done = 0;  ///< the number of cells that are measured; row by row, the first ones

  /// Returns values - base.
  float delta(std::size_t row, std::size_t cell) const;
  /// Returns the delta as a share of donor - base, or nothing if the two answers differ by less
  /// than ½. Shares are not clipped and do not add up.
  std::optional<float> share(std::size_t row, std::size_t cell) const;
};

/// A test of an order of a text's parts against the model.
struct OrderTest {
  std::vector<float> deletion;   ///< the number without the k best parts, per k of `counts`
  std::vector<float> insertion;  ///< and with only these parts
  /// The mean of insertion minus the mean of deletion. Higher means a better order.
  float score = 0;
  /// At 5, 10, 20 and 50 % of the parts: how far the label's probability falls without them, and
  /// with only them (DeYoung et al. 2020, ERASER).
  std::vector<float> comprehensiveness, sufficiency;
};

/// How well scores of tokens predict what the answer depends on.
struct Faithfulness {
  std::vector<float> tokens;        ///< [T] the tested score of each token
  std::vector<std::size_t> counts;  ///< how many parts are removed or kept, at each point
  float full = 0;                   ///< the explained number of the whole text
  OrderTest scores;
  /// The order by the loss without each single part. It uses the same operation as the test, so on
  /// average over many texts it is the upper limit; for one text another order may be better.
  OrderTest leave_one_out;
  std::vector<float> losses;  ///< the loss without each part
  /// The scores of random orders. They spread around 0, because reversing an order swaps its
  /// curves.
  std::vector<float> random;

  /// Returns the mean of `random`.
  float random_mean() const;
  /// Returns the standard deviation of `random`.
  float random_deviation() const;
};

/// An edge of attention: a query of a head reads a key.
struct AttentionEdge {
  std::size_t layer, head, query, key;
};

/// How an edge is cut.
enum class Cut {
  /// Its score becomes -∞: the query distributes its attention over the other keys (attention
  /// knockout, Geva et al. 2023, "Dissecting Recall of Factual Associations").
  scores,
  /// Its weight becomes 0: its contribution is missing, and nothing replaces it. Cutting all edges
  /// of a head ablates the head.
  weights,
};

/// The explained number without some edges.
struct CutEffects {
  float full = 0, without = 0;  ///< with all edges, and without the cut ones
  std::vector<float> alone;     ///< per edge, how much the number falls if only this edge is cut
};

/// Heads and edges that suffice for an answer.
struct Circuit {
  std::size_t label = 0;
  float full = 0;          ///< the explained number, with everything
  float kept = 0;          ///< with only the circuit's edges
  float nothing = 0;       ///< without any edge
  float faithfulness = 0;  ///< kept / full
  std::vector<std::pair<std::size_t, std::size_t>> heads;  ///< layer and head
  std::vector<AttentionEdge> edges;  ///< the edges of these heads that are kept
};

}  // namespace glassformer
