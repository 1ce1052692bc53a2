#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "layers/attention/attention_kind.hpp"
#include "layers/attention/config.hpp"
#include "layers/attention/frozen_projection.hpp"
#include "layers/attention/relative_bias.hpp"
#include "layers/attention/rotary.hpp"
#include "layers/attention/token_mixer.hpp"
#include "layers/linear/linear.hpp"
#include "layers/norm/norm.hpp"
#include "run/run.hpp"

namespace glassformer {

/// Multi-head attention: "Attention Is All You Need", section 3.2.2. Each row of a run attends to
/// the keys of its segment: rows of the run itself, rows of a cache, or an encoder's rows. If there
/// are fewer key and value heads than query heads, several query heads share a key head (Ainslie et
/// al. 2023, "GQA").
class Attention final : public TokenMixer {
 public:
  /// The origin of keys and values: the rows' own stack, or an encoder's states.
  enum class Source { own, encoder };

  struct Parts {
    Source source = Source::own;
    std::unique_ptr<const AttentionKind> kind;
    const RelativeBias* relative =
        nullptr;  ///< added to the scores; must outlive this; may be null
    const RelativeEmbeddings* distances = nullptr;  ///< the same, of disentangled attention
    NormConfig norm;                                ///< of queries and keys, with qk_norm
    float divisor = 1;                              ///< of the scores
    Compute scores = Compute::f32;                  ///< the arithmetic of scores and weights
  };
  Attention(const AttentionConfig& config, std::size_t d_model, Parts parts, Compute compute);

  /// Declares `q_proj` [E, D], `k_proj` and `v_proj`, each [E of the keys, D], `out_proj` [D, E],
  /// and `q_norm` and `k_norm` [d_head], if it has them.
  void declare(const ParameterScope& scope) override;

  /// x += out_proj(heads(input)), x and input [N, D]; input may be x. Traces `q`, `k`, `v` (of its
  /// own rows), `scores`, `weights`, `context` and `output`. Queries and keys are traced as they
  /// enter the product: normed and rotated.
  void add_to(View x, const ConstView& input, const Run& run) const override;

  /// Writes keys and values of an encoder's states [n, D], side by side, to kv [n, 2 E]. Traces `k`
  /// and `v`.
  void keys_values(const ConstView& states, View kv, const Run& run) const;

  const Linear& out_proj() const { return out_proj_; }
  const AttentionConfig& config() const { return config_; }
  float divisor() const { return parts_.divisor; }
  bool has_scores() const { return parts_.kind->has_scores(); }

  enum class Side { query, key, value };
  /// Returns the projection of a query head's queries, or of the keys or values that it reads.
  FrozenProjection frozen_projection(Side side, std::size_t head) const;

  /// What positions add to a head's score of a query and a key, beside the product of their
  /// vectors.
  struct Distance {
    float bias = 0;                     ///< added to the divided score
    std::span<const float> query = {};  ///< [d_head] times the key, divided; or empty
    std::span<const float> key = {};    ///< [d_head] times the query, divided; or empty
  };
  /// `length`: of the sequence. The vectors are valid until a longer one is requested in the
  /// session.
  Distance distance(std::size_t head, std::size_t query, std::size_t key, std::size_t length,
                    Session& session) const;
  /// Whether positions add something.
  bool has_distances() const { return parts_.relative || parts_.distances; }

 private:
  struct Queries {
    const float* data;
    std::size_t stride;
  };
  // Everything that heads attend with. `distances`: of the first head.
  struct Projected {
    Queries queries;
    KeyValueRows keys;
    HeadDistances distances;
  };

  Queries project_own(const ConstView& input, const Run& run, KeyValueRows& keys) const;
  Queries project_queries(const ConstView& input, const Run& run) const;
  void attend(const Queries& queries, const KeyValueRows& keys, View context, const Run& run) const;
  HeadInput input_of(std::size_t head, const RowSegment& segment, const Projected& rows,
                     Session& session) const;
  // Returns the multiplications of all heads.
  std::uint64_t products(const RowSegment& segment) const;
  void attend_segment(std::size_t index, const RowSegment& segment, const Projected& rows,
                      View context, const Run& run) const;
  // Projects the rows of the table of distances. Unless the run computes these itself, the result
  // is kept in the session.
  HeadDistances project_distances(std::size_t longest, const Run& run) const;

  AttentionConfig config_;
  Parts parts_;
  std::optional<Rotary> rotary_;
  std::unique_ptr<Norm> q_norm_, k_norm_;  // may be null
  Linear qkv_proj_, out_proj_;             // qkv_proj_: only queries if kv_proj_ is set
  std::optional<Linear> kv_proj_;          // set if keys and values come from an encoder
};

}  // namespace glassformer
