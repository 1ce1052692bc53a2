#include "io/weights.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "error.hpp"
#include "io/quantise.hpp"

namespace glassformer {
namespace {

[[noreturn]] void fail(ErrorCode code, const std::string& tensor, const std::string& problem) {
  throw Error(code, "model.safetensors: " + tensor + ": " + problem);
}

void check_shape(const TensorInfo& tensor, const std::vector<std::size_t>& expected) {
  if (tensor.shape != expected) {
    fail(ErrorCode::shape_mismatch, tensor.name,
         "expected shape " + to_string(expected) + ", got " + to_string(tensor.shape));
  }
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

WeightsLoader::WeightsLoader(SafetensorsHeader header, std::vector<Parameter> parameters)
    : header_(std::move(header)), parameters_(std::move(parameters)), bindings_(tensors().size()) {
  std::map<std::string_view, std::size_t> index_of;
  for (std::size_t i = 0; i < tensors().size(); ++i) index_of[tensors()[i].name] = i;
  for (std::size_t i = 0; i < parameters_.size(); ++i) bind(index_of, i);

  for (std::size_t i = 0; i < tensors().size(); ++i) {
    if (bindings_[i].parameter == none && bindings_[i].quantised == none) {
      fail(ErrorCode::unexpected_tensor, tensors()[i].name, "the model has no such parameter");
    }
  }
}

void WeightsLoader::bind(const std::map<std::string_view, std::size_t>& index_of,
                         std::size_t parameter) {
  const std::string& name = parameters_[parameter].name;
  const std::vector<std::size_t>& shape = parameters_[parameter].shape;
  const auto found = index_of.find(name);
  if (found == index_of.end()) {
    fail(ErrorCode::missing_tensor, name, "expected shape " + to_string(shape) + ", got none");
  }
  const std::size_t index = found->second;
  check_shape(tensors()[index], shape);
  if (bindings_[index].parameter != none) fail(ErrorCode::internal, name, "declared twice");
  bindings_[index].parameter = parameter;
  if (tensors()[index].dtype != DType::i8) return;

  if (shape.empty()) fail(ErrorCode::unsupported_dtype, name, "expected a float, got an I8 scalar");
  const std::string scale_name = name + "_scale";
  const auto scale = index_of.find(scale_name);
  if (scale == index_of.end()) {
    fail(ErrorCode::missing_tensor, scale_name,
         "expected shape " + to_string({shape[0]}) + " beside the I8 tensor, got none");
  }
  const TensorInfo& scale_tensor = tensors()[scale->second];
  check_shape(scale_tensor, {shape[0]});
  if (scale_tensor.dtype != DType::f32) {
    fail(ErrorCode::unsupported_dtype, scale_name,
         "expected F32, got " + std::string(to_string(scale_tensor.dtype)));
  }
  bindings_[index].scale = scale->second;
  bindings_[scale->second].quantised = index;
}

std::size_t WeightsLoader::staging_bytes() const {
  std::uint64_t largest = 0;
  for (const TensorInfo& tensor : tensors()) largest = std::max(largest, tensor.end - tensor.begin);
  return static_cast<std::size_t>(largest);
}

void WeightsLoader::load(std::size_t index, std::span<const std::byte> bytes) {
  if (index >= tensors().size()) {
    throw Error(ErrorCode::internal, "load: expected a tensor below " +
                                         std::to_string(tensors().size()) + ", got " +
                                         std::to_string(index));
  }
  const TensorInfo& tensor = tensors()[index];
  Binding& binding = bindings_[index];
  if (binding.loaded) fail(ErrorCode::internal, tensor.name, "loaded twice");
  if (bytes.size() != tensor.end - tensor.begin) {
    fail(ErrorCode::invalid_safetensors, tensor.name,
         "expected " + std::to_string(tensor.end - tensor.begin) + " bytes, got " +
             std::to_string(bytes.size()));
  }
  binding.loaded = true;

  if (binding.quantised != none) {
    binding.scales.resize(tensor.shape[0]);
    to_f32(tensor.dtype, bytes, binding.scales);
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
  for (std::size_t i = 0; i < tensors().size(); ++i) {
    if (!bindings_[i].loaded) {
      fail(ErrorCode::missing_tensor, tensors()[i].name, "its data was never loaded");
    }
  }
}

void WeightsLoader::set(std::size_t index, std::span<const std::byte> bytes) {
  const TensorInfo& tensor = tensors()[index];
  const std::span<float> values = buffer(element_count(tensor.shape));
  to_f32(tensor.dtype, bytes, values);
  const Parameter& parameter = parameters_[bindings_[index].parameter];
  if (!parameter.set_int8) return parameter.set(values);
  const QuantisedMatrix quantised = quantise(values, tensor.shape[0]);
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
  for (std::size_t row = 0; row < scales.size(); ++row) {
    const std::size_t width = values.size() / scales.size();
    for (float& value : values.subspan(row * width, width)) value *= scales[row];
  }
  parameter.set(values);
}

// Grows to the largest tensor and is reused: wasm memory could not be given back anyway.
std::span<float> WeightsLoader::buffer(std::size_t size) {
  if (buffer_.size() < size) buffer_.resize(size);
  return std::span(buffer_).first(size);
}

}  // namespace glassformer
