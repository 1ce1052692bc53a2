#pragma once

#include <cstdint>

namespace glassformer {

/// A small random generator with the same numbers everywhere: SplitMix64 (Steele et al. 2014).
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Returns a uniform number in [0, 1), a multiple of 2^-24.
  float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }
  /// Returns a generator whose numbers have nothing to do with the next ones of this.
  SplitMix64 fork() { return SplitMix64(next()); }
  std::uint64_t state() const { return state_; }

 private:
  std::uint64_t state_;
};

}  // namespace glassformer
