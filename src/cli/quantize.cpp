#include <iostream>

#include "cli/commands.hpp"
#include "cli/manifest.hpp"
#include "cli/model_folder.hpp"
#include "cli/new_files.hpp"
#include "models/model.hpp"

namespace glassformer {
namespace {

// Tensors on their way from one file to another: what a model has as matrices of integers goes
// there as such, all else as floats.
class QuantisedWeights {
 public:
  QuantisedWeights(const std::vector<Parameter>& parameters, const std::filesystem::path& path)
      : file_(path) {
    for (const Parameter& parameter : parameters) {
      const auto& [name, shape, set, set_int8] = parameter;
      if (set_int8) {
        tensors_.push_back({name, DType::i8, shape, {}});
        tensors_.push_back({name + "_scale", DType::f32, {shape[0]}, {}});
      } else {
        tensors_.push_back({name, DType::f32, shape, {}});
      }
    }
    layout_ = lay_out_safetensors(tensors_);
    file_.write(0, std::as_bytes(std::span(layout_.header)));
  }

  // The same parameters, whose values are written when they are set.
  std::vector<Parameter> targets() {
    std::vector<Parameter> targets;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      Parameter& target =
          targets.emplace_back(Parameter{.name = tensors_[i].name, .shape = tensors_[i].shape});
      if (tensors_[i].dtype == DType::i8) {
        target.set_int8 = [this, i](std::span<const std::int8_t> values,
                                    std::span<const float> scales) {
          write(i, values);
          write(i + 1, scales);
        };
        ++matrices_;
        ++i;
      } else {
        target.set = [this, i](std::span<const float> values) { write(i, values); };
      }
    }
    return targets;
  }

  std::size_t matrices() const { return matrices_; }
  std::uint64_t size() const { return layout_.size; }
  void close() { file_.close(); }

 private:
  template <class T>
  void write(std::size_t tensor, std::span<const T> values) {
    file_.write(layout_.places[tensor], std::as_bytes(values));
  }

  std::vector<NamedTensor> tensors_;  // a matrix, then its scales
  SafetensorsLayout layout_;
  OutputFile file_;
  std::size_t matrices_ = 0;
};

}  // namespace

Exit run(const QuantizeCommand& command) {
  const std::string config = read_file(command.model / "config.json", config_limit);
  const Model model = make_model(parse_config(config).architecture, Compute::int8);
  const std::vector<std::string> described = model_files(command.model);
  std::vector<std::string> names = described;
  names.push_back(manifest_file);
  for (const char* name : {"README.md", "LICENSE"}) {
    if (is_there(command.model / name)) names.push_back(name);
  }
  NewFiles files(command.folder, names);

  QuantisedWeights weights(parameters(model), files.path("model.safetensors"));
  load_weights(command.model, weights.targets());
  weights.close();
  files.write("config.json", config);
  for (const std::string& name : names) {
    if (!is_there(files.path(name)) && name != manifest_file)
      files.copy(name, command.model / name);
  }
  files.write_manifest(described);
  files.publish();
  std::cerr << "glassformer: wrote " << weights.matrices() << " quantised matrices, "
            << weights.size() << " bytes of weights in all, to " << command.folder.string() << '\n';
  return Exit::ok;
}

}  // namespace glassformer
