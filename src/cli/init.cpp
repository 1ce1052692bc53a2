#include <iostream>
#include <list>

#include "cli/commands.hpp"
#include "cli/model_folder.hpp"
#include "models/initialise.hpp"
#include "models/model.hpp"

namespace glassformer {

Exit run(const InitCommand& command) {
  const ModelConfig config = parse_config(read_file(command.config));
  const Model model = make_model(config);
  SplitMix64 random(command.seed);

  std::list<std::vector<float>> values;  // a list: `tensors` points into its elements
  std::vector<NamedTensor> tensors;
  std::size_t count = 0;
  for (const Parameter& parameter : parameters(model)) {
    values.push_back(initial_values(parameter, random));
    tensors.push_back(
        {parameter.name, DType::f32, parameter.shape, std::as_bytes(std::span(values.back()))});
    count += values.back().size();
  }
  const std::vector<std::byte> file = write_safetensors(tensors);

  std::filesystem::create_directories(command.folder);
  write_new_file(command.folder / "model.safetensors",
                 {reinterpret_cast<const char*>(file.data()), file.size()});
  write_new_file(command.folder / "config.json", to_json(config));
  for (const char* name : vocabulary_files) {
    const std::filesystem::path beside = command.config.parent_path() / name;
    if (std::filesystem::exists(beside)) {
      write_new_file(command.folder / name, read_file(beside));
    }
  }
  std::cerr << "glassformer: wrote " << count << " random parameters to " << command.folder.string()
            << '\n';
  return Exit::ok;
}

}  // namespace glassformer
