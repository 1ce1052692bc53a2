#include "layers/norm/residual.hpp"

namespace glassformer {

ConstView Residual::begin(View x, const Run& run) const {
  const bool normed = norm_.norm && placement_ == NormPlacement::pre;
  if (!normed && connected_ && !run.tape()) return const_view(x);
  const View input = run.make(x.shape(0), x.shape(1));
  if (normed) {
    (*norm_.norm)(const_view(x), input, run);
    run.done(norm_.name, input);
  } else {
    scale(const_view(x), 1.0f, input, run);
  }
  if (!connected_) set_to_zero(x, run);
  return const_view(input);
}

void Residual::add_normed(View x, View output, const Run& run) const {
  (*output_norm_.norm)(const_view(output), output, run);
  run.done(output_norm_.name, output);
  add(x, const_view(output), run);
}

void Residual::finish(View x, const Run& run, const char* residual) const {
  if (residual) run.done(residual, x);
  if (!norm_.norm || placement_ == NormPlacement::pre) return;
  (*norm_.norm)(const_view(x), x, run);
  run.done(norm_.name, x);
}

}  // namespace glassformer
