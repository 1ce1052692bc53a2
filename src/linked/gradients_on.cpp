#include "run/tape.hpp"

namespace glassformer {

const bool links_gradients = true;
const bool links_named_gradients = true;

}  // namespace glassformer
