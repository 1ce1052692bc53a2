#pragma once

namespace glassformer {

// Powers and logarithms, accurate to a few units in the last place of a double. The functions of
// the standard library bring tables that are larger than all the code that uses them and do not
// compress.

/// Returns base^exponent for a base above 0.
double power(double base, double exponent);

/// Returns the natural logarithm of a number above 0.
double logarithm(double number);

struct SineCosine {
  double sine, cosine;
};

/// Returns sine and cosine of an angle in radians, within 1e-11.
SineCosine sine_cosine(double angle);

/// Returns number x 10^exponent.
double scaled_by_ten(double number, int exponent);

}  // namespace glassformer
