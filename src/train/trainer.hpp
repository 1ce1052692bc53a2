#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/pool.hpp"
#include "models/model.hpp"
#include "train/learned_parameters.hpp"
#include "train/objective.hpp"
#include "train/optimizer.hpp"
#include "train/processes.hpp"
#include "train/schedule.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {

struct TrainerOptions {
  std::size_t batch_tokens = 4096;  ///< tokens from which one step learns
  std::size_t shard_tokens = 1024;  ///< tokens that are in memory at once, per thread
  std::size_t threads = 1;
  std::uint64_t seed = 1;
  std::uint64_t fingerprint = 0;  ///< of the data and what else a later run must have in common
  float dropout = 0.1f;
  float smoothing = 0;       ///< of labels
  float averaging = 0.999f;  ///< decay of the moving average of the weights; 0: no average
  Schedule schedule = {};
  OptimizerOptions optimizer = {};
  Processes* processes = nullptr;  ///< that take turns with this one; null: there is only this
};

/// The result of one step.
struct StepResult {
  LossSum loss;
  std::size_t tokens = 0;
  float rate = 0;
  float gradient_norm = 0;  ///< before clipping
};

/// The size of the gradients of one layer, or of a matrix or norm outside the layers.
struct GradientNorm {
  std::string name;  ///< such as "encoder.layers.0", "encoder.embed_tokens"
  float norm;        ///< √(sum of squares), before clipping
};

/// Where a training stands.
struct TrainingProgress {
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;     ///< times that all examples were read
  std::uint64_t position = 0;  ///< examples read in this epoch
  std::uint64_t tokens = 0;
  std::uint64_t fingerprint = 0;  ///< see TrainerOptions
  double seconds = 0;             ///< that the caller has measured
};

/// Trains a model on examples. The same examples, options and steps give the same weights, whatever
/// the number of threads and processes: a step is cut into shards, whose gradients are added in
/// their order.
class Trainer {
 public:
  /// The model must be of floats, and loaded. All must outlive this; the model must not be used by
  /// others meanwhile.
  Trainer(const Model& model, std::vector<NamedParameter> parameters, const Objective& objective,
          std::span<const Example> examples, const TrainerOptions& options);
  ~Trainer();

  /// Learns from the next examples. `progress`: how much of the training will be over with this
  /// step, for the schedule. Throws `non_finite` if the loss or the gradients are not finite;
  /// nothing has changed then.
  StepResult step(double progress);

  /// Returns the norms of the last step's gradients, from the model's first layer to its last.
  std::vector<GradientNorm> gradient_norms();

  /// Returns the loss on examples, without dropout, of the averaged weights if there are any.
  LossSum evaluate(std::span<const Example> examples);

  /// Calls visit() while the model has the averaged weights.
  void with_average(const std::function<void()>& visit);

  const TrainingProgress& progress() const { return progress_; }
  void set_seconds(double seconds) { progress_.seconds = seconds; }
  const LearnedParameters& parameters() const { return parameters_; }

  /// Returns everything that is needed to go on later, as a safetensors file.
  std::vector<std::byte> checkpoint();
  /// Returns the size of that file in bytes.
  std::uint64_t checkpoint_size();
  /// Goes on from there. Throws `invalid_safetensors`, `missing_tensor` or `shape_mismatch` if it
  /// is not a checkpoint of this model, `invalid_option` if its fingerprint differs, and
  /// `invalid_data` if it stands at an example that does not exist; nothing has changed then.
  void restore(std::span<const std::byte> checkpoint);

 private:
  class Worker;
  struct Shard {
    std::vector<const Example*> examples;
    SplitMix64 random;
    float weight;  ///< of a target
  };

  std::vector<const Example*> next_batch();
  void shuffle();
  std::vector<Shard> cut(std::span<const Example* const> batch, SplitMix64* random) const;
  LossSum run(const std::vector<Shard>& shards, ParameterGradients* gradients);
  void update_average();
  struct Stored;
  std::vector<Stored> stored();
  std::vector<NamedTensor> checkpoint_tensors();

  const Model& model_;
  const Objective& objective_;
  std::span<const Example> examples_;
  TrainerOptions options_;
  Pool pool_;
  LearnedParameters parameters_;
  Optimizer optimizer_;
  ParameterGradients gradients_;
  std::vector<AlignedBuffer> average_;  // by part; empty without averaging
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::uint32_t> order_;  // of the examples in this epoch
  TrainingProgress progress_;
};

}  // namespace glassformer
