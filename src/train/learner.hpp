#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "train/example.hpp"
#include "train/learned_parameters.hpp"
#include "train/loss.hpp"
#include "train/optimizer.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {

/// The result of one step.
struct StepResult {
  LossSum loss;
  std::size_t tokens = 0;
  float rate = 0;
  float gradient_norm = 0;  ///< before clipping
};

/// Where a training stands.
struct TrainingProgress {
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;     ///< times that all examples were read
  std::uint64_t position = 0;  ///< examples read in this epoch
  std::uint64_t tokens = 0;
  std::uint64_t fingerprint = 0;  ///< of the data and what else a later run must have in common
  double seconds = 0;             ///< that the caller has measured
};

/// Cuts examples into shards of as many tokens as these, at least one example each, in their order.
std::vector<std::vector<const Example*>> cut_into_shards(std::span<const Example* const> examples,
                                                         std::size_t shard_tokens);

/// Learns from examples, step by step. It can be stored after a step, and go on later as if nothing
/// had been between.
class Learner {
 public:
  virtual ~Learner() = default;

  /// Learns from the next examples. `progress`: how much of the training will be over with this
  /// step, for the schedule. Throws `non_finite` if the loss or the gradients are not finite;
  /// nothing has changed then.
  virtual StepResult step(double progress) = 0;

  /// Returns the loss on examples.
  virtual LossSum evaluate(std::span<const Example> examples) = 0;

  /// Returns how many numbers are learned.
  virtual std::size_t count() const = 0;

  const TrainingProgress& progress() const { return progress_; }
  void set_seconds(double seconds) { progress_.seconds = seconds; }

  /// Returns everything that is needed to go on later, as a safetensors file.
  std::vector<std::byte> checkpoint();
  /// Returns the size of that file in bytes.
  std::uint64_t checkpoint_size();
  /// Goes on from there. Throws `invalid_safetensors`, `missing_tensor` or `shape_mismatch` if it
  /// is not a checkpoint of this training, `invalid_option` if its fingerprint differs, and
  /// `invalid_data` if it stands at an example that does not exist; nothing has changed then.
  void restore(std::span<const std::byte> checkpoint);

 protected:
  /// `examples` must outlive this.
  Learner(std::span<const Example> examples, std::uint64_t seed, std::uint64_t fingerprint);

  /// A tensor of a checkpoint.
  struct Stored {
    std::string name;
    std::vector<std::size_t> shape;
    std::span<float> values;
  };
  virtual std::vector<Stored> stored() = 0;
  /// Computes what depends on stored tensors.
  virtual void restored() = 0;

  /// Returns the next examples, with this many tokens or the end of the epoch.
  std::vector<const Example*> next_batch(std::size_t tokens);
  void count_step(std::size_t tokens) {
    ++progress_.step;
    progress_.tokens += tokens;
  }
  /// Sets progress back to where a step began whose loss or gradients are not finite, and throws
  /// `non_finite`.
  [[noreturn]] void fail_step(const TrainingProgress& before);

  /// Adds the values of parameters, as "value/NAME", and an optimizer's moving averages of them.
  static void add_stored(const LearnedParameters& parameters, Optimizer& optimizer,
                         std::vector<Stored>& stored);

 private:
  void shuffle();
  std::vector<NamedTensor> checkpoint_tensors();

  std::span<const Example> examples_;
  std::uint64_t seed_;
  std::vector<std::uint32_t> order_;  // of the examples in this epoch
  TrainingProgress progress_;
};

}  // namespace glassformer
