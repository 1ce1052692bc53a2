#include "io/weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "error.hpp"
#include "io/floats.hpp"
#include "io/json.hpp"
#include "io/json_writer.hpp"
#include "io/quantise.hpp"

namespace glassformer {
namespace {

constexpr std::string_view scale_suffix = "_scale";

[[noreturn]] void fail(ErrorCode code, const std::string& tensor, const std::string& problem) {
  JsonSource{code, "model.safetensors"}.fail(tensor + ": " + problem);
}

// "-1.5", "NaN", "Infinity"
std::string text_of(float number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  JsonWriter json;
  json.value(number);
  return json.take();
}

void check_finite(const TensorInfo& tensor, std::span<const float> values) {
  const std::size_t place = first_not_finite(values);
  if (place == values.size()) return;
  fail(ErrorCode::invalid_weights, tensor.name,
       "expected finite numbers, got " + text_of(values[place]) + " at element " +
           std::to_string(place));
}

void check_scales(const TensorInfo& tensor, std::span<const float> scales) {
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (std::isfinite(scales[i] * 127)) continue;
    fail(ErrorCode::invalid_weights, tensor.name,
         "expected scales whose product with 127 is finite, got " + text_of(scales[i]) +
             " at element " + std::to_string(i));
  }
}

void check_shape(const TensorInfo& tensor, const std::vector<std::size_t>& expected) {
  if (tensor.shape != expected) {
    fail(ErrorCode::shape_mismatch, tensor.name,
         "expected shape " + to_string(expected) + ", got " + to_string(tensor.shape));
  }
}

std::vector<SafetensorsHeader> list_of(SafetensorsHeader file) {
  std::vector<SafetensorsHeader> files;
  files.push_back(std::move(file));
  return files;
}

}  // namespace

std::size_t element_count(const std::vector<Parameter>& parameters) {
  std::size_t count = 0;
  for (const Parameter& parameter : parameters) count += element_count(parameter.shape);
  return count;
}

ParameterScope::ParameterScope(std::vector<Parameter>& out, std::string prefix)
    : out_(&out), prefix_(std::move(prefix)) {}

ParameterScope ParameterScope::scope(std::string_view name) const {
  return ParameterScope(*out_, join(name));
}

ParameterScope ParameterScope::scope(std::size_t index) const {
  return scope(std::to_string(index));
}

void ParameterScope::declare(std::string_view name, std::vector<std::size_t> shape,
                             Parameter::Set set) const {
  out_->push_back({.name = join(name), .shape = std::move(shape), .set = std::move(set)});
}

void ParameterScope::declare_int8(std::string_view name, std::vector<std::size_t> shape,
                                  Parameter::SetInt8 set) const {
  out_->push_back({.name = join(name), .shape = std::move(shape), .set_int8 = std::move(set)});
}

std::string ParameterScope::join(std::string_view name) const {
  return prefix_.empty() ? std::string(name) : prefix_ + "." + std::string(name);
}

// What a file costs in memory before it is known to fit the model depends on the model alone.
WeightsLoader::WeightsLoader(SafetensorsHeader file, std::vector<Parameter> parameters)
    : WeightsLoader(list_of(std::move(file)), std::move(parameters)) {}

WeightsLoader::WeightsLoader(std::vector<SafetensorsHeader> files,
                             std::vector<Parameter> parameters, const Ignored& ignored)
    : files_(std::move(files)), parameters_(std::move(parameters)) {
  for (const SafetensorsHeader& file : files_) {
    starts_.push_back(starts_.back() + file.tensors().size());
  }
  struct Found {
    std::size_t tensor = none, scale = none;
  };
  std::vector<Found> found(parameters_.size());  // of each parameter, its tensors in the file
  std::map<std::string_view, std::size_t> index_of;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::string& name = parameters_[i].name;
    if (!index_of.emplace(name, i).second) fail(ErrorCode::internal, name, "declared twice");
  }
  std::size_t unexpected = none;
  for (std::size_t i = size(); i-- > 0;) {
    const std::string_view name = tensor(i).name;
    auto parameter = index_of.find(name);
    if (parameter != index_of.end()) {
      std::size_t& place = found[parameter->second].tensor;
      if (place != none) fail(ErrorCode::invalid_safetensors, tensor(i).name, "in two files");
      place = i;
      continue;
    }
    if (name.ends_with(scale_suffix)) {
      parameter = index_of.find(name.substr(0, name.size() - scale_suffix.size()));
    }
    if (parameter == index_of.end()) {
      if (!ignored || !ignored(tensor(i).name)) unexpected = i;
    } else {
      found[parameter->second].scale = i;
    }
  }

  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const bool scaled = check(parameters_[i], found[i].tensor, found[i].scale);
    if (!scaled && found[i].scale != none) unexpected = std::min(unexpected, found[i].scale);
  }
  if (unexpected != none) {
    fail(ErrorCode::unexpected_tensor, tensor(unexpected).name, "the model has no such parameter");
  }

  bindings_.resize(size());
  for (Binding& binding : bindings_) binding.ignored = true;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    bindings_[found[i].tensor].ignored = false;
    if (found[i].scale != none) bindings_[found[i].scale].ignored = false;
    bindings_[found[i].tensor].parameter = i;
    if (found[i].scale == none) continue;
    bindings_[found[i].tensor].scale = found[i].scale;
    bindings_[found[i].scale].quantised = found[i].tensor;
  }
}

