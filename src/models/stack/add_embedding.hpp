#pragma once

#include <algorithm>
#include <string_view>

#include "layers/elementwise/elementwise.hpp"
#include "run/run.hpp"

namespace glassformer {

/// Calls add(x), which adds an embedding to x. If the embedding is traced, it is computed in a
/// separate buffer first.
template <class Add>
void add_embedding(std::string_view name, View x, const Run& run, const Add& add) {
  if (!run.traces(name)) return add(x);
  const Arena::Scope scope(run.arena());
  View added = run.make(x.shape(0), x.shape(1));
  std::fill_n(added.data(), added.size(), 0.0f);
  add(added);
  run.done(name, added);
  glassformer::add(x, const_view(added), run);
}

}  // namespace glassformer
