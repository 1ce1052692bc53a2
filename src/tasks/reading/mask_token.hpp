#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "text/tokenizer.hpp"

namespace glassformer {

/// The token that stands for a hidden one, by its names in published vocabularies.
inline constexpr std::array mask_names = {"[MASK]", "<mask>"};

/// Returns its id, or nothing if the vocabulary has no such token.
inline std::optional<std::int32_t> find_mask(const Tokenizer& tokenizer) {
  for (const char* name : mask_names) {
    if (const auto id = tokenizer.find(name)) return id;
  }
  return std::nullopt;
}

}  // namespace glassformer
