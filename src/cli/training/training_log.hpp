#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "train/trainer.hpp"

namespace glassformer {

/// A line of log.jsonl: the losses since the line before, and those on the examples held out.
struct TrainingPoint {
  std::uint64_t step = 0;
  double loss = 0, accuracy = 0;
  std::optional<double> held_out_loss = {}, held_out_accuracy = {};
};

/// Shows the progress of a training on standard error, and writes it to log.jsonl: a line for each
/// validation. If the file cannot be written, it says so once, and goes on.
class TrainingLog {
 public:
  /// `continues`: keeps the lines of earlier runs.
  TrainingLog(const std::filesystem::path& folder, bool continues);

  /// Takes the result of a step.
  void add(const StepResult& result, const TrainingProgress& progress, double share,
           double seconds);
  /// Returns whether it is time to validate: about twenty times in all, in a tenth of the time.
  bool due() const { return share_ >= 1 || (share_ >= next_ && now_ >= next_time_); }
  /// Takes the result on the examples that are held out, and writes a line. `seconds`: since the
  /// beginning.
  void validated(const LossSum& held_out, double seconds);

  /// The lines so far, with those of the runs before.
  const std::vector<TrainingPoint>& points() const { return points_; }

 private:
  void show() const;
  void read();
  void expect_written();

  std::filesystem::path path_;
  std::ofstream file_;
  bool failed_ = false;  // and said so
  bool terminal_;
  LossSum loss_;                // since the last line
  std::size_t tokens_ = 0;      // since the last line
  double began_ = 0, now_ = 0;  // seconds
  double share_ = 0, next_ = 0, next_time_ = 0;
  StepResult last_;
  TrainingProgress progress_;
  LossSum held_out_;
  std::vector<TrainingPoint> points_;
};

}  // namespace glassformer
