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

/// The input of one result: a text in UTF-8 or, for models that read two together, two texts. Bytes
/// that are not UTF-8 are read as U+FFFD. The texts must outlive this object.
struct TextInput {
  std::string_view text;
  std::optional<std::string_view> pair = {};

  /// One text. Implicit, because most inputs are single texts.
  template <std::convertible_to<std::string_view> Text>
  TextInput(const Text& only) : text(only) {}
  TextInput(std::string_view first, std::string_view second) : text(first), pair(second) {}

  /// Returns the text if it is single. Throws `invalid_option` if there are two.
  std::string_view alone() const;
};

/// A range whose elements an Item can refer to. Excludes strings that are created one by one.
template <typename Range, typename Item>
concept RangeOf = std::ranges::input_range<Range> &&
    std::convertible_to<std::ranges::range_reference_t<Range>, Item> &&
    !std::same_as<std::ranges::range_reference_t<Range>, std::string>;

/// Several inputs of a call: a range of values that convert to Item, such as a vector of
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

/// Several texts, or pairs of texts.
using TextInputs = Inputs<TextInput>;

}  // namespace glassformer
