#include "run/tape.hpp"

namespace glassformer {

const bool links_gradients = true;

}  // namespace glassformer
