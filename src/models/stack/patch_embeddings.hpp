#pragma once

#include "layers/embed/patch_embedding.hpp"
#include "layers/embed/positional_encoding.hpp"
#include "layers/norm/norm.hpp"
#include "models/config.hpp"
#include "models/stack/stack_input.hpp"

namespace glassformer {

/// The input of a stack that reads pictures: the vectors of the patches, learned rows before them
/// if the configuration has any, and learned positions (Dosovitskiy et al. 2021, "An Image is Worth
/// 16x16 Words", equation 1; Touvron et al. 2021 for the distillation token).
class PatchEmbeddings final : public StackInput {
 public:
  /// The stack must read patches.
  PatchEmbeddings(const StackConfig& config, Compute compute);

  /// Declares `class_token`, `distillation_token`, `embed_patches`, `embed_positions` and, with a
  /// norm, `layernorm_embedding`.
  void declare(const ParameterScope& scope) override;

  using StackInput::operator();
  /// Reads pictures of any size that is at least one patch. For a size other than that of the
  /// configuration, the positions are interpolated. Traces `embed_patches`, `embed_positions` and
  /// `embeddings`.
  void operator()(const Pictures& pictures, View x, const Run& run) const override;
  void list(View x, const Run& run) const override { (*this)(Pictures(), x, run); }
  const Norm* layer_norm() const override { return layernorm_embedding_.get(); }

 private:
  void put_row(const Parameter& token, View row, const Run& run) const;
  void add_positions(View x, const Pictures& pictures, const Run& run) const;

  PatchInput input_;
  std::size_t d_model_;
  Parameter class_token_, distillation_token_;  // [1, D]
  PatchEmbedding embed_patches_;
  LearnedPositions embed_positions_;
  std::unique_ptr<Norm> layernorm_embedding_;  // may be null
};

}  // namespace glassformer
