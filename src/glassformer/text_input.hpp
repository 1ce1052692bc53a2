#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// A range whose elements an Item can refer to: not of strings that are made one by one.
template <typename Range, typename Item>
concept RangeOf = std::ranges::input_range<Range> &&
    std::convertible_to<std::ranges::range_reference_t<Range>, Item> &&
    !std::same_as<std::ranges::range_reference_t<Range>, std::string>;

/// Several inputs, as a call takes them: a range of what an Item is made of, such as a vector of
/// std::string or of std::string_view, or a list in braces. It refers to the texts, which must live
/// until the call returns.
template <typename Item>
class Inputs {
 public:
  template <RangeOf<Item> Range>
  Inputs(Range&& range) {
    for (auto&& each : range) items_.push_back(each);
  }
  Inputs(std::initializer_list<Item> items) : items_(items) {}

  std::span<const Item> items() const { return items_; }

 private:
  std::vector<Item> items_;
};

/// Several texts.
using Texts = Inputs<std::string_view>;

/// Several texts, alone or in pairs.
using TextInputs = Inputs<TextInput>;

}  // namespace glassformer
