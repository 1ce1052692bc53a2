#pragma once

#include <string_view>

namespace glassformer {

/// Recognizes a Git LFS pointer, a web page, XML or a compressed file that was stored in place of
/// the expected file. Returns the problem and its cure, or an empty text. `start`: at least the
/// first eight bytes of the file.
std::string_view mistaken_content(std::string_view start);

}  // namespace glassformer
