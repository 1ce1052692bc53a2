#pragma once

namespace glassformer {

/// What this program was linked with, beside what every model needs. One that is linked as a whole
/// has none of the code behind a question that it answers with no: the binaries of the package are
/// only what a model needs (wasm/binding.cpp). Everything else has all of it.
bool links_readers();   ///< models that read texts: labels, entities, answers, vectors
bool links_writers();   ///< models that write texts: translations, continuations
bool links_printing();  ///< results as text alone: lines, or JSON with tensors in it

/// Thrown where a folder holds a model of a kind that is not linked, as far as one can tell.
struct NotLinked {};

/// Throws NotLinked unless models of this kind are linked.
inline void expect_linked(bool writes) {
  if (!(writes ? links_writers() : links_readers())) throw NotLinked();
}

}  // namespace glassformer
