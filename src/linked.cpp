#include "linked.hpp"

namespace glassformer {

bool links_readers() { return true; }
bool links_writers() { return true; }
bool links_printing() { return true; }

}  // namespace glassformer
