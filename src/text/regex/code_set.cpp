#include "text/regex/code_set.hpp"

#include <algorithm>
#include <cstddef>

namespace glassformer::regex {
namespace {

using unicode::Categories;
using unicode::categories;
using unicode::Category;

constexpr char32_t long_s = 0x17F, kelvin_sign = 0x212A;

}  // namespace

CodeSet::CodeSet(char32_t first, char32_t last) {
  bounds_.push_back(first);
  if (last < unicode::last_code) bounds_.push_back(last + 1);
}

CodeSet CodeSet::named(std::string_view name) {
  // The categories' names, in their order. "so" covers two of them.
  constexpr std::string_view names =
      "lullltlmlomnmcmendnlnopcpdpspepipfposmscsksosozszlzpcccfcscocn";
  const auto letter = [&](std::size_t i) { return static_cast<char>(name[i] | 0x20); };
  CodeSet set;
  if (name.size() == 3 && letter(0) == 'h' && letter(1) == 'a' && letter(2) == 'n') {
    set.bounds_ = unicode::han_bounds();
  }
  if (name.empty() || name.size() > 2) return set;
  Categories wanted = 0;
  for (std::size_t i = 0; i < names.size(); i += 2) {
    const bool same = names[i] == letter(0) && (name.size() == 1 || names[i + 1] == letter(1));
    if (same) wanted |= Categories{1} << i / 2;
  }
  return CodeSet(wanted);
}

// Combines two sets. The bits of `kept` select the characters to keep: those only in this set, only
// in the other one, or in both.
void CodeSet::combine(const CodeSet& other, unsigned kept) {
  const std::vector<char32_t>&left = bounds_, &right = other.bounds_;
  std::vector<char32_t> result;
  for (std::size_t i = 0, j = 0; i < left.size() || j < right.size();) {
    const bool from_left = j == right.size() || (i < left.size() && left[i] <= right[j]);
    const char32_t bound = from_left ? left[i] : right[j];
    if (i < left.size() && left[i] == bound) ++i;
    if (j < right.size() && right[j] == bound) ++j;
    // After an odd number of bounds, characters are in the set.
    const bool in = kept >> (i % 2 + 2 * (j % 2)) & 1;
    if (in != (result.size() % 2 == 1)) result.push_back(bound);
  }
  bounds_ = std::move(result);
}

void CodeSet::add_cases() {
  for (char32_t lower = 'a'; lower <= 'z'; ++lower) {
    const char32_t upper = lower - 32;
    const char32_t third = lower == 's' ? long_s : lower == 'k' ? kelvin_sign : lower;
    if (!contains(lower) && !contains(upper)) continue;
    add(lower, lower);
    add(upper, upper);
    add(third, third);
  }
}

bool CodeSet::contains(char32_t code) const {
  const auto behind = std::upper_bound(bounds_.begin(), bounds_.end(), code);
  return (behind - bounds_.begin()) % 2 == 1;
}

void CodeSet::mark(std::uint32_t* bits, char32_t size) const {
  for (std::size_t i = 0; i < bounds_.size(); i += 2) {
    const char32_t end = i + 1 < bounds_.size() ? std::min(bounds_[i + 1], size) : size;
    for (char32_t code = bounds_[i]; code < end; ++code) {
      bits[code / 32] |= std::uint32_t{1} << code % 32;
    }
  }
}

bool CodeSet::has_unknown_cases() const {
  using enum Category;
  CodeSet cased(categories(uppercase_letter, modifier_letter) | unicode::only(nonspacing_mark) |
                unicode::only(letter_number) | categories(other_symbol, letter_symbol));
  cased.remove(CodeSet(0, 0x7F));
  cased.keep(*this);
  return !cased.empty();
}

}  // namespace glassformer::regex
