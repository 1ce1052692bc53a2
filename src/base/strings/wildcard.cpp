#include "base/strings/wildcard.hpp"

#include <cstddef>

namespace glassformer {

// Backtracks only to the last "*", which then matches one character more: whatever an earlier "*"
// could match in addition, the last one can match as well. So the time is at most the product of
// the two lengths, for any number of "*". A barrier must occur in both texts, so nothing before it
// is tried again either.
bool fits_wildcards(std::string_view pattern, std::string_view name, std::optional<char> barrier) {
  constexpr std::size_t none = std::string_view::npos;
  std::size_t p = 0, n = 0;
  std::size_t star = none, taken = 0;  // the last "*", and the end of what it matches
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != none && name[taken] != barrier) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == none;
}

}  // namespace glassformer
