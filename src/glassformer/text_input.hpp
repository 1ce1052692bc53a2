#pragma once

#include <concepts>
#include <optional>
#include <string_view>

namespace glassformer {

/// What one result is about: a text, in UTF-8, or, of models that read two together, two. Bytes
/// that are not UTF-8 read as U+FFFD. The texts outlive this.
struct TextInput {
  std::string_view text;
  std::optional<std::string_view> pair = {};

  /// One text; implicit, as most are alone.
  template <std::convertible_to<std::string_view> Text>
  TextInput(const Text& only) : text(only) {}
  TextInput(std::string_view first, std::string_view second) : text(first), pair(second) {}

  /// The text, if it is alone. Throws `invalid_option` if it is not.
  std::string_view alone() const;
};

}  // namespace glassformer
