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
