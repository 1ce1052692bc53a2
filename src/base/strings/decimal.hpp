#pragma once

#include <string>
#include <string_view>

namespace glassformer {

// Conversion between floats and decimals. The functions of the standard library bring tables that
// are larger than all the code that uses them.

/// Returns the shortest decimal that reads back as this float, in the format of std::to_chars:
/// plain, or with an exponent if that is shorter ("0.25", "16777216", "1e-05", "-inf", "nan").
std::string shortest_decimal(float number);

/// Returns the number with six digits after the point, like "%.6f". Magnitudes of 10^12 and more,
/// infinity and NaN are written as by shortest_decimal.
std::string six_decimals(float number);

/// Returns the value of a number in the format of JSON ("-2.5", "1e-05"). This is the nearest
/// double if the number has at most 18 digits from its first one that is not 0, and at most 18
/// after the point once it is written without an exponent. Otherwise it is the nearest double or
/// one a few roundings away from it; infinity if the number is too large.
double parse_decimal(std::string_view number);

}  // namespace glassformer
