#include "run/tape.hpp"

namespace glassformer {

const bool links_gradients = false;

}  // namespace glassformer
