#include <iostream>
#include <list>

#include "cli/commands.hpp"
#include "cli/model_folder.hpp"
#include "io/quantise.hpp"
#include "models/model.hpp"

namespace glassformer {
namespace {

// The parameters of a folder's model with their values, checked as loading checks them.
struct LoadedParameter {
  std::string name;
  std::vector<std::size_t> shape;
  bool wanted_as_int8;
  std::vector<float> values;
};

std::list<LoadedParameter> load_parameters(const std::filesystem::path& folder,
                                           const ModelConfig& config) {
  std::list<LoadedParameter> loaded;  // a list: `targets` point into its elements
  std::vector<Parameter> targets;
  for (const Parameter& parameter : parameters(make_model(config, Compute::int8))) {
    LoadedParameter& target = loaded.emplace_back();
    target.name = parameter.name;
    target.shape = parameter.shape;
    target.wanted_as_int8 = static_cast<bool>(parameter.set_int8);
    targets.push_back({.name = parameter.name,
                       .shape = parameter.shape,
                       .set = [&target](std::span<const float> values) {
                         target.values.assign(values.begin(), values.end());
                       }});
  }
  load_weights(folder, std::move(targets));
  return loaded;
}

template <class T>
NamedTensor tensor(std::string name, DType dtype, std::vector<std::size_t> shape,
                   const std::vector<T>& values) {
  return {std::move(name), dtype, std::move(shape), std::as_bytes(std::span(values))};
}

}  // namespace

Exit run(const QuantizeCommand& command) {
  const ModelConfig config = parse_config(read_file(command.model / "config.json"));
  const std::list<LoadedParameter> loaded = load_parameters(command.model, config);

  std::list<QuantisedMatrix> matrices;  // a list: `tensors` points into its elements
  std::vector<NamedTensor> tensors;
  for (const auto& [name, shape, wanted_as_int8, values] : loaded) {
    if (!wanted_as_int8) {
      tensors.push_back(tensor(name, DType::f32, shape, values));
      continue;
    }
    const QuantisedMatrix& matrix = matrices.emplace_back(quantise(values, shape[0]));
    tensors.push_back(tensor(name, DType::i8, shape, matrix.values));
    tensors.push_back(tensor(name + "_scale", DType::f32, {shape[0]}, matrix.scales));
  }
  const std::vector<std::byte> file = write_safetensors(tensors);

  std::filesystem::create_directories(command.folder);
  write_new_file(command.folder / "model.safetensors",
                 {reinterpret_cast<const char*>(file.data()), file.size()});
  std::vector<std::string> others(vocabulary_files.begin(), vocabulary_files.end());
  others.insert(others.end(), {"config.json", "README.md", "LICENSE"});
  for (const std::string& name : others) {
    if (std::filesystem::exists(command.model / name)) {
      write_new_file(command.folder / name, read_file(command.model / name));
    }
  }
  std::cerr << "glassformer: wrote " << matrices.size() << " quantised matrices, " << file.size()
            << " bytes of weights in all, to " << command.folder.string() << '\n';
  return Exit::ok;
}

}  // namespace glassformer
