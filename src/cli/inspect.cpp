#include <iomanip>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/model_folder.hpp"
#include "models/model.hpp"

namespace glassformer {

Exit run(const InspectCommand& command) {
  // Loading first: what is shown has passed every check.
  const ModelConfig config = parse_config(read_file(command.model / "config.json"));
  const Model model = make_model(config);
  load_weights(command.model, parameters(model));
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
  std::size_t count = 0;
  for (const Parameter& parameter : parameters(model)) count += element_count(parameter.shape);
  std::cout << '\n'
            << weights.header.tensors().size() << " tensors, " << count << " parameters, "
            << source.size() << (config.is_translation() ? " source pieces, " : " pieces");
  if (config.is_translation()) std::cout << target.size() << " target pieces";
  std::cout << '\n';
  return Exit::ok;
}

}  // namespace glassformer
