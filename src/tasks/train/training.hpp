#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "families/config/model_config.hpp"
#include "models/model.hpp"
#include "tasks/train/training_data.hpp"
#include "tasks/train/training_options.hpp"
#include "text/tokenizer.hpp"
#include "train/trainer.hpp"

namespace glassformer {

/// What a training starts from: a model with its tokenizer, or only the fields of a new one.
struct TrainingStart {
  std::string config = "{}";                   ///< fields of config.json, of a new model
  std::unique_ptr<const Tokenizer> tokenizer;  ///< null: one is trained
  std::optional<ModelConfig> known = {};       ///< of a model that has been trained before
  std::optional<Model> model = {};             ///< that model, loaded with floats
};

/// A model that learns from a file of examples.
class Training {
 public:
  /// `data`: see training_data.hpp. Throws `invalid_data`, `invalid_config`, `invalid_option` or
  /// `wrong_task`.
  Training(TrainingStart start, std::string_view data, const TrainingOptions& options);

  /// Learns from the next examples. `progress`: see Trainer::step.
  StepResult step(double progress) { return trainer_->step(progress); }
  /// Returns the loss on the examples that are held out, of the averaged weights.
  LossSum validate() { return trainer_->evaluate(held_out_); }
  /// Returns the loss on other examples, of the averaged weights. Throws `invalid_data`, also for a
  /// label that the model does not know.
  LossSum evaluate(std::string_view data);
  /// Returns how many steps read every example `epochs` times.
  std::uint64_t steps() const { return steps_; }

  Trainer& trainer() { return *trainer_; }
  const ModelConfig& config() const { return config_; }
  const TrainingOptions& options() const { return options_; }
  std::size_t examples() const { return examples_.size(); }
  std::size_t held_out() const { return held_out_.size(); }
  /// The file of the tokenizer that was trained; empty if there was one before.
  std::span<const std::byte> tokenizer_file() const { return tokenizer_file_; }

 private:
  void read_labelled(TrainingStart start, std::string_view data);
  std::vector<Example> read_examples(const std::vector<DataLine>& lines) const;
  void hold_out(std::vector<Example> examples);
  void choose_options();
  std::uint64_t fingerprint(std::string_view data) const;

  TrainingOptions options_;
  ModelConfig config_;
  std::unique_ptr<const Tokenizer> tokenizer_;
  std::vector<std::byte> tokenizer_file_;
  Model model_;
  bool fresh_ = true;  // nothing was learned before
  std::vector<Example> examples_, held_out_;
  std::unique_ptr<Objective> objective_;
  std::unique_ptr<Trainer> trainer_;
  std::uint64_t steps_ = 0;
};

}  // namespace glassformer
