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
#include "train/learner.hpp"
#include "train/objective.hpp"
#include "train/optimizer.hpp"
#include "train/processes.hpp"
#include "train/schedule.hpp"

namespace glassformer {

struct TrainerOptions {
  std::size_t batch_tokens = 4096;  ///< tokens from which one step learns
  std::size_t shard_tokens = 1024;  ///< tokens that are in memory at once, per thread
  std::size_t threads = 1;
  std::uint64_t seed = 1;
  std::uint64_t fingerprint = 0;  ///< see TrainingProgress
  float dropout = 0.1f;
  float smoothing = 0;       ///< of labels
  float averaging = 0.999f;  ///< decay of the moving average of the weights; 0: no average
  Schedule schedule = {};
  OptimizerOptions optimizer = {};
  Processes* processes = nullptr;  ///< that take turns with this one; null: there is only this
};

/// The size of the gradients of one layer, or of a matrix or norm outside the layers.
struct GradientNorm {
  std::string name;  ///< such as "encoder.layers.0", "encoder.embed_tokens"
  float norm;        ///< √(sum of squares), before clipping
};

/// Trains a model on examples. The same examples, options and steps give the same weights, whatever
/// the number of threads and processes: a step is cut into shards, whose gradients are added in
/// their order.
class Trainer final : public Learner {
 public:
  /// The model must be of floats, and loaded. All must outlive this; the model must not be used by
  /// others meanwhile.
  Trainer(const Model& model, std::vector<NamedParameter> parameters, const Objective& objective,
          std::span<const Example> examples, const TrainerOptions& options);
  ~Trainer() override;

  StepResult step(double progress) override;

  /// Returns the norms of the last step's gradients, from the model's first layer to its last.
  std::vector<GradientNorm> gradient_norms();

  /// Returns the loss on examples, without dropout, of the averaged weights if there are any.
  LossSum evaluate(std::span<const Example> examples) override;

  std::size_t count() const override { return parameters_.count(); }

  /// Calls visit() while the model has the averaged weights.
  void with_average(const std::function<void()>& visit);

  const LearnedParameters& parameters() const { return parameters_; }

 private:
  class Worker;
  struct Shard {
    std::vector<const Example*> examples;
    SplitMix64 random;
    float weight;  ///< of a target
  };

  std::vector<Shard> cut(std::span<const Example* const> batch, SplitMix64* random) const;
  LossSum run(const std::vector<Shard>& shards, ParameterGradients* gradients);
  void update_average();
  std::vector<Stored> stored() override;
  void restored() override;

  const Model& model_;
  const Objective& objective_;
  TrainerOptions options_;
  Pool pool_;
  LearnedParameters parameters_;
  Optimizer optimizer_;
  ParameterGradients gradients_;
  std::vector<AlignedBuffer> average_;  // by part; empty without averaging
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace glassformer
