#include "tasks/train/learning.hpp"

namespace glassformer {

std::unique_ptr<Learning> (*const make_linked_learning)() = make_learning;

}  // namespace glassformer
