#pragma once

#include <filesystem>
#include <fstream>

#include "train/trainer.hpp"

namespace glassformer {

/// Shows the progress of a training on standard error, and writes it to log.jsonl: a line for about
/// every hundredth of the training.
class TrainingLog {
 public:
  explicit TrainingLog(const std::filesystem::path& folder);

  /// Takes the result of a step.
  void add(const StepResult& result, const TrainingProgress& progress, double share,
           double seconds);
  /// Returns whether it is time to validate.
  bool due(double share) const { return share >= next_ || share >= 1; }
  /// Takes the result on the examples that are held out, and writes a line.
  void validated(const LossSum& held_out);

 private:
  void show() const;

  std::ofstream file_;
  bool terminal_;
  LossSum loss_;                // since the last line
  std::size_t tokens_ = 0;      // since the last line
  double began_ = 0, now_ = 0;  // seconds
  double share_ = 0, next_ = 0;
  StepResult last_;
  TrainingProgress progress_;
  LossSum held_out_;
};

}  // namespace glassformer