bool WeightsLoader::check(const Parameter& parameter, std::size_t index, std::size_t scale) const {
  const auto& [name, shape, set, set_int8] = parameter;
  if (index == none) {
    fail(ErrorCode::missing_tensor, name, "expected shape " + to_string(shape) + ", got none");
  }
  check_shape(tensor(index), shape);
  if (!holds_weights(tensor(index).dtype)) {
    fail(ErrorCode::unsupported_dtype, name,
         "expected F32, F16, BF16 or I8, got " + std::string(to_string(tensor(index).dtype)));
  }
  if (tensor(index).dtype != DType::i8) return false;

  if (shape.empty()) fail(ErrorCode::unsupported_dtype, name, "expected a float, got an I8 scalar");
  if (scale == none) {
    fail(ErrorCode::missing_tensor, name + std::string(scale_suffix),
         "expected shape " + to_string({shape[0]}) + " beside the I8 tensor, got none");
  }
  const TensorInfo& scales = tensor(scale);
  check_shape(scales, {shape[0]});
  if (scales.dtype != DType::f32) {
    fail(ErrorCode::unsupported_dtype, scales.name,
         "expected F32, got " + std::string(to_string(scales.dtype)));
  }
  return true;
}

const TensorInfo& WeightsLoader::tensor(std::size_t index) const {
  std::size_t file = 0;
  while (index >= starts_[file + 1]) ++file;
  return files_[file].tensors()[index - starts_[file]];
}

std::size_t WeightsLoader::staging_bytes() const {
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!ignores(i)) largest = std::max(largest, tensor(i).end - tensor(i).begin);
  }
  return static_cast<std::size_t>(largest);
}

void WeightsLoader::load(std::size_t index, std::span<const std::byte> bytes) {
  if (index >= size()) {
    throw Error(ErrorCode::internal, "load: expected a tensor below " + std::to_string(size()) +
                                         ", got " + std::to_string(index));
  }
  const TensorInfo& info = tensor(index);
  Binding& binding = bindings_[index];
  if (binding.loaded) fail(ErrorCode::internal, info.name, "loaded twice");
  if (bytes.size() != info.end - info.begin) {
    fail(ErrorCode::invalid_safetensors, info.name,
         "expected " + std::to_string(info.end - info.begin) + " bytes, got " +
             std::to_string(bytes.size()));
  }
  binding.loaded = true;
  if (binding.ignored) return;

  if (binding.quantised != none) {
    binding.scales.resize(info.shape[0]);
    to_f32(info.dtype, bytes, binding.scales);
    check_scales(info, binding.scales);
    Binding& waiting = bindings_[binding.quantised];
    if (waiting.loaded) {
      set_from_int8(binding.quantised, waiting.early);
      waiting.early = {};
    }
  } else if (binding.scale == none) {
    set(index, bytes);
  } else if (bindings_[binding.scale].loaded) {
    set_from_int8(index, bytes);
  } else {
    binding.early.assign(bytes.begin(), bytes.end());
  }
}

void WeightsLoader::finish() const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (!bindings_[i].loaded && !bindings_[i].ignored) {
      fail(ErrorCode::missing_tensor, tensor(i).name, "its data was never loaded");
    }
  }
}

void WeightsLoader::set(std::size_t index, std::span<const std::byte> bytes) {
  const TensorInfo& info = tensor(index);
  const std::span<float> values = buffer(element_count(info.shape));
  to_f32(info.dtype, bytes, values);
  check_finite(info, values);
  const Parameter& parameter = parameters_[bindings_[index].parameter];
  if (!parameter.set_int8) return parameter.set(values);
  const QuantisedMatrix quantised = quantise(values, info.shape[0]);
  parameter.set_int8(quantised.values, quantised.scales);
}

void WeightsLoader::set_from_int8(std::size_t index, std::span<const std::byte> bytes) {
  const std::vector<float>& scales = bindings_[bindings_[index].scale].scales;
  const Parameter& parameter = parameters_[bindings_[index].parameter];
  if (parameter.set_int8) {
    const auto* integers = reinterpret_cast<const std::int8_t*>(bytes.data());
    return parameter.set_int8({integers, bytes.size()}, scales);
  }
  const std::span<float> values = buffer(bytes.size());
  to_f32(DType::i8, bytes, values);
  scale_rows(values, scales);
  parameter.set(values);
}

// Grows to the largest tensor and is reused: wasm memory could not be given back anyway.
std::span<float> WeightsLoader::buffer(std::size_t size) {
  if (buffer_.size() < size) buffer_.resize(size);
  return std::span(buffer_).first(size);
}

}  // namespace glassformer
