#pragma once

#include <limits>

namespace glassformer {

#if defined(__wasm__)
/// WebAssembly binaries explain no options, and have no room for the sentences.
struct HelpText {
  constexpr HelpText(const char*) {}
};
#else
using HelpText = const char*;
#endif

/// What there is to know of an option, said once, beside its field. A struct of options names its
/// fields in a function `fields(visit, options)`, which calls for each of them
///
///   visit("top_p", options.top_p, {.help = "…", .least = 0, .most = 1});
///
/// Everything else follows: how it is read and checked, its flag with help on the command line, its
/// type and documentation in TypeScript and Python (see `glassformer schema` and tools/schema.mjs).
/// The names are in snake case; each program spells them as its users do (spelling.hpp).
struct Option {
  static constexpr double any = std::numeric_limits<double>::infinity();
  /// The greatest whole number that JavaScript has.
  static constexpr double most_whole = 0x1p53 - 1;

  /// Sentences for somebody who knows Transformers, but not this library. Names of options stand
  /// between backquotes.
  HelpText help = "";
  /// What applies if the option is not given, where its default does not say that: "as the model's
  /// files say, or 64".
  HelpText absent = "";
  /// The least and the greatest number, or number of a list.
  double least = -any, most = any;
  /// What a list consists of: "ids of tokens".
  const char* items = "";
  /// Whether it only adds to the result.
  bool adds = false;
  /// Whether the classes of JavaScript and Python give it in another way, as a method or an
  /// argument of its own.
  bool apart = false;
};

}  // namespace glassformer
