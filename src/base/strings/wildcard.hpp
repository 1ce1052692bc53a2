#pragma once

#include <string_view>

namespace glassformer {

/// Returns whether a name matches a pattern, in which "*" stands for any characters.
bool fits_wildcards(std::string_view pattern, std::string_view name);

/// Returns whether a name matches a pattern, in which "*" stands for any characters but `barrier`.
bool fits_wildcards(std::string_view pattern, std::string_view name, char barrier);

}  // namespace glassformer
