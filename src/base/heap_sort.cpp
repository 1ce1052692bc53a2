#include "base/heap_sort.hpp"

namespace glassformer {

std::vector<std::size_t> sorted_indices(std::size_t count,
                                        bool (*before)(const void* of, std::size_t a,
                                                       std::size_t b),
                                        const void* of) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  heap_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (before(of, a, b)) return true;
    return a < b && !before(of, b, a);
  });
  return order;
}

}  // namespace glassformer
