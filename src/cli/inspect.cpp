#include <iomanip>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/model_folder.hpp"

namespace glassformer {

Exit run(const InspectCommand& command) {
  // Loading first: what is shown has passed every check.
  const auto pipeline = load_classifier(command.model);
  const WeightsFile weights = read_weights_header(command.model);

  std::cout << to_json(pipeline->config()) << "\n\n";
  std::size_t width = 0;
  for (const TensorInfo& tensor : weights.header.tensors()) {
    width = std::max(width, tensor.name.size());
  }
  for (const TensorInfo& tensor : weights.header.tensors()) {
    std::cout << std::left << std::setw(static_cast<int>(width + 2)) << tensor.name << std::setw(6)
              << to_string(tensor.dtype) << to_string(tensor.shape) << '\n';
  }
  std::size_t parameters = 0;
  for (const Parameter& parameter : pipeline->parameters()) {
    parameters += element_count(parameter.shape);
  }
  std::cout << '\n'
            << weights.header.tensors().size() << " tensors, " << parameters << " parameters, "
            << pipeline->tokenizer().size() << " pieces\n";
  return Exit::ok;
}

}  // namespace glassformer
