#include "models/stack/patch_embeddings.hpp"

#include <algorithm>
#include <array>

#include "models/stack/add_embedding.hpp"

namespace glassformer {

PatchEmbeddings::PatchEmbeddings(const StackConfig& config, Compute compute)
    : input_(std::get<PatchInput>(config.input)),
      d_model_(config.d_model),
      embed_patches_(input_, d_model_, compute),
      embed_positions_(input_.rows(), d_model_) {}

void PatchEmbeddings::declare(const ParameterScope& scope) {
  if (input_.class_token) scope.declare("class_token", {1, d_model_}, class_token_);
  embed_patches_.declare(scope.scope("embed_patches"));
  embed_positions_.declare(scope.scope("embed_positions"));
}

void PatchEmbeddings::operator()(const Pictures& pictures, View x, const Run& run) const {
  const std::size_t before = input_.class_token ? 1 : 0;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    View picture = rows(x, pictures.start(i), pictures.length(i));
    if (before > 0) put_class_token(rows(picture, 0, 1), run);
    embed_patches_(pictures.pixels(i), rows(picture, before, picture.shape(0) - before), run);
  }
  run.done("embed_patches", x);
  add_embedding("embed_positions", x, run, [&](View sum) {
    embed_positions_.add_to(sum, static_cast<const Sequences&>(pictures), run);
  });
  run.done("embeddings", x);
  run.drop(x);
}

void PatchEmbeddings::put_class_token(View row, const Run& run) const {
  std::copy_n(loaded(class_token_, "class_token"), d_model_, row.data());
  if (!run.tape()) return;
  run.tape()->record([this, row](Tape& tape) {
    positions_backward(class_token_, 0, std::array<std::size_t, 1>{0}, const_view(row), tape);
  });
}

}  // namespace glassformer
