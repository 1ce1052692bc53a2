#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "families/folder/model_folder.hpp"
#include "tasks/pipeline.hpp"
#include "tasks/train/training.hpp"

namespace glassformer {

// The part of an instance that learns: a training, and what it begins with.
class Learning {
 public:
  struct File {
    std::string name, bytes;
  };

  // Keeps the files of a folder's tokenizer, which was read from `files`. `folder`: see
  // ModelFolder.
  void take_vocabulary(ModelFiles& files, const std::string& folder);

  // Makes the model that learns further, whose weights come next. Returns its parameters.
  std::vector<NamedParameter> start_from(ModelConfig config,
                                         std::unique_ptr<const Tokenizer> tokenizer);

  // Starts the training of that model or, if `config` is not empty, of a new one. Returns the
  // pipeline that answers with the weights of the moment.
  std::unique_ptr<Pipeline> begin(std::string_view config, std::string_view data,
                                  const TrainingOptions& options);

  Training& training();

  // Learns from the next examples.
  StepResult step(double progress);

  // Copies the weights to the pipeline, if it has older ones.
  void update(Pipeline& pipeline);

  // Returns the files of a folder with the model.
  std::vector<File> save();

  std::vector<File> saved;  // the last answer's
  std::size_t threads = 1;  // of the next training

 private:
  TrainingStart start_;
  std::unique_ptr<const Tokenizer> tokenizer_;  // of the pipeline; null: it is trained
  std::vector<File> vocabulary_;
  std::unique_ptr<Training> training_;
  bool newer_ = false;  // than the pipeline's weights
};

}  // namespace glassformer
