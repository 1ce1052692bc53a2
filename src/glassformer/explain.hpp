#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "glassformer/attention.hpp"
#include "glassformer/compute.hpp"
#include "glassformer/error.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"

// Why a model answers as it does. Of T tokens, L layers, H heads, C labels.
//
// The number that is explained is made of logits, never of probabilities, which saturate and whose
// parts do not add up. Of a classifier with two labels it is the log-odds, z_label - z_other; with
// more, the label's logit above the mean of all; with one, its logit. Of a model that writes on,
// how far one next token is ahead of another, z_token - z_against.

namespace glassformer {

class ClassifyPipeline;

/// What the last states are mixed from; see Explainer.
struct Rollout {
  std::vector<float> matrix;  ///< [T, T] row i: of token i's last state; rows sum to 1
  std::vector<float> scores;  ///< [T] of the state, or states, that the model answers from
};

/// How large the vectors are that attention moves, where weights only say which share of them.
struct ValueNorms {
  AttentionMap heads;   ///< [L, H, T, T] of each head, ‖α_ij f(x_j)‖
  AttentionMap layers;  ///< [L, 1, T, T] of all heads together, ‖Σ_h α_ij f(x_j)‖
};

/// What the model's head reads in the stream before each layer, and after the last.
struct Lens {
  std::size_t layers, tokens, labels;
  std::vector<float> logits;        ///< [L + 1, C] of the text, as if no layer followed
  std::vector<float> token_logits;  ///< [L + 1, T, C] of each token alone
};

/// A token that may come next.
struct Guess {
  std::int32_t id;
  float logprob;
  std::string text = {};  ///< as InputToken::text
};

/// What a decoder would write, had it to choose before each layer, or after the last.
struct NextLens {
  std::vector<std::vector<std::vector<Guess>>> layers;  ///< [L + 1, T] the likeliest, best first
};

/// Who writes into the residual stream.
struct LedgerColumn {
  enum class Kind {
    embed_tokens,
    embed_positions,
    embed_types,
    head,          ///< an attention head of a layer, out_proj's bias left out
    recurrent,     ///< a layer's recurrent unit, where a decoder has one for self-attention
    cross_head,    ///< a head of a layer's attention to the encoder
    feed_forward,  ///< a layer's, fc2's bias left out
    bias,          ///< all biases, those of norms and of the model's head, too
    rounding,      ///< with compute int8: what its products round off
  };
  Kind kind;
  std::size_t layer = 0, head = 0;

  bool operator==(const LedgerColumn&) const = default;
};

/// "embed_tokens", "layers.0.self_attn.head.3", "layers.0.encoder_attn.head.3", "layers.0.fc2",
/// "bias", …
std::string to_string(const LedgerColumn& column);

/// The number explained as a sum over tokens and what is written at each. A translator's tokens are
/// those that its decoder has read, the start token first, and then its source's.
struct Ledger {
  std::vector<LedgerColumn> columns;
  std::size_t tokens = 0;
  double value = 0;            ///< the number, of the run
  std::vector<float> written;  ///< [T, columns] by the row that is written; sums to `value`
  std::vector<float> read;     ///< the same, heads by the token that they read
  /// [columns] of each but biases and rounding: how much the number falls with that column's tensor
  /// set to zero and everything after it computed again. These do not add up: parts stand in for
  /// each other, and norms rescale what is left. Empty if not asked for.
  std::vector<float> effects;

