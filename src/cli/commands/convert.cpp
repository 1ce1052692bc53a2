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
#include "weights/quantize.hpp"

namespace glassformer {
namespace {

// Writes a model's parameters to a file as they are loaded. Integer matrices stay integers, those
// of 8 bits with `bits_of_tables` bits; everything else is written in one floating type.
class NewWeights {
 public:
  NewWeights(const std::vector<NamedParameter>& parameters, unsigned bits_of_tables, DType floats,
             const std::filesystem::path& path)
      : file_(path) {
    for (const NamedParameter& parameter : parameters) {
      const std::string& name = parameter.name;
      const std::vector<std::size_t>& shape = parameter.shape;
      firsts_.push_back(tensors_.size());
      targets_.push_back({.name = name, .shape = shape});
      const bool table = parameter.bits == 8 && shape.size() == 2;
      const unsigned bits = table ? bits_of_tables : parameter.bits;
      targets_.back().bits = bits;
      targets_.back().stored = parameter.stored;
      if (bits == 8) {
        tensors_.push_back({name, DType::i8, shape, {}});
        tensors_.push_back({name + "_scale", DType::f32, {shape[0]}, {}});
      } else if (bits == 4) {
        const std::size_t scales = scales_of_row(shape[1], bits);
        tensors_.push_back({name, DType::u8, {shape[0], (shape[1] + 1) / 2}, {}});
        tensors_.push_back({name + "_scale", DType::bf16, {shape[0], scales}, {}});
      } else {
        tensors_.push_back({name, floats, shape, {}});
      }
    }
    layout_ = lay_out_safetensors(tensors_);
    file_.write(0, std::as_bytes(std::span(layout_.header)));
  }

  // Returns the same parameters; setting one writes its values.
  std::vector<NamedParameter> targets() {
    std::vector<NamedParameter> targets = targets_;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      NamedParameter& target = targets[i];
      const std::size_t tensor = firsts_[i];
      if (target.bits != 0) {
        const std::size_t columns = element_count(target.shape) / target.shape[0];
        target.set_integers = [this, tensor, columns, bits = target.bits](
                                  std::span<const std::int8_t> values,
                                  std::span<const float> scales, std::size_t first) {
          const std::span bytes = std::as_bytes(values);
          write(tensor, bits == 8 ? bytes : std::span(nibbles_ = packed_nibbles(values, columns)),
                first);
          write(tensor + 1, from_f32(tensors_[tensor + 1].dtype, scales, buffer_), first);
        };
        ++matrices_;
      } else {
        target.set = [this, tensor](std::span<const float> values, std::size_t first) {
          write(tensor, from_f32(tensors_[tensor].dtype, values, buffer_), first);
        };
      }
    }
    return targets;
  }

  std::size_t matrices() const { return matrices_; }
  std::uint64_t size() const { return layout_.size; }
  void close() { file_.close(); }

 private:
  // Writes bytes of a tensor, starting at row `first`.
  void write(std::size_t index, std::span<const std::byte> bytes, std::size_t first) {
    const NamedTensor& tensor = tensors_[index];
    const std::size_t before =
        first == 0 ? 0 : first * (element_count(tensor.shape) / tensor.shape[0]);
    file_.write(layout_.offsets[index] + before * size_of(tensor.dtype), bytes);
  }

  std::vector<NamedTensor> tensors_;     // a matrix is followed by its scales
  std::vector<NamedParameter> targets_;  // without functions
  std::vector<std::size_t> firsts_;      // of each target: the index of its tensor
  SafetensorsLayout layout_;
  OutputFile file_;
  std::vector<std::byte> buffer_, nibbles_;
  std::size_t matrices_ = 0;
};

bool is_float(DType dtype) { return holds_weights(dtype) && dtype != DType::i8; }

// Returns the floating type of all weights that the model reads; F32 if they differ, or have
// integers.
DType floating_type(const WeightsLoader& loader) {
  std::optional<DType> common;
  for (std::size_t i = 0; i < loader.size(); ++i) {
    if (loader.ignores(i)) continue;
    const DType dtype = loader.tensor(i).dtype;
    if (!is_float(dtype) || common.value_or(dtype) != dtype) return DType::f32;
    common = dtype;
  }
  return common.value_or(DType::f32);
}

std::string convert(const OpenFolder& open, const std::filesystem::path& out, Compute compute,
                    const std::string& config, unsigned bits_of_tables = 8) {
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
  const DType floats = floating_type(open.folder.loader(open.headers, wanted));
  NewWeights weights(wanted, bits_of_tables, floats, files.path("model.safetensors"));
  open.load(weights.targets());
  weights.close();
  files.write("config.json", config);
  if (pictures) files.write(picture_steps_name, to_json(open.config.pictures));
  for (const auto& [ours, theirs] : copied) files.copy(ours, from / theirs);
  files.write_manifest(described);
  files.publish();
  return (compute != Compute::f32 ? std::to_string(weights.matrices()) + " quantized matrices, "
                                  : std::to_string(element_count(wanted)) + " parameters, ") +
         std::to_string(weights.size()) + " bytes of weights in all, to " + printable(out.string());
}

class ConvertCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("CHECKPOINT_DIR", checkpoint_, "The folder as its makers published it.")
        ->required();
    app.add_option("OUT_DIR", folder_, "The folder to write.")->required();
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
    app.add_option("OUT_DIR", folder_, "The folder to write.")->required();
    CLI::Option* weights = add_bits(app, compute_);
    app.add_flag("--tables", tables_,
                 "With --weights 4: tables of embeddings have 4 bits per weight, too, as in a file "
                 "to be downloaded. In memory they have 8.")
        ->needs(weights);
  }
  Exit run() override;

 private:
  std::filesystem::path model_, folder_;
  Compute compute_ = Compute::int8;
  bool tables_ = false;
};

Exit QuantizeCommand::run() {
  if (tables_ && compute_ != Compute::int4) {
    throw_error(ErrorCode::invalid_option, "--tables: expected --weights 4, got --weights 8");
  }
  const OpenFolder open(model_);
  const std::string config = open.folder.is_published()
                                 ? to_json(open.config)
                                 : read_file(model_ / "config.json", config_limit);
  const std::string written = convert(open, folder_, compute_, config, tables_ ? 4 : 8);
  std::cerr << "glassformer: wrote " << written << '\n';
  return Exit::ok;
}

}  // namespace

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }
std::unique_ptr<Command> make_quantize_command() { return std::make_unique<QuantizeCommand>(); }

}  // namespace glassformer
