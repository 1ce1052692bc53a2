#include "jinja/numbers.hpp"

#include <algorithm>
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

namespace glassformer::jinja {
namespace {

std::string printed(const char* format, int precision, double number) {
  std::array<char, 2000> text{};
  std::snprintf(text.data(), text.size(), format, precision, number);
  return text.data();
}

TEST_CASE("Doubles and decimals are converted exactly", "[jinja]") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const double number = std::abs(std::bit_cast<double>(random()));
    if (!std::isfinite(number)) continue;
    INFO(number);
    const std::string shortest = float_text(number);
    CHECK(std::strtod(shortest.c_str(), nullptr) == number);
    CHECK(parse_float(shortest) == number);
    std::array<char, 40> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                   std::chars_format::scientific);
    const auto count = static_cast<std::size_t>(
        std::count_if(digits.data(), end.ptr, [](char c) { return c >= '0' && c <= '9'; }));
    CHECK(shortest.size() <= count + 20);
    CHECK(fixed_digits(number, i % 9) == printed("%.*f", i % 9, number));
    CHECK(exponent_digits(number, i % 20) == printed("%.*e", i % 20, number));
    CHECK(general_digits(number, i % 20) == printed("%.*g", i % 20, number));
    const std::string many = printed("%.*e", 25, number);
    CHECK(parse_float(many) == std::strtod(many.c_str(), nullptr));
  }
  CHECK(float_text(0.1) == "0.1");
  CHECK(float_text(1e16) == "1e+16");
  CHECK(float_text(1e-5) == "1e-05");
  CHECK(float_text(-0.0) == "-0.0");
  CHECK(float_text(5e-324) == "5e-324");
  CHECK(parse_float("1e400") == std::numeric_limits<double>::infinity());
  CHECK(parse_float("9007199254740993") == 9007199254740992.0);
  CHECK(round_decimal(2.675, 2) == 2.67);
  CHECK(round_decimal(1250, -2) == 1200);
}

TEST_CASE("Integers are divided, raised and compared exactly", "[jinja]") {
  CHECK(divide_integers(1, 3) == 1.0 / 3);
  CHECK(divide_integers(-7, 2) == -3.5);
  CHECK(divide_integers(9007199254740993, 1) == 9007199254740992.0);
  CHECK(divide_integers(std::numeric_limits<std::int64_t>::min(), -1) == 9223372036854775808.0);
  double power = 0;
  CHECK((raise_to(10, -2, power) && power == 0.01));
  CHECK((raise_to(2, 0.5, power) && power == std::sqrt(2.0)));
  CHECK((raise_to(1.5, 3, power) && power == 3.375));
  CHECK_FALSE(raise_to(2, 0.3, power));
  CHECK(compare_exactly(9007199254740993, 9007199254740992.0) > 0);
  CHECK(compare_exactly(1, 1.5) < 0);
  CHECK(compare_exactly(std::numeric_limits<std::int64_t>::max(), 9223372036854775808.0) < 0);
}

}  // namespace
}  // namespace glassformer::jinja
