#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "layers/batch.hpp"
#include "layers/linear.hpp"
#include "layers/workspace.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {

/// The attention weights of one sequence: [layers, heads, queries, keys], row-major. Row i of a
/// head says how query i spread its attention over the keys; it sums to 1.
struct AttentionMap {
  std::size_t layers = 0, heads = 0, queries = 0, keys = 0;
  std::vector<float> data = std::vector<float>(
      checked_product("attention weights", {layers, heads, queries, keys}), 0.0f);

  /// One head's matrix [queries, keys].
  std::span<float> at(std::size_t layer, std::size_t head);
  std::span<const float> at(std::size_t layer, std::size_t head) const;
};

/// What a caller asks of one layer's attention besides its output.
struct Inspection {
  std::size_t layer = 0;
  /// Heads whose output is zeroed before `out_proj`.
  std::span<const std::size_t> ablated = {};
  /// One map a sequence, into which the layer writes its weights; empty: none are kept.
  std::span<AttentionMap> maps = {};
};

/// One head's share of one sequence. Rows of q, k and v are `stride` floats apart.
struct HeadInput {
  const float* q;  ///< [length, d_head]
  const float* k;  ///< [length, d_head]
  const float* v;  ///< [length, d_head]
  std::size_t stride;
  std::size_t length;
  std::size_t d_head;
  Compute compute;
  std::span<const std::uint32_t> visible;  ///< positions that may be attended to, ascending
};

/// Where one head's results go.
struct HeadOutput {
  float* context;  ///< [length, d_head], rows `stride` floats apart
  std::size_t stride;
  std::span<float> weights;  ///< [length, length], zero on entry; empty: not asked for
};

/// How a head turns queries, keys and values into a context.
class AttentionKind {
 public:
  virtual ~AttentionKind() = default;
  virtual void attend(const HeadInput& in, const HeadOutput& out, Workspace& workspace) const = 0;
};

/// softmax(q · kᵀ / √d_head) · v over all keys: "Attention Is All You Need", equation 1.
class FullAttention final : public AttentionKind {
 public:
  void attend(const HeadInput& in, const HeadOutput& out, Workspace& workspace) const override;
};

/// The same over the keys at most `window` positions from the query, O(n · window): the sliding
/// window of Beltagy et al. 2020 (Longformer), section 3.1.
class LocalAttention final : public AttentionKind {
 public:
  explicit LocalAttention(std::size_t window) : window_(window) {}
  void attend(const HeadInput& in, const HeadOutput& out, Workspace& workspace) const override;

 private:
  std::size_t window_;
};

/// φ(q) · (Σ φ(k) vᵀ) / (φ(q) · Σ φ(k)) with φ(x) = elu(x) + 1, O(n): Katharopoulos et al. 2020,
/// equation 6. The weights it is asked for are the normalised map that this implies,
/// φ(q_i) · φ(k_j) / Σ_j' φ(q_i) · φ(k_j').
class LinearAttention final : public AttentionKind {
 public:
  void attend(const HeadInput& in, const HeadOutput& out, Workspace& workspace) const override;
};

/// Multi-head self-attention: "Attention Is All You Need", section 3.2.2.
class MultiHeadAttention {
 public:
  MultiHeadAttention(std::size_t d_model, std::size_t n_heads, Bias bias,
                     std::unique_ptr<const AttentionKind> kind, Compute compute);

  /// Declares `q_proj`, `k_proj`, `v_proj` and `out_proj`, each [D, D].
  void declare(const ParameterScope& scope);

  /// x += out_proj(heads(input)), x and input [N, D]; input may be x.
  void add_to(View<2> x, const ConstView<2>& input, const Batch& batch,
              const Inspection& inspection, Workspace& workspace) const;

 private:
  std::size_t n_heads_, d_head_;
  Bias bias_;
  Compute compute_;
  std::unique_ptr<const AttentionKind> kind_;
  Linear qkv_proj_, out_proj_;
};

}  // namespace glassformer
