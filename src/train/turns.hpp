#pragma once

#include <cstddef>
#include <functional>

namespace glassformer {

/// Calls work(i) for every i below `count`, on several threads. If a call throws, the rest is left
/// out and the first exception is thrown again.
void at_once(std::size_t workers, std::size_t count,
             const std::function<void(std::size_t i)>& work);

/// Calls work(worker, i) for every i below `count`, on several threads, and after each
/// finish(worker, i), in the order of i and never two at a time. A worker runs one call at a time.
/// Exceptions: see at_once.
void in_turns(std::size_t workers, std::size_t count,
              const std::function<void(std::size_t worker, std::size_t i)>& work,
              const std::function<void(std::size_t worker, std::size_t i)>& finish);

}  // namespace glassformer
