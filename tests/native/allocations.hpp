#pragma once

#include <cstddef>
#include <functional>

namespace glassformer::test {

/// How often this program has taken memory from the heap with `new` so far.
std::size_t allocations();

/// The most bytes that an action holds at once, beside what it found.
std::size_t peak_of(const std::function<void()>& action);

/// Runs an action in which `new` fails for more bytes than this at once.
void with_blocks_up_to(std::size_t bytes, const std::function<void()>& action);

}  // namespace glassformer::test
