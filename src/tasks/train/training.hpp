#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tasks/train/new_file.hpp"
#include "tasks/train/training_setup.hpp"
#include "train/dictionary/dictionary_report.hpp"
#include "train/dictionary/dictionary_trainer.hpp"
#include "train/trainer.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {

/// A model that learns from a file of examples, or dictionaries of one.
class Training {
 public:
  /// `data`: see training_data.hpp. Throws `invalid_data`, `invalid_config`, `invalid_option` or
  /// `wrong_task`.
  Training(TrainingStart start, std::string_view data, TrainingOptions options);
  /// Learns what was made of the data. The options are those that it was made with.
  Training(TrainingSetup setup, std::string_view data, const TrainingOptions& options);

  /// Learns from the next examples. `progress`: see Trainer::step.
  StepResult step(double progress) { return learner_->step(progress); }
  /// Returns the loss on the examples that are held out, of the averaged weights.
  LossSum validate() { return learner_->evaluate(held_out_); }
  /// Returns the loss on other examples of labels, of the averaged weights. Throws `invalid_data`,
  /// also for a label that the model does not know.
  LossSum evaluate(std::string_view data);
  /// Returns how many steps read every example `epochs` times.
  std::uint64_t steps() const { return steps_; }

  Learner& learner() { return *learner_; }
  /// Returns what learns, if that is a model.
  Trainer& trainer();
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
  /// Returns the files of a folder with what was learned, of the averaged weights. `dtype`: of the
  /// weights of models; dictionaries have 8-bit integers. `quoted`: texts that the features of
  /// dictionaries quote; if there are none, the examples that are held out.
  std::vector<NewFile> files(DType dtype = DType::f32, std::span<const Example> quoted = {});
  /// Returns the report on dictionaries, once files() has made it.
  const DictionaryReport& report() const { return report_; }
  /// The dictionaries that are learned, in the order of the report; empty if a model learns.
  const std::vector<DictionaryConfig>& dictionaries() const { return dictionaries_; }
  /// The file of the tokenizer that was trained; empty if there was one before.
  std::span<const std::byte> tokenizer_file() const { return learned_.tokenizer_file; }

 private:
  void hold_out();
  void choose_options();
  std::uint64_t tokens() const;  // of the examples
  std::uint64_t fingerprint(std::string_view data) const;
  std::vector<std::byte> weights_file(DType dtype);
  std::vector<NewFile> dictionary_files(std::span<const Example> quoted);

  TrainingOptions options_;
  TrainingSetup learned_;
  std::vector<Example> held_out_;
  std::unique_ptr<Learner> learner_;
  std::vector<DictionaryConfig> dictionaries_;
  DictionaryReport report_;
  std::uint64_t steps_ = 0;
};

}  // namespace glassformer
