#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Python's conversions between doubles and decimals. All are exact: they compute with the decimal
// digits of a double, which are at most 767.

namespace glassformer::jinja {

/// Returns the shortest decimal that reads back as this double, as Python writes it.
std::string float_text(double number);

/// Formats the magnitude of a finite number like "%.*f", "%.*e" and "%.*g".
std::string fixed_digits(double number, int places);
std::string exponent_digits(double number, int places);
std::string general_digits(double number, int precision);

/// Reads digits with an optional point and an optional exponent ("1.5e-3", ".5", "1."), without a
/// sign. Returns the nearest double.
double parse_float(std::string_view number);

/// Rounds a finite number to a number of decimal places, which may be negative.
double round_decimal(double number, std::int64_t places);

/// Returns the double nearest to the quotient. `divisor` must not be 0.
double divide_integers(std::int64_t dividend, std::int64_t divisor);

/// Computes base^exponent and returns whether the result is known to be the nearest double.
bool raise_to(double base, double exponent, double& result);

/// Returns the negative, 0 or positive order of an integer and a number that is not NaN.
int compare_exactly(std::int64_t integer, double number);

/// Converts a double without its fraction. Returns whether it fits.
bool truncate_to_integer(double number, std::int64_t& integer);

}  // namespace glassformer::jinja
