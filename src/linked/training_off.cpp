#include "tasks/train/learning.hpp"

namespace glassformer {

std::unique_ptr<Learning> (*const make_linked_learning)() = nullptr;

}  // namespace glassformer
