#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace glassformer {

/// Returns the product of sizes, or the largest number if the product exceeds it.
constexpr std::uint64_t saturating_product(std::initializer_list<std::uint64_t> factors) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t product = 1;
  for (const std::uint64_t factor : factors) {
    product = factor != 0 && product > most / factor ? most : product * factor;
  }
  return product;
}

/// Returns the product of sizes, which is the number of elements of `what`. Throws `too_large` if a
/// program cannot address that many floats; wasm, with 32-bit addresses, soon reaches that limit.
std::size_t checked_product(std::string_view what, std::initializer_list<std::uint64_t> factors);

}  // namespace glassformer
