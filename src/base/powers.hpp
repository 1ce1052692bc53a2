#pragma once

namespace glassformer {

// Powers within a few units in the last place of a double. The standard library's bring tables
// that are larger than all of the code that uses them, and do not compress.

/// base^exponent for a base above 0.
double power(double base, double exponent);

/// The natural logarithm of a number above 0.
double logarithm(double number);

struct SineCosine {
  double sine, cosine;
};

/// Of an angle in radians, within 1e-11.
SineCosine sine_cosine(double angle);

/// number x 10^exponent.
double scaled_by_ten(double number, int exponent);

}  // namespace glassformer
