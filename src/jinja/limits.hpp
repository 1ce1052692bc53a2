#pragma once

#include <cstddef>
#include <cstdint>

namespace glassformer::jinja {

/// What one rendering may cost. A template that needs more fails with `too_large`.
struct Limits {
  /// Evaluated nodes, items that filters visit, and 64-byte pieces of text that are read or copied.
  std::uint64_t steps = 20'000'000;
  /// Bytes of the result.
  std::size_t output_bytes = 16 << 20;
  /// Bytes of the values that exist at the same time.
  std::size_t value_bytes = 64 << 20;
};

/// The maximum size of a template.
inline constexpr std::size_t max_source_bytes = 1 << 19;
/// The maximum number of different variable names in a template.
inline constexpr std::size_t max_names = 1000;
/// The maximum number of parentheses, operators and statements within each other in a template.
inline constexpr std::size_t max_nesting = 100;
/// The maximum number of expressions, statements and calls of macros that are evaluated within each
/// other. The stack of the WebAssembly binary holds a few times as many.
inline constexpr std::size_t max_evaluation_depth = 300;
/// The maximum number of lists and objects within each other.
inline constexpr std::size_t max_value_depth = 100;

}  // namespace glassformer::jinja
