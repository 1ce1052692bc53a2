#pragma once

#include <memory>
#include <vector>

#include "layers/attention/relative_bias.hpp"
#include "layers/block.hpp"
#include "layers/embed/embedding.hpp"
#include "layers/embed/positional_encoding.hpp"
#include "models/architecture.hpp"

namespace glassformer {

/// What leads into a stack, its blocks and, where there is one, its final norm: one column of
/// "Attention Is All You Need", figure 1. Of the classes that the configuration names.
class Stack {
 public:
  /// A stack that reads what it is given alone, or one that attends to an encoder's output too.
  enum class Kind { alone, attends };
  Stack(Kind kind, const StackConfig& config, Compute compute,
        std::unique_ptr<Embedding> embed_tokens);

  /// Declares `embed_tokens`, `embed_positions`, `relative_bias`, `embed_types`,
  /// `layernorm_embedding`, `layers.N`, `layer_norm`.
  void declare(const ParameterScope& scope);

  /// x [N, D] = what enters the first block, of tokens of these texts and at these positions: the
  /// batch's, or the given ones. Shows `embed_tokens`, `embed_positions`, `embed_types` and
  /// `embeddings`.
  void embed(const Batch& batch, View<2> x, const Run& run) const;
  void embed(std::span<const std::int32_t> ids, std::span<const std::size_t> positions, View<2> x,
             const Run& run) const;

  /// Block `layer` on x [N, D], in place.
  void block(std::size_t layer, View<2> x, const Run& run) const;
  /// What comes after the last block, on x in place. Shows `layer_norm` and `output`.
  void finish(View<2> x, const Run& run) const;

  const StackConfig& config() const { return config_; }
  const Block& block(std::size_t layer) const { return *blocks_[layer]; }
  /// The norm on the embeddings, and the one after the last block; null: there is none.
  const Norm* layernorm_embedding() const { return layernorm_embedding_.get(); }
  const Norm* layer_norm() const { return layer_norm_.get(); }

  /// Makes room for so many positions, so that these allocate nothing.
  void reserve_positions(std::size_t count) const;

 private:
  // The positions of tokens where padding has none.
  std::vector<std::size_t> without_padding(std::span<const std::int32_t> ids,
                                           const Sequences& sequences) const;
  // embed, of tokens at the positions of sequences or at given ones.
  template <class Positions>
  void embed_at(const Positions& positions, std::span<const std::int32_t> ids,
                std::span<const std::int32_t> types, View<2> x, const Run& run) const;

  StackConfig config_;
  std::unique_ptr<Embedding> embed_tokens_;
  std::unique_ptr<PositionalEncoding> embed_positions_;  // none where positions are relative
  std::unique_ptr<RelativeBias> relative_bias_;          // only where they are
  std::unique_ptr<TypeEmbedding> embed_types_;           // none where texts are not told apart
  std::unique_ptr<Norm> layernorm_embedding_;            // none without an embedding norm
  std::vector<std::unique_ptr<Block>> blocks_;
  std::unique_ptr<Norm> layer_norm_;  // none without a final norm
};

/// The table of a stack's token embeddings; or the one that is lm_head's weight, or another's.
std::unique_ptr<Embedding> make_embedding(const StackConfig& config, Compute compute);
std::unique_ptr<Embedding> make_embedding(const StackConfig& config, const Linear& lm_head);
std::unique_ptr<Embedding> make_embedding(const StackConfig& config, const Embedding& table);

/// The room that a stack's activations take.
WorkspaceShape workspace_shape(const StackConfig& config);
/// And those of two stacks that take turns.
WorkspaceShape workspace_shape(const StackConfig& one, const StackConfig& other);

}  // namespace glassformer
