#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "kernels/compute.hpp"
#include "layers/attention/disentangled/relative_embeddings.hpp"
#include "run/session.hpp"
#include "run/trace/map_output.hpp"

namespace glassformer {

/// One head's part of what disentangled attention computes from the table of distances.
struct HeadDistances {
  const RelativeEmbeddings* table = nullptr;  ///< null: attention is not disentangled
  const float* q = nullptr;  ///< [count, d_head]: rows of the table as queries; null: not used
  const float* k = nullptr;  ///< the same as keys
  std::size_t stride = 0;    ///< rows are this many floats apart
  std::size_t first = 0, count = 0;  ///< which rows of the table

  /// Returns the row of q and k for a query and a key at these positions.
  std::size_t row(std::size_t query, std::size_t key) const {
    return table->row(static_cast<std::ptrdiff_t>(query) - static_cast<std::ptrdiff_t>(key)) -
           first;
  }
};

/// One head's part of one segment. Keys are addressed by their positions.
struct HeadInput {
  const float* q;  ///< [queries, d_head], rows `q_stride` floats apart; query i is at position i
  std::size_t q_stride;
  std::size_t queries;
  const float* k;  ///< by position, [d_head] each, rows `kv_stride` floats apart
  const float* v;  ///< like k
  std::size_t kv_stride;
  std::size_t d_head;
  float divisor;  ///< of the scores: √d_head in "Attention Is All You Need", 3.2.1
  Compute compute;
  std::span<const std::uint32_t> keys;  ///< positions that may be attended to, ascending
  /// Added to the divided scores, indexed by key - query; may be null.
  const float* bias = nullptr;
  HeadDistances distances = {};  ///< instead of a bias
  float cap = 0;                 ///< scores become cap · tanh(score / cap); 0: they do not

  bool biased() const { return bias || distances.table; }
};

/// The buffers for one head's results.
struct HeadOutput {
  float* context;  ///< [queries, d_head], rows `stride` floats apart
  std::size_t stride;
  HeadMap weights = {};
  HeadMap scores = {};  ///< before the softmax
};

/// The number of positions before and after its own that a query attends to.
struct Reach {
  static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  std::size_t before = all, behind = all;
};

/// Computes a head's context from queries, keys and values.
class AttentionKind {
 public:
  virtual ~AttentionKind() = default;
  virtual void attend(const HeadInput& in, const HeadOutput& out,
                      AttentionScratch& scratch) const = 0;
  /// Returns whether its weights are computed from scores.
  bool has_scores() const { return reach() != nullptr; }
  /// Returns the keys that a query attends to. Null if there is no softmax over them.
  virtual const Reach* reach() const = 0;
};

/// softmax(q · kᵀ / divisor + bias) · v over the keys within reach. Without limits: "Attention Is
/// All You Need", equation 1. If `behind` is 0: its look-ahead mask, 3.2.3. With the same limit on
/// both sides: O(n · window), the sliding window of Beltagy et al. 2020 (Longformer), section 3.1.
class SoftmaxAttention final : public AttentionKind {
 public:
  explicit SoftmaxAttention(Reach reach) : reach_(reach) {}
  void attend(const HeadInput& in, const HeadOutput& out, AttentionScratch& scratch) const override;
  const Reach* reach() const override { return &reach_; }

 private:
  Reach reach_;
};

/// φ(q) · (Σ φ(k) vᵀ) / (φ(q) · Σ φ(k)) with φ(x) = elu(x) + 1, O(n): Katharopoulos et al. 2020,
/// equation 6. If weights are requested, outputs the equivalent normalized weights, φ(q_i) · φ(k_j)
/// / Σ_j' φ(q_i) · φ(k_j'). There are no scores.
class LinearAttention final : public AttentionKind {
 public:
  void attend(const HeadInput& in, const HeadOutput& out, AttentionScratch& scratch) const override;
  const Reach* reach() const override { return nullptr; }
};

}  // namespace glassformer
