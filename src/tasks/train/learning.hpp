#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "families/folder/model_folder.hpp"
#include "tasks/pipeline.hpp"
#include "tasks/train/new_file.hpp"

namespace glassformer {

/// A model that learns and answers with the weights of the moment, for callers that exchange JSON
/// with it: the package and the Python package.
class Learning {
 public:
  using File = NewFile;

  virtual ~Learning() = default;

  /// The number of threads of the next training.
  virtual void set_threads(std::size_t threads) = 0;

  /// Keeps the files of a folder's tokenizer, which was read from `files`. `folder`: see
  /// ModelFolder.
  virtual void take_vocabulary(ModelFiles& files, const std::string& folder) = 0;

  /// Makes the model that learns further, whose weights come next. Returns its parameters.
  virtual std::vector<NamedParameter> start_from(ModelConfig config,
                                                 std::unique_ptr<const Tokenizer> tokenizer) = 0;

  /// Starts the training of that model or, if `config` is not empty, of a new one with these fields
  /// of config.json. `data` has lines (see DataForm::labelled), or pictures and their labels (see
  /// picture_data.hpp); `options` is JSON with the options of training_options.hpp. Returns the
  /// pipeline that answers with the weights of the moment.
  virtual std::unique_ptr<Pipeline> begin(std::string_view config, std::string_view data,
                                          std::string_view options) = 0;
  /// Returns {"model": a description of `pipeline`, "examples", "heldOut": numbers of examples,
  /// "stepsPerEpoch", "warnings": [what may be wrong with the examples]}.
  virtual std::string begun(Pipeline& pipeline) = 0;

  /// Learns from the next examples. `progress`: how much of the training is over with this step,
  /// from 0 to 1. Returns {"step", "epoch", "tokens", "loss", "accuracy", "rate", "gradientNorm",
  /// "gradientNorms": [{"name", "norm"}]}: "tokens" of this step.
  virtual std::string step(double progress) = 0;

  /// Returns {"loss", "accuracy", "count"} on other examples, in the same form; if there are none,
  /// on those that are held out.
  virtual std::string evaluate(std::string_view data) = 0;

  /// Copies the weights to the pipeline, if it has older ones.
  virtual void update(Pipeline& pipeline) = 0;

  /// Returns the files of a folder with the model.
  virtual std::vector<File> save() = 0;
};

std::unique_ptr<Learning> make_learning();

/// Points to make_learning, or is null in a program that is linked without training (see
/// src/linked).
extern std::unique_ptr<Learning> (*const make_linked_learning)();

}  // namespace glassformer
