#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipelines/classify.hpp"
#include "pipelines/translate.hpp"

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

/// What may lie beside a folder's configuration and weights: one tokenizer, or one for each side of
/// a translation; a shortlist.
inline constexpr std::array vocabulary_files = {"tokenizer.model", "source.model", "target.model",
                                                "shortlist.bin"};

/// DIR/tokenizer.model or, where a translation's vocabularies differ, that of one side: "source" or
/// "target".
Tokenizer load_tokenizer(const std::filesystem::path& folder, const std::string& side = "source");

/// Sets a model's parameters from DIR/model.safetensors, one tensor at a time.
void load_weights(const std::filesystem::path& folder, std::vector<Parameter> parameters);

/// The pipelines of a folder; where no arithmetic is given, that which the weights are stored for.
/// A translator's shortlist.bin is read if asked for.
std::unique_ptr<ClassifyPipeline> load_classifier(const std::filesystem::path& folder,
                                                  std::optional<Compute> compute = {});
std::unique_ptr<TranslatePipeline> load_translator(const std::filesystem::path& folder,
                                                   std::optional<Compute> compute = {},
                                                   bool shortlisted = false);

}  // namespace glassformer
