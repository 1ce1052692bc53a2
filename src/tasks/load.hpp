#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "families/folder/folder_on_disk.hpp"
#include "families/folder/input_file.hpp"
#include "glassformer/compute.hpp"
#include "tasks/pipeline.hpp"
#include "text/hub/tokenizer_files.hpp"

namespace glassformer {

/// A model folder, all of which was read but the weights.
struct OpenFolder {
  explicit OpenFolder(const std::filesystem::path& path);

  /// The arithmetic that is wanted or, if none is, that which the weights are stored for.
  Compute compute(std::optional<Compute> wanted) const;

  /// Sets a model's parameters, one tensor at a time; returns the loader that did.
  WeightsLoader load(std::vector<NamedParameter> parameters) const;

  FolderOnDisk files;
  ModelFolder folder;
  std::vector<SafetensorsHeader> headers;
  ModelConfig config;
};

/// What may lie beside a folder's configuration and weights: tokenizers, a shortlist, how texts are
/// continued.
std::vector<std::string> vocabulary_files_of(const std::filesystem::path& folder);

/// The folder's tokenizer; where a translation's vocabularies differ, that of one side.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder,
                                          TokenizerSide side = TokenizerSide::source);

/// Sets a model's parameters from the folder's weights, one tensor at a time.
void load_weights(const std::filesystem::path& folder, std::vector<NamedParameter> parameters);

/// The pipeline of a folder. Throws wrong_task where tasks are given and the folder is for another.
std::unique_ptr<Pipeline> load_pipeline(const std::filesystem::path& folder,
                                        std::span<const Task> tasks,
                                        const LoadOptions& options = {});

/// The same as what it is, such as a ClassifyPipeline.
template <class Typed>
std::unique_ptr<Typed> load_pipeline(const std::filesystem::path& folder,
                                     const LoadOptions& options = {}) {
  std::unique_ptr<Pipeline> pipeline = load_pipeline(folder, Typed::tasks, options);
  return std::unique_ptr<Typed>(static_cast<Typed*>(pipeline.release()));
}

}  // namespace glassformer
