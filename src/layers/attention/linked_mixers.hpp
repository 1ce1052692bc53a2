#pragma once

#include <cstddef>
#include <memory>

#include "kernels/compute.hpp"
#include "layers/attention/token_mixer.hpp"

namespace glassformer {

/// Creates a recurrent unit.
std::unique_ptr<TokenMixer> make_recurrent_unit(std::size_t d_model, Compute compute);

/// Points to make_recurrent_unit, or is null in a program that is linked without it (see
/// src/linked).
extern std::unique_ptr<TokenMixer> (*const make_recurrent_mixer)(std::size_t d_model,
                                                                 Compute compute);

}  // namespace glassformer
