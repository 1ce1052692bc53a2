#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tasks/train/training_setup.hpp"
#include "train/trainer.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {

/// A model that learns from a file of examples.
class Training {
 public:
  /// `data`: see training_data.hpp. Throws `invalid_data`, `invalid_config`, `invalid_option` or
  /// `wrong_task`.
  Training(TrainingStart start, std::string_view data, TrainingOptions options);
  /// Learns what was made of the data. The options are those that it was made with.
  Training(TrainingSetup setup, std::string_view data, const TrainingOptions& options);

  /// Learns from the next examples. `progress`: see Trainer::step.
  StepResult step(double progress) { return trainer_->step(progress); }
  /// Returns the loss on the examples that are held out, of the averaged weights.
  LossSum validate() { return trainer_->evaluate(held_out_); }
  /// Returns the loss on other examples of labels, of the averaged weights. Throws `invalid_data`,
  /// also for a label that the model does not know.
  LossSum evaluate(std::string_view data);
  /// Returns how many steps read every example `epochs` times.
  std::uint64_t steps() const { return steps_; }

  Trainer& trainer() { return *trainer_; }
  const ModelConfig& config() const { return learned_.config; }
  const Model& model() const { return learned_.model; }
  const Tokenizer& tokenizer() const { return *learned_.tokenizer; }
  const TrainingOptions& options() const { return options_; }
  std::size_t examples() const { return learned_.examples.size(); }
  std::size_t held_out() const { return held_out_.size(); }
  /// The labels of the data; empty if it has none.
  const std::vector<LabelCount>& labels() const { return learned_.labels; }
  /// What may be wrong with the data, a sentence each.
  const std::vector<std::string>& warnings() const { return learned_.warnings; }
  /// Returns the file of the averaged weights: those of config(), without a head that only helps to
  /// learn.
  std::vector<std::byte> weights_file(DType dtype = DType::f32);
  /// The file of the tokenizer that was trained; empty if there was one before.
  std::span<const std::byte> tokenizer_file() const { return learned_.tokenizer_file; }
  /// The config.json of the model that is saved.
  std::string config_file() const;
  /// Its preprocessor_config.json; empty for a model that reads texts.
  std::string picture_steps_file() const;

 private:
  void hold_out();
  void choose_options();
  std::uint64_t fingerprint(std::string_view data) const;

  TrainingOptions options_;
  TrainingSetup learned_;
  std::vector<Example> held_out_;
  std::unique_ptr<Trainer> trainer_;
  std::uint64_t steps_ = 0;
};

}  // namespace glassformer
