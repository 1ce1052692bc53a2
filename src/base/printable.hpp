#pragma once

#include <string>
#include <string_view>

namespace glassformer {

/// A text as it may go to a terminal or into a message: control characters are written as escapes
/// (\n, \0, \x1b, \u202e), among them those that turn the direction of a text, and bytes that are
/// not UTF-8 as U+FFFD.
std::string printable(std::string_view text);

/// A result on one line: only what could end the line or steer a terminal is escaped. Tabs stay,
/// and marks of a text's direction, which are part of many texts.
std::string on_one_line(std::string_view text);

}  // namespace glassformer
