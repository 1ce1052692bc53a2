#pragma once

#include <string>

namespace glassformer {

// Conversion of floats to decimals. The functions of the standard library bring tables that are
// larger than all the code that uses them.

/// Returns the shortest decimal that reads back as this float, in the format of std::to_chars:
/// plain, or with an exponent if that is shorter ("0.25", "16777216", "1e-05", "-inf", "nan").
std::string shortest_decimal(float number);

/// Returns the number with six digits after the point, like "%.6f". Magnitudes of 10^12 and more,
/// infinity and NaN are written as by shortest_decimal.
std::string six_decimals(float number);

}  // namespace glassformer
