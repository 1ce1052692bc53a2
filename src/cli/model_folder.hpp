#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "pipelines/classify.hpp"

namespace glassformer {

/// A whole file. Throws std::runtime_error naming it if it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Writes a new file. Throws std::runtime_error if it exists already or cannot be written whole.
void write_new_file(const std::filesystem::path& path, std::string_view bytes);

/// The header of DIR/model.safetensors and the place in the file where its tensors' data begins.
struct WeightsFile {
  SafetensorsHeader header;
  std::uint64_t data_begin;
};
WeightsFile read_weights_header(const std::filesystem::path& folder);

Tokenizer load_tokenizer(const std::filesystem::path& folder);

/// Loads a classifier, one tensor at a time.
std::unique_ptr<ClassifyPipeline> load_classifier(const std::filesystem::path& folder);

}  // namespace glassformer
