#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/unicode/unicode.hpp"

namespace glassformer::regex {

/// A set of characters.
class CodeSet {
 public:
  CodeSet() = default;
  CodeSet(char32_t first, char32_t last);
  explicit CodeSet(unicode::Categories categories) : bounds_(unicode::bounds_of(categories)) {}

  /// Returns a general category such as "Lu", all categories with a first letter such as "L", or
  /// the script "Han". Case does not matter. Returns an empty set for other names.
  static CodeSet named(std::string_view name);

  void add(const CodeSet& other) { combine(other, in_left | in_right | in_both); }
  void add(char32_t first, char32_t last) { add(CodeSet(first, last)); }
  /// Removes the characters that are not in `other`.
  void keep(const CodeSet& other) { combine(other, in_both); }
  void remove(const CodeSet& other) { combine(other, in_left); }
  /// Replaces the set by all characters that are not in it.
  void invert() { combine(CodeSet(0, unicode::last_code), in_right); }
  /// Adds the other cases of ASCII letters: the other letter, the long s and the Kelvin sign.
  void add_cases();

  bool contains(char32_t code) const;
  bool empty() const { return bounds_.empty(); }
  /// Returns whether the set has exactly one character, first().
  bool is_single() const { return bounds_.size() == 2 && bounds_[1] == bounds_[0] + 1; }
  char32_t first() const { return bounds_[0]; }
  /// Sets the bits of its characters below `size`, 32 per number.
  void mark(std::uint32_t* bits, char32_t size) const;
  /// Returns whether the set has characters beyond ASCII that may have other cases. add_cases()
  /// does not add these.
  bool has_unknown_cases() const;

  bool operator==(const CodeSet&) const = default;

 private:
  static constexpr unsigned in_left = 2, in_right = 4,
                            in_both = 8;  // in the left set, the right set, both
  void combine(const CodeSet& other, unsigned kept);

  // The code points where ranges of the set begin or end, in ascending order.
  std::vector<char32_t> bounds_;
};

}  // namespace glassformer::regex
