#include "train/processes.hpp"

#include "base/error.hpp"

namespace glassformer {

bool any_of(Processes& processes, bool flag) {
  bool any = false;
  for (std::size_t rank = 0; rank < processes.count(); ++rank) {
    bool other = flag;
    processes.broadcast(std::as_writable_bytes(std::span(&other, 1)), rank);
    any |= other;
  }
  return any;
}

void expect_equal(Processes& processes, std::uint64_t value, const char* what) {
  std::uint64_t first = 0;
  for (std::size_t rank = 0; rank < processes.count(); ++rank) {
    std::uint64_t other = value;
    processes.broadcast(std::as_writable_bytes(std::span(&other, 1)), rank);
    if (rank == 0) first = other;
    if (other != first) {
      throw_error(ErrorCode::invalid_option,
                  {"process {}: expected the same {} as process 0, got others", {rank, what}});
    }
  }
}

}  // namespace glassformer
