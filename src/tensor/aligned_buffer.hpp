#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <vector>

namespace glassformer {

/// The size in bytes of a cache line, and of the widest vector of any supported instruction set.
inline constexpr std::size_t alignment = 64;

/// The standard allocator, but every block starts at a multiple of `alignment` bytes.
template <class T>
struct AlignedAllocator {
  using value_type = T;

  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{alignment}));
  }
  void deallocate(T* block, std::size_t) noexcept {
    ::operator delete (block, std::align_val_t{alignment});
  }

  template <class U>
  bool operator==(const AlignedAllocator<U>&) const noexcept {
    return true;
  }
};

/// Flat storage for data without a tensor shape: packed weights and scratch space.
using AlignedBuffer = std::vector<float, AlignedAllocator<float>>;

/// Sets all numbers to zero. Unlike a loop, this is fast even in code that is compiled for size.
inline void set_to_zero(std::span<float> x) {
  if (!x.empty()) std::memset(x.data(), 0, x.size_bytes());
}

}  // namespace glassformer
