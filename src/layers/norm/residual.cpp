#include "layers/norm/residual.hpp"

namespace glassformer {

ConstView Residual::begin(View x, const Run& run) const {
  const bool normed = norm_ && placement_ == NormPlacement::pre;
  if (!normed && connected_ && !run.tape()) return const_view(x);
  const View input = run.make(x.shape(0), x.shape(1));
  if (normed) {
    (*norm_)(const_view(x), input, run);
    run.done(name_, input);
  } else {
    scale(const_view(x), 1.0f, input, run);
  }
  if (!connected_) set_to_zero(x, run);
  return const_view(input);
}

void Residual::end(View x, const Run& run, const char* residual) const {
  if (residual) run.done(residual, x);
  if (!norm_ || placement_ == NormPlacement::pre) return;
  (*norm_)(const_view(x), x, run);
  run.done(name_, x);
}

}  // namespace glassformer
