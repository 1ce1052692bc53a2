#include "models/stack/patch_embeddings.hpp"

#include <algorithm>
#include <array>

#include "models/stack/add_embedding.hpp"

namespace glassformer {

PatchEmbeddings::PatchEmbeddings(const StackConfig& config, Compute compute)
    : input_(std::get<PatchInput>(config.input)),
      d_model_(config.d_model),
      embed_patches_(input_, d_model_, outside_blocks(compute)),
      embed_positions_(input_.rows(), d_model_) {
  if (input_.norm) layernorm_embedding_ = make_norm(config.layer_norm, d_model_);
}

void PatchEmbeddings::declare(const ParameterScope& scope) {
  const auto declare_token = [&](bool present, const char* name, Parameter& token) {
    if (!present) return;
    scope.declare(name, {1, d_model_}, token);
    scope.store_last_as({1, 1, d_model_});
  };
  declare_token(input_.class_token, "class_token", class_token_);
  declare_token(input_.distillation_token, "distillation_token", distillation_token_);
  embed_patches_.declare(scope.scope("embed_patches"));
  embed_positions_.declare(scope.scope("embed_positions"));
  scope.store_last_as({1, input_.rows(), d_model_});
  if (layernorm_embedding_) layernorm_embedding_->declare(scope.scope("layernorm_embedding"));
}

void PatchEmbeddings::operator()(const Pictures& pictures, View x, const Run& run) const {
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const View picture = rows(x, pictures.start(i), pictures.length(i));
    std::size_t row = 0;
    if (input_.class_token) put_row(class_token_, rows(picture, row++, 1), run);
    if (input_.distillation_token) put_row(distillation_token_, rows(picture, row++, 1), run);
    const Pixels& pixels = pictures.pixels(i);
    embed_patches_(pixels.values, pixels.width, rows(picture, row, picture.shape(0) - row), run);
  }
  run.done("embed_patches", x);
  add_embedding("embed_positions", x, run, [&](View sum) { add_positions(sum, pictures, run); });
  if (layernorm_embedding_) (*layernorm_embedding_)(const_view(x), x, run);
  run.done("embeddings", x);
  run.drop(x);
}

void PatchEmbeddings::add_positions(View x, const Pictures& pictures, const Run& run) const {
  bool interpolates = false;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    interpolates = interpolates || pictures.pixels(i).height != input_.height ||
                   pictures.pixels(i).width != input_.width;
  }
  if (!interpolates) {
    return embed_positions_.add_to(x, static_cast<const Sequences&>(pictures), run);
  }
  const PositionGrid from = {input_.special_rows(), input_.grid_rows(), input_.grid_columns()};
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const Pixels& pixels = pictures.pixels(i);
    const PositionGrid to = {from.special, pixels.height / input_.patch_height,
                             pixels.width / input_.patch_width};
    embed_positions_.add_interpolated(rows(x, pictures.start(i), pictures.length(i)), from, to);
  }
}

void PatchEmbeddings::put_row(const Parameter& token, View row, const Run& run) const {
  std::copy_n(loaded(token, "a learned row before the patches"), d_model_, row.data());
  if (!run.tape()) return;
  run.tape()->record([&token, row](Tape& tape) {
    positions_backward(token, 0, std::array<std::size_t, 1>{0}, const_view(row), tape);
  });
}

}  // namespace glassformer
