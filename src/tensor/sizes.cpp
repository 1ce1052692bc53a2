#include "tensor/sizes.hpp"

#include <string>

#include "base/error.hpp"

namespace glassformer {

std::size_t checked_product(std::string_view what, std::initializer_list<std::uint64_t> factors) {
  constexpr std::uint64_t most =
      static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(float);
  const std::uint64_t product = saturating_product(factors);
  if (product <= most) return static_cast<std::size_t>(product);
  std::string message(what);
  message.append(": expected at most ").append(std::to_string(most)).append(" elements, got ");
  for (const std::uint64_t factor : factors) {
    if (message.back() != ' ') message += " x ";
    message += std::to_string(factor);
  }
  throw_error(ErrorCode::too_large, message);
}

}  // namespace glassformer
