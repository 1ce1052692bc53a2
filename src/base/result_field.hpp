#pragma once

#include "base/option.hpp"

namespace glassformer {

/// What there is to know of a field of a result, said once, beside it. A result names its fields in
/// a function `fields(visit, result)`, which calls for each of them
///
///   visit("score", result.score, {.help = "…"});
///
/// What writes the result as JSON visits them, and so does what describes it: `glassformer schema`,
/// from which the types and the documentation of JavaScript and Python follow (tools/schema.mjs).
struct ResultField {
  /// Sentences for somebody who knows Transformers, but not this library.
  HelpText help = "";
  /// The option with which it is there. Empty: always, or where its type is optional.
  HelpText with = "";
  /// Whether it is left out where it is empty.
  bool omitted = false;
  /// The greatest of a few whole numbers. 0: any number.
  unsigned most = 0;
};

}  // namespace glassformer
