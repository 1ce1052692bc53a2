#pragma once

#include <memory>
#include <span>
#include <vector>

#include "models/decoder.hpp"

namespace glassformer {

/// A decoder and a projection onto its vocabulary: which token comes next. Alone it continues texts
/// (Radford et al. 2018).
///
///     state = model.begin(1, limits, request)
///     hidden = model.decode(state, {{.id = a}, {.parent = 0, .id = b}})  // nodes 0 and 1
///     logits = model.project(hidden)                                     // [2, V]: what follows
class LanguageModel {
 public:
  /// Parameters take memory when they are loaded, and all must be before it runs.
  explicit LanguageModel(const Architecture& architecture, Compute compute = Compute::f32);
  LanguageModel(const LanguageModel&) = delete;
  LanguageModel& operator=(const LanguageModel&) = delete;

  /// Every parameter by its checkpoint name, each to be set once.
  std::vector<Parameter> parameters();

  /// A fresh tree for so many texts: sources 0 … of its first nodes. `request` holds for the whole
  /// decoding: its patches are applied in every step, and the state keeps what it asks for. Throws
  /// internal where limits.positions is beyond the decoder's max_length.
  DecodingState begin(std::size_t texts, const DecodingLimits& limits, const TraceRequest& request);

  /// Feeds one token per extension, all in one step, which become the tree's next nodes in this
  /// order. Returns hidden [R, D], after the final norm; it lives until the next call of begin or
  /// decode. An extension may follow a node of an earlier row of the same call, so that a whole
  /// sequence can be fed at once: its rows are the same to the bit as one call a token. Allocates
  /// nothing until the state outgrows the likely size. Throws internal where a limit of the state
  /// would be passed.
  View<2> decode(DecodingState& state, std::span<const Extension> extensions) {
    return decoder_(state, extensions, workspace_);
  }

  /// logits [R, V] = lm_head(hidden); they live until the next call of begin or project. Allocates
  /// nothing as long as R is within the room that was made for some state begun.
  View<2> project(const ConstView<2>& hidden);

  /// The same of the step that the state has just taken, which shows them as `logits`.
  View<2> project(const ConstView<2>& hidden, DecodingState& state);

  /// The logits [R, V] that rows [R, D] of the decoder's stream have where nothing but the final
  /// norm and lm_head follows; they live until the next call of begin or project. The rows are
  /// overwritten.
  View<2> project_stream(View<2> stream);

  /// The projection onto these target tokens alone; `project` then gives their logits [R, n].
  Linear projection(std::span<const std::int32_t> ids) const { return lm_head_.select(ids); }
  void project(const ConstView<2>& hidden, const Linear& projection, View<2> logits);

  /// Makes room for the logits of so many rows.
  void reserve_logits(std::size_t rows);

  /// What projects, and what it multiplies states by first.
  const Linear& lm_head() const { return lm_head_; }
  float scale_of_states() const;

  std::size_t vocab_size() const { return lm_head_.out(); }
  Compute compute() const { return compute_; }
  const Decoder& decoder() const { return decoder_; }

 protected:
  /// Of a decoder that attends to an encoder, or of one alone.
  LanguageModel(const Architecture& architecture, Compute compute, Stack::Kind kind);

  /// What is declared before the stacks, and after them.
  void declare_head(const ParameterScope& root);
  void declare_decoder(const ParameterScope& root) { decoder_.declare(root.scope("decoder")); }
  /// Makes room for a decoding's steps, which may also take this many keys.
  void prepare(const DecodingLimits& limits, std::size_t longest);

  const Architecture& architecture() const { return architecture_; }
  /// The table of both stacks, where they have one that is not lm_head's weight; else null.
  const Embedding* embed_tokens() const { return embed_tokens_.get(); }
  Workspace& workspace() { return workspace_; }

 private:
  std::unique_ptr<Embedding> make_decoder_embedding(Compute compute) const;

  Architecture architecture_;
  Compute compute_;
  Linear lm_head_;                           // [D, V]
  std::unique_ptr<Embedding> embed_tokens_;  // of both stacks; null: see embed_tokens()
  Decoder decoder_;
  Workspace workspace_;
  Tensor<2> logits_;  // [R, V]
};

}  // namespace glassformer
