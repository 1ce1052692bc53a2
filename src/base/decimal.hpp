#pragma once

#include <string>

namespace glassformer {

// Decimals of floats. The standard library's own bring tables that are larger than all of the
// code that uses them.

/// The shortest decimal that reads as this float again, as std::to_chars writes it: plain, or with
/// an exponent where that is shorter ("0.25", "16777216", "1e-05", "-inf", "nan").
std::string shortest_decimal(float number);

/// With six digits after the point, as "%.6f" writes it. Numbers of 10^12 and more, infinity and
/// NaN are written as shortest_decimal does.
std::string six_decimals(float number);

}  // namespace glassformer
