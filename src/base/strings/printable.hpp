#pragma once

#include <string>
#include <string_view>

namespace glassformer {

/// Returns a text that is safe for terminals and messages. Control characters become escapes (\n,
/// \0, \x1b, \u202e), including those that change the direction of a text; bytes that are not UTF-8
/// become U+FFFD.
std::string printable(std::string_view text);

/// Returns a result on one line. Escapes only characters that could end the line or control a
/// terminal. Keeps tabs and marks of text direction, which many texts contain.
std::string on_one_line(std::string_view text);

}  // namespace glassformer
