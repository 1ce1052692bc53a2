#pragma once

#include <cstddef>

namespace glassformer {

/// Threads that share the work of a call. Work is split by rows, heads or columns, never inside a
/// sum, so that the number of threads changes no bit of a result. For now there is one thread, the
/// caller's own.
class Pool {
 public:
  std::size_t threads() const { return 1; }

  /// Calls work(i) for every i below `count`; the calls do not depend on each other.
  template <class Work>
  void each(std::size_t count, const Work& work) {
    for (std::size_t i = 0; i < count; ++i) work(i);
  }
};

}  // namespace glassformer
