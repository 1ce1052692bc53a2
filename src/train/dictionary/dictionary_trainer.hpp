#pragma once

#include <memory>
#include <vector>

#include "train/dictionary/dictionary_runs.hpp"
#include "train/learned_parameters.hpp"
#include "train/learner.hpp"
#include "train/optimizer.hpp"
#include "train/schedule.hpp"

namespace glassformer {

struct DictionaryTrainerOptions {
  std::size_t batch_tokens = 8192;  ///< tokens from which one step learns
  std::size_t shard_tokens = 1024;  ///< tokens that are in memory at once, per thread
  std::size_t threads = 1;
  std::uint64_t seed = 1;
  std::uint64_t fingerprint = 0;  ///< see TrainingProgress
  Schedule schedule = {};
  /// A feature that was not active for as many tokens is dead, and learns to explain what the
  /// others leave.
  std::uint64_t dead_after = 1'000'000;
};

/// Trains dictionaries of one model, all at once: each on the rows of the same runs. Minimizes the
/// variance of y that is not explained; the columns of W_d keep the length 1; dead features are
/// revived by the loss AuxK (Gao et al. 2024, sections 2 and A.2: the dead ones that are excited
/// most, half as many as there are numbers and at most 512, predict the error, with the weight
/// 1/32). The same examples, options and steps give the same weights, whatever the number of
/// threads.
class DictionaryTrainer final : public Learner {
 public:
  /// The model must be of floats, and loaded. All must outlive this.
  DictionaryTrainer(const Model& model, const Objective& objective,
                    const std::vector<DictionaryConfig>& configs, std::span<const Example> examples,
                    const DictionaryTrainerOptions& options);
  ~DictionaryTrainer() override;

  /// The loss of a step is the mean share of the variance that is not explained. `correct` counts
  /// the rows' explained variance.
  StepResult step(double progress) override;
  /// Of the first examples: see most_measured.
  LossSum evaluate(std::span<const Example> examples) override;
  std::size_t count() const override;

  /// Returns the dictionaries for the model's numbers as they are.
  std::unique_ptr<DictionarySet> dictionaries() const;

 private:
  class Learned;

  static LossSum loss_of(double error, double variance, std::size_t rows);
  std::vector<Stored> stored() override;
  void restored() override;

  std::vector<DictionaryConfig> configs_;
  DictionaryTrainerOptions options_;
  Pool pool_;
  DictionarySet dictionaries_;  // of numbers that are centered and scaled
  DictionaryRuns runs_;
  std::vector<std::unique_ptr<Learned>> each_;  // one for each dictionary
};

}  // namespace glassformer
