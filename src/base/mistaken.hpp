#pragma once

#include <string_view>

namespace glassformer {

/// What a file is that came in place of another, with the cure: a Git LFS pointer, a web page or a
/// compressed file. `start`: its first bytes, eight at least. Empty: none of these.
std::string_view mistaken_content(std::string_view start);

}  // namespace glassformer
