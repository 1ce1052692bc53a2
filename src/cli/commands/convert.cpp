#include <algorithm>
#include <array>
#include <bit>
#include <iostream>

#include "base/strings/printable.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/files/manifest.hpp"
#include "cli/files/new_files.hpp"
#include "models/model.hpp"
#include "tasks/load.hpp"
#include "weights/floats.hpp"

namespace glassformer {
namespace {

// Writes a model's parameters to a file as they are loaded. Integer matrices stay integers;
// everything else is written in one floating type.
class NewWeights {
 public:
  NewWeights(const std::vector<NamedParameter>& parameters, DType floats,
             const std::filesystem::path& path)
      : file_(path) {
    for (const NamedParameter& parameter : parameters) {
      const std::string& name = parameter.name;
      const std::vector<std::size_t>& shape = parameter.shape;
      stored_.resize(tensors_.size());
      stored_.push_back(parameter.stored);
      if (parameter.set_int8) {
        tensors_.push_back({name, DType::i8, shape, {}});
        tensors_.push_back({name + "_scale", DType::f32, {shape[0]}, {}});
      } else {
        tensors_.push_back({name, floats, shape, {}});
      }
    }
    layout_ = lay_out_safetensors(tensors_);
    file_.write(0, std::as_bytes(std::span(layout_.header)));
  }

  // Returns the same parameters; setting one writes its values.
  std::vector<NamedParameter> targets() {
    std::vector<NamedParameter> targets;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      NamedParameter& target = targets.emplace_back(
          NamedParameter{.name = tensors_[i].name, .shape = tensors_[i].shape});
      target.stored = stored_[i];
      if (tensors_[i].dtype == DType::i8) {
        target.set_int8 = [this, i](std::span<const std::int8_t> values,
                                    std::span<const float> scales, std::size_t first) {
          write(i, std::as_bytes(values), first * (values.size() / scales.size()));
          write(i + 1, std::as_bytes(scales), first * sizeof(float));
        };
        ++matrices_;
        ++i;
      } else {
        target.set = [this, i](std::span<const float> values, std::size_t first) {
          const NamedTensor& tensor = tensors_[i];
          const std::size_t before =
              first == 0 ? 0 : first * (element_count(tensor.shape) / tensor.shape[0]);
          write(i, from_f32(tensor.dtype, values, buffer_), before * size_of(tensor.dtype));
        };
      }
    }
    return targets;
  }

  std::size_t matrices() const { return matrices_; }
  std::uint64_t size() const { return layout_.size; }
  void close() { file_.close(); }

 private:
  // Writes bytes of a tensor, starting at byte `at`.
  void write(std::size_t tensor, std::span<const std::byte> bytes, std::size_t at) {
    file_.write(layout_.offsets[tensor] + at, bytes);
  }

  std::vector<NamedTensor> tensors_;              // a matrix is followed by its scales
  std::vector<std::vector<std::size_t>> stored_;  // per tensor: see NamedParameter
  SafetensorsLayout layout_;
  OutputFile file_;
  std::vector<std::byte> buffer_;
  std::size_t matrices_ = 0;
};

// Returns the floating type of all weights that the model reads; F32 if they differ.
DType floating_type(const WeightsLoader& loader) {
  std::optional<DType> common;
  for (std::size_t i = 0; i < loader.size(); ++i) {
    if (loader.ignores(i)) continue;
    const DType dtype = loader.tensor(i).dtype;
    if (dtype == DType::i8 || common.value_or(dtype) != dtype) return DType::f32;
    common = dtype;
  }
  return common.value_or(DType::f32);
}

std::string convert(const OpenFolder& open, const std::filesystem::path& out, Compute compute,
                    const std::string& config) {
  const std::filesystem::path& from = open.files.path();
  std::vector<ModelFolder::Renamed> copied = open.folder.renamed();
  const std::string& folder = open.folder.folder();
  for (const std::string& name : vocabulary_files_of(from / folder)) {
    copied.push_back({name, folder + name});
  }
  std::vector<std::string> described = {"config.json", "model.safetensors"};
  const bool pictures = reads_pictures(open.config);
  if (pictures) described.push_back(picture_steps_name);
  for (const auto& [ours, theirs] : copied) described.push_back(ours);
  std::vector<std::string> names = described;
  names.push_back(manifest_file);
  for (const char* name : {"README.md", "LICENSE"}) {
    if (!is_there(from / name)) continue;
    names.push_back(name);
    copied.push_back({name, name});
  }
  NewFiles files(out, names);
  parse_config(config);  // throws if our own reader would refuse it

  const Model model = make_model(open.config.architecture, compute);
  const std::vector<NamedParameter> wanted = parameters(model);
  const DType floats = compute == Compute::int8
                           ? DType::f32
                           : floating_type(open.folder.loader(open.headers, wanted));
  NewWeights weights(wanted, floats, files.path("model.safetensors"));
  open.load(weights.targets());
  weights.close();
  files.write("config.json", config);
  if (pictures) files.write(picture_steps_name, to_json(open.config.pictures));
  for (const auto& [ours, theirs] : copied) files.copy(ours, from / theirs);
  files.write_manifest(described);
  files.publish();
  return (compute == Compute::int8 ? std::to_string(weights.matrices()) + " quantized matrices, "
                                   : std::to_string(element_count(wanted)) + " parameters, ") +
         std::to_string(weights.size()) + " bytes of weights in all, to " + printable(out.string());
}

class ConvertCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("CHECKPOINT_DIR", checkpoint_, "folder as its makers published it")->required();
    app.add_option("OUT_DIR", folder_, "folder to write")->required();
    add_compute(app, compute_);
  }
  Exit run() override;

 private:
  std::filesystem::path checkpoint_, folder_;
  std::optional<Compute> compute_;
};

Exit ConvertCommand::run() {
  const OpenFolder open(checkpoint_);
  const Compute compute = open.compute(compute_);
  const std::string written = convert(open, folder_, compute, to_json(open.config));
  std::cerr << "glassformer: wrote " << written << '\n';
  return Exit::ok;
}

class QuantizeCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    add_model(app, model_);
    app.add_option("OUT_DIR", folder_, "folder to write")->required();
  }
  Exit run() override;

 private:
  std::filesystem::path model_, folder_;
};

Exit QuantizeCommand::run() {
  FolderOnDisk{model_};  // throws if this is not a folder
  const std::string config = read_file(model_ / "config.json", config_limit);
  parse_config(config);  // accepts only our format
  const std::string written = convert(OpenFolder(model_), folder_, Compute::int8, config);
  std::cerr << "glassformer: wrote " << written << '\n';
  return Exit::ok;
}

}  // namespace

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }
std::unique_ptr<Command> make_quantize_command() { return std::make_unique<QuantizeCommand>(); }

}  // namespace glassformer
