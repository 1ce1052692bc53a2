#include <iomanip>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/manifest.hpp"
#include "cli/model_folder.hpp"
#include "io/json.hpp"

namespace glassformer {
namespace {

// The whole model is loaded, so that what is shown has passed every check.
std::size_t count_parameters(const std::filesystem::path& folder, const ModelConfig& config) {
  return element_count(config.task == Task::translation ? load_translator(folder)->parameters()
                                                        : load_classifier(folder)->parameters());
}

// Says that the files are those that the manifest tells of; throws invalid_manifest if not.
void check_manifest(const std::filesystem::path& folder) {
  if (!is_there(folder / manifest_file)) {
    std::cout << "no manifest.json\n";
    return;
  }
  const Manifest manifest = parse_manifest(read_file(folder / manifest_file, manifest_limit));
  for (const Manifest::File& file : manifest.files) {
    if (file.name.find('/') == std::string::npos && is_there(folder / file.name) &&
        agrees(manifest, folder, file.name)) {
      continue;
    }
    throw Error(ErrorCode::invalid_manifest,
                "manifest.json: " + describe(file.name) + ": expected a file of " +
                    std::to_string(file.size) + " bytes with SHA-256 " + describe(file.sha256) +
                    ", got another or none");
  }
  std::cout << "manifest.json agrees with " << manifest.files.size() << " files\n";
}

}  // namespace

Exit run(const InspectCommand& command) {
  const ModelConfig config = read_config(command.model);
  const std::size_t parameters = count_parameters(command.model, config);
  const std::unique_ptr<Tokenizer> source = load_tokenizer(command.model, TokenizerSide::source);
  const std::unique_ptr<Tokenizer> target = load_tokenizer(command.model, TokenizerSide::target);
  const WeightsFile weights = read_weights_header(command.model);

  std::cout << to_json(config) << '\n';
  std::size_t width = 0;
  for (const TensorInfo& tensor : weights.header.tensors()) {
    width = std::max(width, tensor.name.size());
  }
  for (const TensorInfo& tensor : weights.header.tensors()) {
    std::cout << std::left << std::setw(static_cast<int>(width + 2)) << tensor.name << std::setw(6)
              << to_string(tensor.dtype) << to_string(tensor.shape) << '\n';
  }
  std::cout << '\n'
            << weights.header.tensors().size() << " tensors, " << parameters << " parameters, "
            << source->size()
            << (config.task == Task::translation ? " source pieces, " : " pieces");
  if (config.task == Task::translation) std::cout << target->size() << " target pieces";
  std::cout << '\n';
  check_manifest(command.model);
  return Exit::ok;
}

}  // namespace glassformer
