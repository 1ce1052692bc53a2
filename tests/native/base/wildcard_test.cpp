#include "base/strings/wildcard.hpp"

#include <catch2/catch_test_macros.hpp>
#include <random>
#include <string>
#include <string_view>

namespace glassformer {
namespace {

// The definition: each "*" matches any number of characters except barriers.
bool by_definition(std::string_view pattern, std::string_view name, char barrier) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] != '*') {
    return !name.empty() && name[0] == pattern[0] &&
           by_definition(pattern.substr(1), name.substr(1), barrier);
  }
  if (by_definition(pattern.substr(1), name, barrier)) return true;
  return !name.empty() && name[0] != barrier && by_definition(pattern, name.substr(1), barrier);
}

TEST_CASE("wildcards match as defined", "[text]") {
  std::mt19937 random(3);
  const auto text = [&](std::string_view characters, std::size_t most) {
    std::string made;
    for (std::size_t i = random() % (most + 1); i > 0; --i) {
      made += characters[random() % characters.size()];
    }
    return made;
  };
  int fits = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string pattern = text("ab.**", 7), name = text("ab.", 8);
    const bool any = by_definition(pattern, name, '\0');
    const bool within = by_definition(pattern, name, '.');
    if (fits_wildcards(pattern, name) != any || fits_wildcards(pattern, name, '.') != within) {
      FAIL(pattern << " and " << name);
    }
    fits += any + within;
  }
  CHECK(fits > 10'000);
}

TEST_CASE("matching many wildcards takes no longer than a few", "[text]") {
  std::string stars, pairs;
  for (int i = 0; i < 10'000; ++i) pairs += "*a";
  stars.assign(10'000, '*');
  const std::string name(200, 'a');
  // Trying every way to divide the name among them would never end.
  CHECK(!fits_wildcards(stars + "x", name));
  CHECK(!fits_wildcards(stars + "x", name, '.'));
  CHECK(fits_wildcards(stars + "a" + stars, name));
  CHECK(!fits_wildcards(pairs, name));
  CHECK(!fits_wildcards("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name, '.'));
}

}  // namespace
}  // namespace glassformer
