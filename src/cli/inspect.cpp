#include <iomanip>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/model_folder.hpp"

namespace glassformer {
namespace {

// The whole model is loaded, so that what is shown has passed every check.
std::size_t count_parameters(const std::filesystem::path& folder, const ModelConfig& config) {
  return element_count(config.is_translation() ? load_translator(folder)->parameters()
                                               : load_classifier(folder)->parameters());
}

}  // namespace

Exit run(const InspectCommand& command) {
  const ModelConfig config = parse_config(read_file(command.model / "config.json"));
  const std::size_t parameters = count_parameters(command.model, config);
  const Tokenizer source = load_tokenizer(command.model, "source");
  const Tokenizer target = load_tokenizer(command.model, "target");
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
            << source.size() << (config.is_translation() ? " source pieces, " : " pieces");
  if (config.is_translation()) std::cout << target.size() << " target pieces";
  std::cout << '\n';
  return Exit::ok;
}

}  // namespace glassformer
