#include "base/strings/decimal.hpp"

#include <array>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include "base/powers.hpp"

using namespace glassformer;

namespace {

std::string by_the_standard_library(float number) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

}  // namespace

TEST_CASE("the shortest decimals of floats match std::to_chars", "[io]") {
  for (const float number : {0.0f,
                             -0.0f,
                             1.0f,
                             -1.5f,
                             0.1f,
                             10.0f,
                             100000.0f,
                             1e5f,
                             1e6f,
                             123456.0f,
                             1e-4f,
                             1e-5f,
                             0.00012f,
                             16777216.0f,
                             123456792.0f,
                             9.9999998e9f,
                             3.14159274f,
                             0.3f,
                             1.0f / 3,
                             std::numeric_limits<float>::max(),
                             std::numeric_limits<float>::min(),
                             std::numeric_limits<float>::denorm_min()}) {
    CHECK(shortest_decimal(number) == by_the_standard_library(number));
  }
  std::mt19937 random(7);
  int different = 0;
  for (int i = 0; i < 200'000; ++i) {
    const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(number)) continue;
    const std::string text = shortest_decimal(number);
    float read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    if (read != number) FAIL("reads as another float: " << text);
    different += text != by_the_standard_library(number);
  }
  CHECK(different == 0);
}

TEST_CASE("six-digit decimals match printf", "[io]") {
  std::mt19937 random(8);
  std::uniform_real_distribution<float> scores(-1, 1), logits(-1e4f, 1e4f);
  for (int i = 0; i < 100'000; ++i) {
    const float number = i % 2 == 0 ? scores(random) : logits(random);
    std::array<char, 32> expected;
    std::snprintf(expected.data(), expected.size(), "%.6f", static_cast<double>(number));
    if (six_decimals(number) != std::string_view(expected.data())) {
      FAIL(six_decimals(number) << " instead of " << expected.data());
    }
  }
  CHECK(six_decimals(0.9999999f) == "1.000000");
  CHECK(six_decimals(2e30f) == "2e+30");
}

TEST_CASE("infinities and NaN have names", "[io]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto write : {shortest_decimal, six_decimals}) {
    CHECK(write(infinity) == "inf");
    CHECK(write(-infinity) == "-inf");
    CHECK(write(nan) == "nan");
    CHECK(write(-nan) == "nan");
  }
}

TEST_CASE("decimals of up to 18 digits are read as the nearest doubles", "[io]") {
  for (const char* text :
       {"0", "-2.012292861938477", "-12.345678901234567", "0.1", "1e-05", "1E+2", "123456789.125",
        "-9.999999999999998", "17.0", "-0.30000000000000004", "2.5e10", "-0.000000000000000001",
        "123456789012345678e-18", "1e22", "5e-22"}) {
    INFO(text);
    CHECK(parse_decimal(text) == std::strtod(text, nullptr));
  }
  std::mt19937 random(10);
  int different = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::array<char, 32> text;
    const double score = -std::ldexp(static_cast<double>(random()), static_cast<int>(i % 32) - 32);
    std::snprintf(text.data(), text.size(), "%.*g", static_cast<int>(i % 17) + 1, score - 0.01);
    different += parse_decimal(text.data()) != std::strtod(text.data(), nullptr);
  }
  CHECK(different == 0);
}

TEST_CASE("very large and very small decimals are read as infinity and 0", "[io]") {
  CHECK(std::isinf(parse_decimal("1e400")));
  CHECK(std::isinf(parse_decimal("-1e99999999999")));
  CHECK(parse_decimal("-1e-400") == 0);
  CHECK(std::signbit(parse_decimal("-1e-99999999999")));
  CHECK(parse_decimal("0e99999999999") == 0);
  const std::string zeros(400, '0');
  CHECK(std::abs(parse_decimal("1" + zeros + "e-400") - 1) < 1e-14);
  CHECK(std::abs(parse_decimal("0." + zeros + "1e401") - 1) < 1e-14);
}

TEST_CASE("powers are accurate to a few units in the last place", "[io]") {
  std::mt19937 random(9);
  std::uniform_real_distribution<double> bases(0.01, 20'000), exponents(-3, 3);
  double worst = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double base = bases(random), exponent = exponents(random);
    worst = std::max(worst, std::abs(power(base, exponent) / std::pow(base, exponent) - 1));
  }
  CHECK(worst < 1e-14);
  CHECK(power(10000, 0) == 1);
  CHECK(power(7, 1) == 7);
  CHECK(scaled_by_ten(3, 4) == 30000);
  CHECK(scaled_by_ten(3, -400) == 0);
}
