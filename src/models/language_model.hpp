#pragma once

#include <memory>
#include <span>
#include <vector>

#include "models/decoder.hpp"
#include "run/tensor_list.hpp"

namespace glassformer {

/// A decoder and a projection onto its vocabulary: which token comes next. Alone it continues texts
/// (Radford et al. 2018). It is const once its parameters are loaded.
///
///     state = model.begin(1, limits, request, session)
///     hidden = model.decode(state, {{.id = a}, {.parent = 0, .id = b}})  // nodes 0 and 1
///     logits = model.project(hidden, session)                            // [2, V]: what follows
class LanguageModel {
 public:
  /// Parameters take memory when they are loaded, and all must be before it runs.
  explicit LanguageModel(const Architecture& architecture, Compute compute = Compute::f32);
  LanguageModel(const LanguageModel&) = delete;
  LanguageModel& operator=(const LanguageModel&) = delete;

  /// Every parameter by its checkpoint name, each to be set once.
  std::vector<NamedParameter> parameters();

  /// A new tree for so many texts: sources 0 … of its first nodes. `request` holds for the whole
  /// decoding: its patches are applied in every step, and the state keeps the tensors that it asks
  /// for. The session outlives the state. Throws internal if limits.positions exceeds the decoder's
  /// max_length.
  DecodingState begin(std::size_t texts, const DecodingLimits& limits, const TraceRequest& request,
                      Session& session) const;

  /// Feeds one token per extension, all in one step, which become the tree's next nodes in this
  /// order. Returns hidden [R, D], after the final norm; it lives until the session runs something
  /// else. An extension may follow a node of an earlier row of the same call, so that a whole
  /// sequence can be fed at once: its rows are the same to the bit as with one call per token.
  /// Allocates nothing until the state outgrows the likely size. Throws internal if a limit of the
  /// state would be passed.
  View<2> decode(DecodingState& state, std::span<const Extension> extensions) const {
    return decoder_(state, extensions);
  }

  /// logits [R, V] = lm_head(hidden); they live until the session's next call of begin or project.
  /// Allocates nothing if R is at most the rows of some state begun in the session.
  View<2> project(const ConstView<2>& hidden, Session& session) const;

  /// The same for the step that the state has just taken, which traces them as `logits`.
  View<2> project(const ConstView<2>& hidden, DecodingState& state) const;

  /// The logits [R, V] of rows [R, D] of the decoder's stream if only the final norm and lm_head
  /// follow; they live until the session's next call of begin or project. The rows are overwritten.
  View<2> project_stream(View<2> stream, Session& session) const;

  /// The projection onto these target tokens alone; `project` then gives their logits [R, n].
  Linear projection(std::span<const std::int32_t> ids) const { return lm_head_.select(ids); }
  void project(const ConstView<2>& hidden, const Linear& projection, View<2> logits,
               Session& session) const;

  /// Makes room for the logits of so many rows.
  void reserve_logits(std::size_t rows, Session& session) const;

  /// Every tensor of a run, by name, in the order of the run.
  virtual std::vector<ModelTensor> tensors(Session& session) const;

  /// The layer that projects, and the factor of the states in front of it.
  const Linear& lm_head() const { return lm_head_; }
  float scale_of_states() const;

  std::size_t vocab_size() const { return lm_head_.out(); }
  Compute compute() const { return compute_; }
  const Decoder& decoder() const { return decoder_; }

  virtual ~LanguageModel() = default;

 protected:
  /// A decoder alone, or one that attends to an encoder.
  LanguageModel(const Architecture& architecture, Compute compute, Stack::Kind kind);

  /// Declares the parameters in front of the stacks, and those behind them.
  void declare_head(const ParameterScope& root);
  void declare_decoder(const ParameterScope& root) { decoder_.declare(root.scope("decoder")); }

  /// Makes room for a decoding's steps, whose rows attend to up to `longest` keys of a source.
  void prepare(DecodingState& state, std::size_t longest) const;

  /// Adds the tensors of the decoder, whose state has no nodes.
  void list(DecodingState& state, TensorList& tensors) const;

  const Architecture& architecture() const { return architecture_; }
  /// The table of both stacks, if they have one that is not lm_head's weight; else null.
  const Embedding* embed_tokens() const { return embed_tokens_.get(); }

 private:
  std::unique_ptr<Embedding> make_decoder_embedding(Compute compute) const;

  Architecture architecture_;
  Compute compute_;
  Linear lm_head_;                           // [D, V]
  std::unique_ptr<Embedding> embed_tokens_;  // of both stacks; null: see embed_tokens()
  Decoder decoder_;
};

}  // namespace glassformer
