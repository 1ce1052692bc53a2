#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/rendering.hpp"

// Operations on texts that filters, methods and formats share.

namespace glassformer::jinja {

/// Reads an integer as Python's int(text, base). Returns whether it is one. Fails if it is too
/// large.
bool parse_integer(Rendering& rendering, std::string_view text, std::int64_t base,
                   std::int64_t& number);

/// Reads a number as Python's float(text). Returns whether it is one.
bool parse_python_float(std::string_view text, double& number);

enum class Alignment : std::uint8_t { left, right, center };

/// Fills a text with a character up to a width.
std::string padded(Rendering& rendering, std::string_view text, std::int64_t width,
                   std::string_view filler, Alignment alignment);

/// Removes whitespace, or the given characters, at the start and the end.
std::string_view stripped(Rendering& rendering, std::string_view text,
                          const std::string_view* characters, bool at_start, bool at_end);

/// Finds a text within others in linear time, which std::string::find does not.
class Finder {
 public:
  Finder(Rendering& rendering, std::string_view wanted);

  /// Returns the first place at or behind `from`, or npos.
  std::size_t find(std::string_view text, std::size_t from = 0) const;
  /// Returns the last place that ends at or before `end`, or npos.
  std::size_t find_last(std::string_view text, std::size_t end) const;

 private:
  std::size_t search(std::string_view text, bool is_backward) const;

  Rendering& rendering_;
  std::string_view wanted_;
  // For each length of a beginning of `wanted`: the length of the longest shorter beginning that it
  // ends with. Empty for short texts. The second is for `wanted` in reverse.
  std::vector<std::uint32_t> borders_, last_borders_;
};

/// Replaces at most `count` occurrences, or all if it is negative.
std::string replaced(Rendering& rendering, std::string_view text, std::string_view old,
                     std::string_view replacement, std::int64_t count);

/// Splits a text into its lines.
std::vector<std::string_view> split_lines(Rendering& rendering, std::string_view text,
                                          bool keeps_ends);

/// Splits a text at whitespace, at most `most` times if that is not negative.
std::vector<std::string_view> split_spaces(Rendering& rendering, std::string_view text,
                                           std::int64_t most);

/// Replaces &, <, >, " and ' in a text that is not marked as HTML.
std::string escape_html(const Value& text);

}  // namespace glassformer::jinja
