#pragma once

#include <memory>
#include <span>
#include <vector>

#include "models/stack/decoder.hpp"
#include "run/trace/tensor_list.hpp"

namespace glassformer {

/// A decoder and a projection onto its vocabulary: predicts the next token. Without an encoder, it
/// continues texts (Radford et al. 2018). It is const once its parameters are loaded.
///
///     state = model.begin(1, limits, request, session)
///     hidden = model.decode(state, {{.id = a}, {.parent = 0, .id = b}})  // nodes 0 and 1
///     logits = model.project(hidden, session)                            // [2, V]: next tokens
class LanguageModel {
 public:
  /// Parameters allocate memory when they are loaded. All must be loaded before the first run.
  explicit LanguageModel(const Architecture& architecture, Compute compute = Compute::f32);
  LanguageModel(const LanguageModel&) = delete;
  LanguageModel& operator=(const LanguageModel&) = delete;

  /// Returns every parameter by its checkpoint name. Each must be set once.
  std::vector<NamedParameter> parameters();

  /// Starts a tree for `texts` texts, which are sources 0 … of its first nodes. `request` applies
  /// to the whole decoding: its patches are used in every step, and the state stores the tensors
  /// that it requests. The session must outlive the state. Throws internal if limits.positions
  /// exceeds the decoder's max_length.
  DecodingState begin(std::size_t texts, const DecodingLimits& limits, const TraceRequest& request,
                      Session& session) const;

  /// Goes on from the first `nodes` nodes of a state that `begin` has made; see
  /// DecodingState::keep_first.
  void resume(DecodingState& state, std::size_t nodes, const DecodingLimits& limits) const {
    state.keep_first(nodes, limits);
    prepare(state, 0);
  }

  /// Feeds one token per extension in one step. They become the tree's next nodes in this order.
  /// Returns hidden [R, D], after the final norm, valid until the session runs something else. An
  /// extension may follow the node of an earlier row of the same call, so a whole sequence can be
  /// fed at once: its rows are bitwise identical to those of one call per token. Allocates nothing
  /// until the state exceeds the likely size. Throws internal if a limit of the state would be
  /// exceeded.
  View decode(DecodingState& state, std::span<const Extension> extensions) const {
    return decoder_(state, extensions);
  }

  /// A batch, and the tokens whose logits are computed; empty: all.
  struct Targets {
    const Batch& batch;
    std::span<const std::size_t> rows;
  };
  /// Returns the logits [N, V] of N tokens, which are in the run's arena. `states`: an encoder's,
  /// or null. Traces `logits`.
  View forward(const Targets& targets, const ConstView* states, Run& run) const;

  /// Returns logits [R, V] = lm_head(hidden), valid until the session's next call of begin or
  /// project. Allocates nothing if R is at most the rows of some state begun in the session.
  View project(const ConstView& hidden, Session& session) const;

  /// Does the same for the step that the state has just taken, and traces the logits as `logits`.
  View project(const ConstView& hidden, DecodingState& state) const;

  /// Returns the logits [R, V] of rows [R, D] of the decoder's stream by applying only the final
  /// norm and lm_head. Valid until the session's next call of begin or project. Overwrites the
  /// rows.
  View project_stream(View stream, Session& session) const;

  /// Returns the projection onto only these target tokens. `project` then gives their logits [R,
  /// n].
  Linear projection(std::span<const std::int32_t> ids) const { return lm_head_.select(ids); }
  void project(const ConstView& hidden, const Linear& projection, View logits,
               Session& session) const;

  /// Reserves memory for the logits of `rows` rows.
  void reserve_logits(std::size_t rows, Session& session) const;

  /// Returns every tensor of a run by name, in the order of the run.
  virtual std::vector<ModelTensor> tensors(Session& session) const;

  /// Returns the layer that computes logits, and the factor applied to the states before it.
  const Linear& lm_head() const { return lm_head_; }
  float scale_of_states() const;
  bool caps_logits() const { return architecture_.head.logit_cap.has_value(); }

  std::size_t vocab_size() const { return lm_head_.out(); }
  Compute compute() const { return compute_; }
  const Decoder& decoder() const { return decoder_; }

  virtual ~LanguageModel() = default;

 protected:
  /// Creates a decoder-only model, or one that attends to an encoder.
  LanguageModel(const Architecture& architecture, Compute compute, Stack::Kind kind);

  /// Declare the parameters before the stacks, and those after them.
  void declare_head(const ParameterScope& root);
  void declare_decoder(const ParameterScope& root) { decoder_.declare(root.scope("decoder")); }

  /// Reserves memory for a decoding's steps. Their rows attend to up to `longest` keys of a source.
  void prepare(DecodingState& state, std::size_t longest) const;

  /// Adds the tensors of the decoder. The state must have no nodes.
  void list(DecodingState& state, TensorList& tensors) const;

  const Architecture& architecture() const { return architecture_; }
  /// Returns the table that both stacks share, or null if they do not share one or it is lm_head's
  /// weight.
  const Embedding* embed_tokens() const { return embed_tokens_.get(); }

 private:
  std::unique_ptr<Embedding> make_decoder_embedding(Compute compute) const;

  Architecture architecture_;
  Compute compute_;
  Linear lm_head_;                           // [D, V]
  std::unique_ptr<Embedding> embed_tokens_;  // of both stacks; may be null, see embed_tokens()
  Decoder decoder_;
};

}  // namespace glassformer
