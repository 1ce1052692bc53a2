#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "explain/readings/stream_ledger.hpp"
#include "explain/traced.hpp"
#include "layers/attention/attention.hpp"
#include "run/attention_map.hpp"
#include "run/trace/patch.hpp"

namespace glassformer {

/// A score of a head: of a query and a key, before the softmax. All count from 0.
struct ScorePlace {
  AttentionSite attention = AttentionSite::encoder;
  std::size_t layer = 0, head = 0, query = 0, key = 0;
};

/// The stack of the queries and that of the keys: two, if a decoder reads an encoder.
struct AttendingStacks {
  ExplainedStack queries, keys;
};

/// A part of the sum of a score.
struct ScorePart {
  std::string name;  ///< a column of direct_logit_attribution, or "distance"
  double sum = 0;
  /// Its share in the lead over other keys, if requested.
  std::optional<double> contrast = {};
  /// [T] For a head: its sum, by the tokens that it read. The tokens are those of StreamParts.
  std::vector<float> reads = {};
  std::vector<float> contrast_reads = {};
  /// If effects are requested: the weight without this part, and how much the answer falls.
  std::optional<float> weight = {}, effect = {};
};

/// A score as a sum over what the query's row is made of and, again, over what the key's row is
/// made of.
struct ScoreAttribution {
  double score = 0;                 ///< of the run
  float weight = 0;                 ///< after the softmax
  std::optional<double> lead = {};  ///< over other keys, if requested
  std::vector<ScorePart> queries = {}, keys = {};
  /// [queries, keys] The parts of both at once, and of the lead, if requested.
  std::vector<float> cells = {}, contrast_cells = {};
};

/// The keys that a score is compared with.
struct Rivals {
  /// One key; if unset, all, by their weights: score - Σ_k A_ik score_k.
  std::optional<std::size_t> key = {};
};

/// Splits scores of softmax attention into exact parts. Scores are bilinear in what the rows of
/// the query and of the key are made of: with the scales of norms frozen, q_i = Σ_a q_i^a and k_j =
/// Σ_b k_j^b over embeddings, earlier heads, feed-forward blocks and biases, so that score_ij =
/// Σ_ab q_i^a · k_j^b / divisor. Positions that are rotated in belong to each part. What is added
/// for the distance of query and key - a relative bias, or products with the rows of distances - is
/// the part "distance". A cap is a multiplier. Each list sums to the score within 1e-4 · max(1,
/// |score|) in f32.
class ScoreReading {
 public:
  using Side = Attention::Side;

  /// `trace`: has the tensors of score_tensors. All arguments must outlive this.
  ///
  /// Throws `invalid_option` for a key that the query does not see.
  ScoreReading(const AttendingStacks& stacks, const ScorePlace& place,
               std::span<const TracedTensor> trace, Session& session);

  /// Computes the sums. `reads`: also by token.
  ScoreAttribution sums(bool reads) const;
  /// Adds the lead over other keys. Throws `invalid_option` for a rival that the query does not
  /// see.
  void add_contrast(const Rivals& rivals, bool reads, ScoreAttribution& to) const;
  /// Adds the cells and, if the lead was added, those of the lead.
  void add_cells(const Rivals& rivals, ScoreAttribution& to) const;

  /// A factor of each score, [queries, keys].
  using Factors = std::vector<double>;
  /// Computes Σ_ij factors_ij · score_ij as a sum over what the rows of the queries, or of the
  /// keys, are made of; without what distances add.
  StreamParts weighted(Side side, const Factors& factors) const { return sum(side, factors).parts; }
  /// Computes Σ_ij weight_ij · (value_j · gradient_i) as a sum over what the rows of the values are
  /// made of. `gradients` [queries, d_head]: with respect to the head's contexts.
  StreamParts content(std::span<const float> gradients) const;
  /// Returns value_j · gradient_i, [queries, keys].
  Factors moved(std::span<const float> gradients) const;
  float weight(std::size_t query, std::size_t key) const;

  /// The vectors of each part in the queries, or keys, of some rows: [rows, parts, d_head].
  struct Vectors {
    std::vector<std::size_t> rows;
    std::vector<float> values;
  };
  /// Returns those of the query's, or key's, row or of all rows.
  Vectors vectors(Side side, bool of_all_rows) const;

  /// A run in which a part of the score is missing.
  struct Removal {
    Patch patch;       ///< of the head's scores
    float weight = 0;  ///< the head's weight for query and key
  };
  /// Takes a part out of the rows that these vectors are of, for this head only. `part`: its index
  /// in ScoreAttribution's queries or keys.
  Removal remove(Side side, const Vectors& vectors, std::size_t part) const;

 private:
  // A sum of scores over the columns of a stack, and what distances add to it.
  struct Sum {
    StreamParts parts;
    double distance = 0;
  };
  Factors only_this() const;
  Factors lead_over(const Rivals& rivals) const;
  Sum sum(Side side, const Factors& factors) const;
  std::vector<float> cells(const Factors& factors) const;
  // Passes the gradients of a ledger's rows from the attention's input to the embeddings.
  void lead_back(Side side, StreamLedger& ledger) const;
  void read_row(Side side, std::size_t row, std::span<const float> gradient,
                StreamLedger& ledger) const;

  bool sees(std::size_t query, std::size_t key) const;
  // A score as it would be without a cap, and the cap's effect as a multiplier.
  double uncapped(std::size_t query, std::size_t key) const;
  double slope(std::size_t query, std::size_t key) const;
  Attention::Distance distance(std::size_t query, std::size_t key) const;
  const TracedTensor& values() const;
  std::size_t rows(Side side) const { return side == Side::query ? queries_ : keys_; }
  std::size_t row(Side side) const { return side == Side::query ? place_.query : place_.key; }
  const ExplainedStack& stack(Side side) const {
    return side == Side::query ? stacks_.queries : stacks_.keys;
  }
  const float* query_of(std::size_t row) const;
  const float* key_of(std::size_t row) const;
  float score(std::size_t query, std::size_t key) const;

  AttendingStacks stacks_;
  ScorePlace place_;
  std::span<const TracedTensor> trace_;
  Session& session_;
  const Attention& attention_;
  FrozenProjection q_proj_, k_proj_, v_proj_;
  const TracedTensor &q_, &k_, &scores_, &weights_;
  std::size_t queries_, keys_, d_head_;
  std::vector<std::size_t> query_columns_, key_columns_;  // those before the attention
};

/// Returns "encoder.layers.1.self_attn", the name of an attention.
std::string attention_name(AttentionSite attention, std::size_t layer);
/// Returns what such a name says, or nothing for another name.
struct NamedAttention {
  AttentionSite attention;
  std::size_t layer;
};
std::optional<NamedAttention> read_attention_name(std::string_view name);

/// Returns the names of the tensors that a reading needs, of the stack of the queries and of that
/// of the keys. The second list is empty if they are the same.
struct ScoreTensors {
  std::vector<std::string> queries, keys = {};
};
ScoreTensors score_tensors(const AttendingStacks& stacks, const ScorePlace& place);

}  // namespace glassformer
