#include <iostream>

#include "base/strings/printable.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/files/manifest.hpp"
#include "cli/files/new_files.hpp"
#include "models/initialize.hpp"
#include "models/model.hpp"
#include "tasks/load.hpp"

namespace glassformer {

namespace {

class InitCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("CONFIG_JSON", config_,
                   "The configuration. Tokenizers in its folder are copied.")
        ->required();
    app.add_option("OUT_DIR", folder_, "The folder to write.")->required();
    app.add_option("--seed", seed_, "The seed of the random numbers.")->required();
  }
  Exit run() override;

 private:
  std::filesystem::path config_, folder_;
  std::uint64_t seed_ = 0;
};

Exit InitCommand::run() {
  const ModelConfig config = parse_config(read_file(config_, config_limit));
  const std::filesystem::path beside = config_.parent_path();
  std::vector<std::string> vocabularies = vocabulary_files_of(beside);
  if (is_there(beside / picture_steps_name)) vocabularies.push_back(picture_steps_name);
  std::vector<std::string> described = {"config.json", "model.safetensors"};
  described.insert(described.end(), vocabularies.begin(), vocabularies.end());
  std::vector<std::string> names = described;
  names.push_back(manifest_file);
  NewFiles files(folder_, names);

  const Model model =
      make_model(config.architecture);  // only declares its parameters; takes no memory
  const std::vector<NamedParameter> declared = parameters(model);
  std::vector<NamedTensor> tensors;
  for (const NamedParameter& parameter : declared) {
    tensors.push_back({parameter.name, DType::f32, parameter.shape, {}});
  }
  const SafetensorsLayout layout = lay_out_safetensors(tensors);
  OutputFile weights(files.path("model.safetensors"));
  weights.write(0, std::as_bytes(std::span(layout.header)));
  SplitMix64 random(seed_);
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const std::vector<float> values = initial_values(declared[i], random);
    weights.write(layout.offsets[i], std::as_bytes(std::span(values)));
  }
  weights.close();

  files.write("config.json", to_json(config));
  for (const std::string& name : vocabularies) files.copy(name, beside / name);
  files.write_manifest(described);
  files.publish();
  std::cerr << "glassformer: wrote " << element_count(declared) << " random parameters to "
            << printable(folder_.string()) << '\n';
  return Exit::ok;
}

}  // namespace

std::unique_ptr<Command> make_init_command() { return std::make_unique<InitCommand>(); }

}  // namespace glassformer
