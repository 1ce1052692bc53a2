#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace glassformer {

/// The product of sizes, or the largest number where it is over that.
constexpr std::uint64_t saturating_product(std::initializer_list<std::uint64_t> factors) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t product = 1;
  for (const std::uint64_t factor : factors) {
    product = factor != 0 && product > most / factor ? most : product * factor;
  }
  return product;
}

/// The product of sizes: how many elements `what` has. Throws `too_large` where that many floats
/// are more than a program can address; in wasm, with its 32 bits, that is soon.
std::size_t checked_product(std::string_view what, std::initializer_list<std::uint64_t> factors);

}  // namespace glassformer
