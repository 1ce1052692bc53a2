#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "families/config/model_config.hpp"
#include "models/model.hpp"
#include "tasks/train/picture_data.hpp"
#include "tasks/train/training_data.hpp"
#include "tasks/train/training_options.hpp"
#include "text/tokenizer.hpp"
#include "train/objective.hpp"

namespace glassformer {

/// The start of a training: a model with its tokenizer, or only the fields of a new one.
struct TrainingStart {
  std::string config = "{}";                   ///< fields of config.json, of a new model
  std::unique_ptr<const Tokenizer> tokenizer;  ///< null: one is trained
  std::unique_ptr<const Tokenizer> target_tokenizer = {};  ///< of translations; null: the same
  std::optional<ModelConfig> known = {};  ///< of a model that has been trained before
  std::optional<Model> model = {};        ///< that model, loaded with floats
};

/// A model and what it has to learn.
struct TrainingSetup {
  ModelConfig config;  ///< of the model that is saved
  Model model;         ///< may have a head that is not saved
  std::unique_ptr<const Tokenizer> tokenizer, target_tokenizer;
  std::vector<std::byte> tokenizer_file;  ///< if it was trained
  bool fresh = true;                      ///< nothing was learned before
  std::vector<Example> examples;
  std::unique_ptr<Objective> objective;
  std::vector<LabelCount> labels;     ///< of the data; empty if it has no labels
  std::vector<std::string> warnings;  ///< about data that is learned all the same
};

/// Builds a setup step by step.
class TrainingSetupBuilder {
 public:
  /// Throws `invalid_option` for an option that is out of its range, or for languages where nothing
  /// is translated.
  TrainingSetupBuilder(TrainingStart start, const TrainingOptions& options);

  /// Each reads a file of examples (see training_data.hpp). They throw `invalid_data` with the
  /// number of the line, `invalid_config`, `invalid_option` or `wrong_task`.
  TrainingSetup classes(std::string_view data);
  TrainingSetup token_classes(std::string_view data);
  TrainingSetup masked(std::string_view data);
  TrainingSetup next_token(std::string_view data);
  TrainingSetup translation(std::string_view data);
  /// Reads two files, one after the other: see picture_data.hpp.
  TrainingSetup pictures(std::string_view data);

 private:
  void take_tokenizer(const std::vector<DataLine>& lines);
  void take_labels(std::vector<LabelCount> labels);
  // Warns if `count` of the examples were cut.
  void warn_of_clipped(std::size_t count);
  void make_labeled_model(HeadKind kind);
  void make_model_of(ModelConfig config);
  ModelConfig new_config(const std::vector<std::string>& labels) const;
  std::vector<bool> special_tokens() const;

  TrainingStart start_;
  const TrainingOptions& options_;
  TrainingSetup made_;
};

/// Returns the pictures of data with the model's numbers of their labels. Throws `invalid_data` for
/// a label that the model does not know.
std::vector<Example> read_labelled(const PictureData& data, const ModelConfig& config);
struct LabelledTexts {
  std::vector<Example> examples;
  std::size_t clipped = 0;  ///< of them, because they have more tokens than the model reads
};
/// Returns examples of labels, as the model reads them. Throws `invalid_data` with the number of a
/// line whose label the model does not know, and the errors of InputReader.
LabelledTexts read_labelled(const std::vector<DataLine>& lines, const ModelConfig& config,
                            const Tokenizer& tokenizer);

/// Reads the data as the options say, or as the model's task is. Sets options.lessons.
TrainingSetup make_training_setup(TrainingStart start, std::string_view data,
                                  TrainingOptions& options);

}  // namespace glassformer
