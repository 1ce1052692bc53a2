#pragma once

#include <cstddef>

#include "layers/attention/config.hpp"
#include "run/run.hpp"

namespace glassformer {

/// Rotates pairs of a head's numbers by angles proportional to the position, so that a score
/// depends on the distance between query and key: Su et al. 2021, RoFormer, section 3.2, in halves.
class Rotary {
 public:
  explicit Rotary(const RotaryConfig& config) : config_(config) {}

  struct Heads {
    std::size_t count, d_head;
  };
  /// Rotates every head of every row of a run, in place. Rows are `stride` floats apart.
  void operator()(float* rows, std::size_t stride, const Heads& heads, const Run& run) const;

  /// Rotates one head's numbers [d_head] at a position, in place.
  void turn(std::span<float> numbers, std::size_t position, Session& session) const;
  /// The transpose for one head's numbers [d_head] at a position, in place: for gradients.
  void turn_back(std::span<float> numbers, std::size_t position, Session& session) const;

  /// Returns the frequency of pair i, in radians per position.
  static float frequency(const RotaryConfig& config, std::size_t i);

 private:
  // Where the rows of a run are: `positions` as in Run.
  struct Rows {
    std::size_t stride;
    Heads heads;
    std::span<const RowSegment> segments;
    std::span<const std::size_t> positions;
  };
  // Rotates by the angles, or back by `direction` -1.
  void turn(float* x, const Rows& rows, float direction, Session& session) const;

  // Returns the cosines and sines of the positions below `count`: [count, 2, size / 2].
  const float* table(std::size_t count, Session& session) const;

  RotaryConfig config_;
};

}  // namespace glassformer
