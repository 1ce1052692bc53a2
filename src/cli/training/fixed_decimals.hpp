#pragma once

#include <iomanip>
#include <sstream>
#include <string>

namespace glassformer {

/// Returns a number with this many digits after the point.
inline std::string fixed_decimals(double number, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << number;
  return text.str();
}

}  // namespace glassformer
