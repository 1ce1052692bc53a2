#pragma once

namespace glassformer {

/// The numbers that matrix products multiply: floats or 8-bit integers. With `int8`, each row of
/// activations becomes 7-bit integers with its own scale and zero point, and sums are exact. It is
/// two to four times as fast and takes a quarter of the memory; results differ in the third digit.
enum class Compute { f32, int8 };

/// Returns "f32" or "int8".
inline const char* to_string(Compute compute) { return compute == Compute::int8 ? "int8" : "f32"; }

}  // namespace glassformer
