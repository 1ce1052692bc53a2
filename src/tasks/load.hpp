#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/load_options.hpp"
#include "families/folder/folder_on_disk.hpp"
#include "families/folder/input_file.hpp"
#include "tasks/pipeline.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// A model folder that has been read except for its weights.
struct OpenFolder {
  /// `wanted`: the tasks that the model is to be loaded for; empty: any.
  explicit OpenFolder(const std::filesystem::path& path, std::span<const Task> wanted = {});

  /// Returns `wanted` or, if it is unset, the arithmetic that the weights are stored for.
  Compute compute(std::optional<Compute> wanted) const;

  /// Sets a model's parameters, one tensor at a time. Returns the loader.
  WeightsLoader load(std::vector<NamedParameter> parameters) const;

  FolderOnDisk files;
  ModelFolder folder;
  std::vector<SafetensorsHeader> headers;
  ModelConfig config;
};

/// Returns the names of the files that a folder has in addition to its configuration and weights:
/// tokenizers, the shortlist, and settings for generation.
std::vector<std::string> vocabulary_files_of(const std::filesystem::path& folder);

/// Loads the folder's tokenizer; if a translator has two, that of the source.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder);

/// Sets a model's parameters from the folder's weights, one tensor at a time.
void load_weights(const std::filesystem::path& folder, std::vector<NamedParameter> parameters);

/// Loads the pipeline of a folder. Throws `wrong_task` if `tasks` is not empty and the folder is
/// for another task.
std::unique_ptr<Pipeline> load_pipeline(const std::filesystem::path& folder,
                                        std::span<const Task> tasks,
                                        const LoadOptions& options = {});

/// Gives a pipeline the dictionaries of a folder. Throws the errors of read_dictionaries.
void load_dictionaries(const std::filesystem::path& folder, Pipeline& pipeline);

/// Loads a pipeline of a known type, such as ClassifyPipeline.
template <class Typed>
std::unique_ptr<Typed> load_pipeline(const std::filesystem::path& folder,
                                     const LoadOptions& options = {}) {
  std::unique_ptr<Pipeline> pipeline = load_pipeline(folder, Typed::tasks, options);
  return std::unique_ptr<Typed>(static_cast<Typed*>(pipeline.release()));
}

}  // namespace glassformer
