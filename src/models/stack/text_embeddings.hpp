#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/compute.hpp"
#include "layers/embed/embedding.hpp"
#include "layers/embed/positional_encoding.hpp"
#include "layers/norm/norm.hpp"
#include "models/config.hpp"
#include "models/stack/stack_input.hpp"
#include "run/run.hpp"

namespace glassformer {

/// The input of a stack that reads tokens: "Embedding" and "Positional Encoding" in "Attention Is
/// All You Need", figure 1.
class TextEmbeddings final : public StackInput {
 public:
  TextEmbeddings(const StackConfig& config, std::unique_ptr<Embedding> embed_tokens);

  /// Declares `embed_tokens`, `embed_positions`, `embed_types`, `layernorm_embedding`,
  /// `embed_projection`.
  void declare(const ParameterScope& scope) override;

  using StackInput::operator();
  /// Writes the input of the first block for the batch's tokens to x [N, D]. Traces `embed_tokens`,
  /// `embed_positions`, `embed_types` and `embeddings`.
  void operator()(const Batch& batch, View x, const Run& run) const override;
  /// Does the same for tokens at these positions [N]. Padding gets no position.
  void operator()(std::span<const std::int32_t> ids, std::span<const std::size_t> positions, View x,
                  const Run& run) const;

  /// Returns the norm on the embeddings. May be null.
  void list(View x, const Run& run) const override { (*this)(Batch(), x, run); }
  const Norm* layer_norm() const override { return layernorm_embedding_.get(); }
  const Linear* projection() const override { return embed_projection_.get(); }

  /// Computes this many positions, so that they allocate nothing later.
  void reserve_positions(std::size_t count, Session& session) const {
    if (embed_positions_) embed_positions_->reserve(count, session);
  }

 private:
  // Returns the tokens' positions. Padding gets no position and is not counted.
  std::vector<std::size_t> without_padding(std::span<const std::int32_t> ids,
                                           const Sequences& sequences) const;
  // The embeddings [N, E]: x [N, D] itself or, if they are projected to it later, another tensor.
  View rows_for(View x, const Run& run) const;
  // Adds the rest to the rows of the tokens, and writes the result to x.
  template <class Positions>
  void add_rest(const Positions& positions, std::span<const std::int32_t> types, View embeddings,
                View x, const Run& run) const;

  TokenInput config_;
  std::unique_ptr<Embedding> embed_tokens_;
  std::unique_ptr<PositionalEncoding> embed_positions_;  // null if nothing is added
  std::unique_ptr<TypeEmbedding> embed_types_;           // null if texts are not distinguished
  std::unique_ptr<Norm> layernorm_embedding_;            // may be null
  std::unique_ptr<Linear> embed_projection_;             // may be null
};

/// Creates a stack's token embedding: with its own table, with lm_head's weight, or with the table
/// of another embedding.
std::unique_ptr<Embedding> make_embedding(const StackConfig& config, Compute compute);
std::unique_ptr<Embedding> make_embedding(const StackConfig& config, const Linear& lm_head);
std::unique_ptr<Embedding> make_embedding(const StackConfig& config, const Embedding& table);
/// Creates the table that the stacks of a model share, whose rows each of them scales.
std::unique_ptr<Embedding> make_shared_table(StackConfig config, Compute compute);

}  // namespace glassformer
