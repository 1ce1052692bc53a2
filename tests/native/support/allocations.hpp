#pragma once

#include <cstddef>
#include <functional>

namespace glassformer::test {

/// Returns how many heap allocations this program has made with `new` so far.
std::size_t allocations();

/// Returns the most bytes that an action holds at once, in addition to those held before it.
std::size_t peak_of(const std::function<void()>& action);

/// Runs an action during which `new` fails for blocks of more than this size.
void with_blocks_up_to(std::size_t bytes, const std::function<void()>& action);

}  // namespace glassformer::test