  double sum(const std::vector<float>& view) const;
};

/// Why a model would write one token and not the other.
struct NextLedger {
  Guess token, against;
  Ledger ledger;  ///< of z_token - z_against
};

/// What is carried from one text's run into another's.
struct TransplantSite {
  enum class Kind {
    residual,      ///< what enters a layer, or leaves the last
    attention,     ///< what a layer's attention adds
    feed_forward,  ///< what its feed-forward block adds
    head,          ///< what one head hands to out_proj
  };
  Kind kind = Kind::residual;
  std::size_t head = 0;  ///< of Kind::head
};

/// How the answer moves when one vector, or those of a cell's tokens, is carried across.
struct TransplantTable {
  std::size_t rows = 0, cells = 0;        ///< L + 1 rows of residuals, else L
  std::size_t label = 0;                  ///< what the number is for
  float base = 0, donor = 0;              ///< the number explained, of both texts as aligned
  float plain_base = 0, plain_donor = 0;  ///< the same with their own positions
  std::vector<std::vector<std::size_t>> members;  ///< of each cell, the base's tokens
  /// Of each cell, whether none of its tokens has a donor. In rows of residuals it is knocked out
  /// from that layer on; else there is nothing to carry.
  std::vector<bool> unpaired;
  std::vector<float> values;  ///< [rows, cells] the number with the cell carried; NaN: no such cell

  /// values - base.
  float delta(std::size_t row, std::size_t cell) const;
  /// The delta as a share of donor - base; not clipped, and shares do not add up. None where the
  /// two answers are less than ½ apart.
  std::optional<float> share(std::size_t row, std::size_t cell) const;
};

/// An order of a text's parts, tested against the model.
struct OrderTest {
  std::vector<float> deletion;   ///< the number without the k best parts, at each of `counts`
  std::vector<float> insertion;  ///< and with these alone
  /// The mean of insertion minus that of deletion: the higher, the better the order.
  float score = 0;
  /// At 5, 10, 20 and 50 % of the parts: how far the label's probability falls without them, and
  /// with them alone (DeYoung et al. 2020, ERASER).
  std::vector<float> comprehensiveness, sufficiency;
};

/// How well scores of tokens say what the answer hangs on.
struct Faithfulness {
  std::vector<std::size_t> counts;  ///< how many parts are removed, or stay, at each point
  float full = 0;                   ///< the number explained, of the whole text
  OrderTest scores;
  /// The order by what the answer loses without each part alone. It shares the operation with the
  /// test, and so over many texts is its ceiling; of one text another order may do better.
  OrderTest leave_one_out;
  std::vector<float> losses;  ///< each part's loss there
  /// The scores of random orders; they spread around 0, as the reverse of an order swaps its
  /// curves.
  std::vector<float> random;

  float random_mean() const;
  float random_deviation() const;
};

/// An arrow of attention: a query of a head reads a key.
struct AttentionEdge {
  std::size_t layer, head, query, key;
};

/// How an arrow is cut.
enum class Cut {
  /// Its score becomes -∞: the query spreads its attention over the other keys (attention knockout,
  /// Geva et al. 2023, "Dissecting Recall of Factual Associations").
  scores,
  /// Its weight becomes 0: what it brought is missing, and nothing takes its place. A head all of
  /// whose arrows are cut is ablated.
  weights,
};

/// What becomes of the number explained without some arrows.
struct CutEffects {
  float full = 0, without = 0;  ///< with all arrows, and without those that are cut
  std::vector<float> alone;     ///< of each, how much the number falls without it alone
};

/// Heads and arrows that suffice for an answer.
struct Circuit {
  std::size_t label = 0;
  float full = 0;          ///< the number explained, with everything
  float kept = 0;          ///< with the circuit's arrows alone
  float nothing = 0;       ///< with no arrow at all
  float faithfulness = 0;  ///< kept / full
  std::vector<std::pair<std::size_t, std::size_t>> heads;  ///< layer and head
  std::vector<AttentionEdge> edges;                        ///< those of these heads that are left
};

/// An explanation, and what it is of.
template <class Part>
struct Explanation {
  std::vector<InputToken> tokens;  ///< [T] what the model read
  bool clipped = false;            ///< there was more than the model takes at once
  std::string label;               ///< of a classifier: what is explained
  Part part;
};

}  // namespace glassformer
