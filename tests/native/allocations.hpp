#pragma once

#include <cstddef>

namespace glassformer::test {

/// How often this program has taken memory from the heap with `new` so far.
std::size_t allocations();

}  // namespace glassformer::test
