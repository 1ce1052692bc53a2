#pragma once

#include <optional>
#include <string_view>

namespace glassformer {

/// Returns whether a name matches a pattern, in which "*" stands for any characters, or for any but
/// `barrier`.
bool fits_wildcards(std::string_view pattern, std::string_view name,
                    std::optional<char> barrier = std::nullopt);

}  // namespace glassformer
