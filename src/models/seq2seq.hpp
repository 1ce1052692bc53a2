#pragma once

#include <memory>
#include <span>
#include <vector>

#include "models/decoder.hpp"
#include "models/encoder.hpp"

namespace glassformer {

/// The whole Transformer of "Attention Is All You Need", figure 1: an encoder, a decoder and a
/// projection onto the target vocabulary.
///
///     encoded = model.encode(sources, request)
///     state = model.begin(encoded, limits, request)
///     hidden = model.decode(state, {{.source = 0, .id = start}})  // node 0
///     logits = model.project(hidden)                              // [1, V]: its first token's
///     hidden = model.decode(state, {{.parent = 0, .id = a},       // node 1
///                                   {.parent = 0, .id = b}})      // node 2
class Seq2Seq {
 public:
  /// Parameters take memory when they are loaded, and all must be before it runs.
  explicit Seq2Seq(const Architecture& architecture, Compute compute = Compute::f32);

  /// Every parameter by its checkpoint name, each to be set once.
  std::vector<Parameter> parameters();

  struct Encoded {
    Batch sources;
    Tensor<2> states;                               ///< [N, D]
    std::vector<AttentionMap> attention;            ///< the encoder's, one a source, if asked for
    std::vector<std::vector<TracedTensor>> traces;  ///< one list a source, if asked for
  };
  /// Runs the encoder over a batch. Requested heads must exist and lengths must not exceed the
  /// encoder's max_length: the caller has checked both.
  Encoded encode(const Batch& sources, const TraceRequest& request);

  /// A fresh tree over these sources, with their cross keys and values computed. `request` holds
  /// for the whole decoding: its patches are applied in every step, and the
  /// state keeps what it asks for. Throws internal where limits.positions is beyond the decoder's
  /// max_length.
  DecodingState begin(const Encoded& encoded, const DecodingLimits& limits,
                      const TraceRequest& request);

  /// Feeds one token per extension, all in one step, which become the tree's next nodes in this
  /// order. Returns hidden [R, D], after the final norm; it lives until the next call of begin or
  /// decode. An extension may follow a node of an earlier row of the same call, so that a whole
  /// sequence can be fed at once: its rows are the same to the bit as one call a token. Allocates
  /// nothing until the state outgrows the likely size. Throws internal where a limit of the state
  /// would be passed.
  View<2> decode(DecodingState& state, std::span<const Extension> extensions);

  /// logits [R, V] = lm_head(hidden); they live until the next call of begin or project. Allocates
  /// nothing as long as R is within the limits of some state begun.
  View<2> project(const ConstView<2>& hidden);

  /// The same of the step that the state has just taken, which shows them as `logits`.
  View<2> project(const ConstView<2>& hidden, DecodingState& state);

  /// The logits [R, V] that rows [R, D] of the decoder's stream have where nothing but the final
  /// norm and lm_head follows; they live until the next call of begin or project. The rows are
  /// overwritten.
  View<2> project_stream(View<2> stream);

  /// The projection onto these target tokens alone; `project` then gives their logits [R, n].
  Linear projection(std::span<const std::int32_t> ids) const { return lm_head_.select(ids); }
  void project(const ConstView<2>& hidden, const Linear& projection, View<2> logits) {
    projection(hidden, logits, workspace_);
  }

  std::size_t target_vocab_size() const { return lm_head_.out(); }
  Compute compute() const { return compute_; }
  const Encoder& encoder() const { return encoder_; }
  const Decoder& decoder() const { return decoder_; }

 private:
  void reserve_logits(std::size_t rows);

  Architecture architecture_;
  Compute compute_;
  Linear lm_head_;  // [D, V]
  Encoder encoder_;
  Decoder decoder_;
  Workspace workspace_;
  Tensor<2> logits_;  // [R, V]
};

}  // namespace glassformer
