#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace glassformer {

/// Returns a NumPy file (version 1.0) of one vector of 32-bit floats.
std::string npy_of(std::span<const float> vector);

/// Returns the vector in a NumPy file: one axis of little-endian floats of 16, 32 or 64 bits.
/// Throws `invalid_option` for anything else; messages begin with `name`.
std::vector<float> vector_of_npy(std::string_view bytes, const std::string& name);

}  // namespace glassformer
