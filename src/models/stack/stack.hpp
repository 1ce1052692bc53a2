#pragma once

#include <memory>
#include <vector>

#include "kernels/compute.hpp"
#include "models/config.hpp"
#include "models/stack/block.hpp"

namespace glassformer {

/// The blocks of a stack and its final norm, if there is one: one column of "Attention Is All You
/// Need", figure 1, without its input.
class Stack {
 public:
  /// The rows that the blocks attend to: an encoder's own rows; a decoder's own rows; or a
  /// decoder's own rows and an encoder's states.
  enum class Kind { encoder, decoder, decoder_with_encoder };

  Stack(Kind kind, const StackConfig& config, Compute compute);

  /// Declares `relative_bias`, `relative_embeddings`, `layers.N`, or `layer_groups.N` if layers
  /// share weights, and `layer_norm`.
  void declare(const ParameterScope& scope);

  /// Prepares a run of this many rows, before its input is computed: what it computes belongs to
  /// the caller's Arena::Scope. Traces `relative_embeddings`.
  void begin(std::size_t rows, Run& run) const;

  /// Runs block `layer` on x [N, D] in place.
  void block(std::size_t layer, View x, const Run& run) const;

  /// Runs blocks `first` … and the final norm on x [N, D] in place.
  void run_from(std::size_t first, View x, const Run& run) const;

  /// Runs the part after the last block on x in place. Traces `layer_norm` and `output`.
  void finish(View x, const Run& run) const;

  const StackConfig& config() const { return config_; }
  const Block& block(std::size_t layer) const { return *blocks_[config_.group_of(layer)]; }
  /// Returns the norm after the last block. May be null.
  const Norm* layer_norm() const { return layer_norm_.get(); }

  /// Computes this many distances, so that they allocate nothing later.
  void reserve_distances(std::size_t count, Session& session) const {
    if (relative_bias_) relative_bias_->reserve(count, session);
  }

 private:
  StackConfig config_;
  std::unique_ptr<RelativeBias> relative_bias_;              // null if positions are not relative
  std::unique_ptr<RelativeEmbeddings> relative_embeddings_;  // of disentangled attention
  std::vector<std::unique_ptr<Block>> blocks_;               // one for each group of layers
  std::unique_ptr<Norm> layer_norm_;                         // may be null
};

}  // namespace glassformer
