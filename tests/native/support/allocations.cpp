// Replaces the program's operator new with one that counts allocations.

#include "support/allocations.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

constexpr std::size_t any = std::numeric_limits<std::size_t>::max();

std::atomic<std::size_t> count = 0, used = 0, peak = 0, largest = any;

void* counted(void* block) {
  ++count;
  if (block == nullptr) return block;
  const std::size_t now = used += malloc_usable_size(block);
  if (now > peak) peak = now;
  return block;
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (size > largest) throw std::bad_alloc();
  // Not rounded up where possible, so that AddressSanitizer sees the exact size.
  void* block = alignment <= 16
                    ? std::malloc(size)
                    : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (block == nullptr) throw std::bad_alloc();
  return counted(block);
}

void release(void* block) {
  if (block != nullptr) used -= malloc_usable_size(block);
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size > 0 ? size : 1, 16); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size > 0 ? size : 1, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted(std::malloc(size > 0 ? size : 1));
}
void operator delete(void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { release(block); }

namespace glassformer::test {

std::size_t allocations() { return count; }

std::size_t peak_of(const std::function<void()>& action) {
  const std::size_t before = used;
  peak = before;
  action();
  return peak - before;
}

void with_blocks_up_to(std::size_t bytes, const std::function<void()>& action) {
  largest = bytes;
  try {
    action();
  } catch (...) {
    largest = any;
    throw;
  }
  largest = any;
}

}  // namespace glassformer::test
