#include "weights/loader.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/json/json_writer.hpp"
#include "base/strings/decimal.hpp"
#include "kernels/kernels.hpp"
#include "weights/floats.hpp"
#include "weights/quantize.hpp"

namespace glassformer {
namespace {

constexpr std::string_view scale_suffix = "_scale";
constexpr std::size_t piece_limit = 1 << 20;
constexpr std::string_view weights_cure =
    "; integers that another program has packed cannot be read: load the original model, with "
    "compute \"int8\" to have it quantized here";

[[noreturn]] void fail(ErrorCode code, const std::string& tensor, const Message& problem) {
  JsonSource{code, "model.safetensors"}.fail({"{}: {}", {tensor, problem}});
}

// Formats a number for messages: "-1.5", "NaN", "Infinity".
std::string text_of(float number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  return shortest_decimal(number);
}

std::size_t size_of(const TensorInfo& tensor) {
  return static_cast<std::size_t>(tensor.end - tensor.begin);
}

// `before`: the number of elements of the tensor that precede `values`.
void check_finite(const TensorInfo& tensor, std::span<const float> values, std::size_t before) {
  const std::size_t place = first_not_finite(values);
  if (place == values.size()) return;
  fail(ErrorCode::invalid_weights, tensor.name,
       {"expected finite numbers, got {} at element {}", {text_of(values[place]), before + place}});
}

// `before`: as in check_finite.
void check_scales(const TensorInfo& tensor, std::span<const float> scales, std::size_t before) {
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (std::isfinite(scales[i] * 127)) continue;
    fail(ErrorCode::invalid_weights, tensor.name,
         {"expected scales whose product with 127 is finite, got {} at element {}",
          {text_of(scales[i]), before + i}});
  }
}

// Accepts one row in place of a vector, because a bias may be stored as [1, V].
void check_shape(const TensorInfo& tensor, const std::vector<std::size_t>& expected) {
  const auto without_ones = [](std::span<const std::size_t> shape) {
    while (!shape.empty() && shape[0] == 1) shape = shape.subspan(1);
    return shape;
  };
  const bool few = tensor.shape.size() <= 2 && expected.size() <= 2;
  const bool same = few && std::ranges::equal(without_ones(tensor.shape), without_ones(expected));
  if (!same && !std::ranges::equal(tensor.shape, expected)) {
    fail(ErrorCode::shape_mismatch, tensor.name,
         {"expected shape {}, got {}", {to_string(expected), to_string(tensor.shape)}});
  }
}

// The bits of the integers in a tensor that has scales.
unsigned bits_of(const TensorInfo& tensor) { return tensor.dtype == DType::u8 ? 4 : 8; }

// The type in which scales wait for their integers.
DType waiting_type(const TensorInfo& scales) {
  return scales.dtype == DType::bf16 ? DType::bf16 : DType::f32;
}
std::size_t scale_size(const TensorInfo& scales) { return size_of(waiting_type(scales)); }

std::vector<SafetensorsHeader> list_of(SafetensorsHeader file) {
  std::vector<SafetensorsHeader> files;
  files.push_back(std::move(file));
  return files;
}

}  // namespace

// Until a file is known to fit the model, the memory it takes depends only on the model.
WeightsLoader::WeightsLoader(SafetensorsHeader file, std::vector<NamedParameter> parameters)
    : WeightsLoader(list_of(std::move(file)), std::move(parameters)) {}

WeightsLoader::WeightsLoader(std::vector<SafetensorsHeader> files,
                             std::vector<NamedParameter> parameters, const Ignored& ignored)
    : files_(std::move(files)), parameters_(std::move(parameters)) {
  for (const SafetensorsHeader& file : files_) {
    starts_.push_back(starts_.back() + file.tensors().size());
  }
  struct Found {
    std::size_t tensor = none, scale = none;
  };
  std::vector<Found> found(parameters_.size());  // per parameter, the indices of its tensors
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
    bindings_[found[i].scale].quantized = found[i].tensor;
  }
}

bool WeightsLoader::check(const NamedParameter& parameter, std::size_t index,
                          std::size_t scale) const {
  const std::string& name = parameter.name;
  const std::vector<std::size_t>& shape = parameter.shape;
  if (index == none) {
    const std::string packed = name.substr(0, name.rfind('.') + 1) + "qweight";
    std::size_t i = 0;
    while (i < size() && tensor(i).name != packed) ++i;
    fail(ErrorCode::missing_tensor, name,
         {"expected shape {}, got none{}", {to_string(shape), i < size() ? weights_cure : ""}});
  }
  const bool packed = tensor(index).dtype == DType::u8 && scale != none && shape.size() == 2;
  if (!holds_weights(tensor(index).dtype) && !packed) {
    fail(ErrorCode::unsupported_dtype, name,
         {"expected F32, F16, BF16 or I8, got {}{}",
          {to_string(tensor(index).dtype), weights_cure}});
  }
  const auto check_dtype = [&](const TensorInfo& scales, DType expected) {
    if (scales.dtype == expected) return;
    fail(ErrorCode::unsupported_dtype, scales.name,
         {"expected {}, got {}", {to_string(expected), to_string(scales.dtype)}});
  };
  if (packed) {
    check_shape(tensor(index), {shape[0], (shape[1] + 1) / 2});
    check_shape(tensor(scale), {shape[0], scales_of_row(shape[1], 4)});
    check_dtype(tensor(scale), DType::bf16);
    return true;
  }
  if (parameter.stored.empty() || tensor(index).shape != parameter.stored) {
    check_shape(tensor(index), shape);
  }
  if (tensor(index).dtype != DType::i8) return false;

  if (shape.empty()) fail(ErrorCode::unsupported_dtype, name, "expected a float, got an I8 scalar");
  if (scale == none) {
    fail(ErrorCode::missing_tensor, name + std::string(scale_suffix),
         {"expected shape {} for an I8 tensor, got none{}", {to_string({shape[0]}), weights_cure}});
  }
  const TensorInfo& scales = tensor(scale);
  if (scales.dtype == DType::multiplier) return true;
  check_shape(scales, {shape[0]});
  check_dtype(scales, DType::f32);
  return true;
}

const TensorInfo& WeightsLoader::tensor(std::size_t index) const {
  std::size_t file = 0;
  while (index >= starts_[file + 1]) ++file;
  return files_[file].tensors()[index - starts_[file]];
}

// Returns the bytes of one row, or of the whole tensor if it has no rows.
std::size_t WeightsLoader::row_bytes(std::size_t index) const {
  const TensorInfo& info = tensor(index);
  return size_of(info) / (info.shape.size() < 2 ? 1 : std::max<std::size_t>(info.shape[0], 1));
}

std::size_t WeightsLoader::piece_bytes(std::size_t index) const {
  const std::size_t row = std::max<std::size_t>(row_bytes(index), 1);
  return std::min(std::max(piece_limit / row, std::size_t{1}) * row, size_of(tensor(index)));
}

std::size_t WeightsLoader::staging_bytes() const {
  std::size_t largest = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!ignores(i)) largest = std::max(largest, piece_bytes(i));
  }
  return largest;
}

bool WeightsLoader::complete(std::size_t index) const {
  return bindings_[index].loaded == size_of(tensor(index));
}

void WeightsLoader::load(std::size_t index, std::span<const std::byte> bytes) {
  if (index >= size()) {
    throw_error(ErrorCode::internal, {"load: expected a tensor below {}, got {}", {size(), index}});
  }
  const TensorInfo& info = tensor(index);
  Binding& binding = bindings_[index];
  if (binding.ignored) return;
  if (bytes.empty()) return;
  if (complete(index)) fail(ErrorCode::internal, info.name, "loaded twice");
  const std::size_t row = row_bytes(index);
  const std::size_t left = size_of(info) - binding.loaded;
  if (bytes.size() > left || bytes.size() % row != 0) {
    fail(ErrorCode::invalid_safetensors, info.name,
         {"expected {} bytes, or rows of {}, got {}", {left, row, bytes.size()}});
  }
  const std::size_t first = binding.loaded / row;
  binding.loaded += bytes.size();

  if (binding.quantized != none) {
    std::vector<float> repeated;
    if (info.dtype == DType::multiplier) {
      float multiplier;
      std::memcpy(&multiplier, bytes.data(), sizeof multiplier);
      repeated.assign(tensor(binding.quantized).shape[0], 1 / multiplier);
      bytes = std::as_bytes(std::span(repeated));
    }
    const std::size_t before = binding.scales.size() / scale_size(info);
    if (before == 0) binding.scales.reserve(std::max(size_of(info), bytes.size()));
    binding.scales.insert(binding.scales.end(), bytes.begin(), bytes.end());
    check_scales(info, scales(index, before, bytes.size() / scale_size(info)), before);
    if (!complete(index)) return;
    Binding& waiting = bindings_[binding.quantized];
    const std::span<const std::byte> early = waiting.early;
    for (std::size_t at = 0, piece; at < early.size(); at += piece) {
      piece = std::min(piece_bytes(binding.quantized), early.size() - at);
      set_integers(binding.quantized, early.subspan(at, piece), at / row_bytes(binding.quantized));
    }
    waiting.early = std::vector<std::byte>();  // {} would keep its memory
  } else if (binding.scale == none) {
    set(index, bytes, first);
  } else if (complete(binding.scale)) {
    set_integers(index, bytes, first);
    if (complete(index)) bindings_[binding.scale].scales = std::vector<std::byte>();
  } else {
    binding.early.reserve(size_of(info));
    binding.early.insert(binding.early.end(), bytes.begin(), bytes.end());
  }
}

std::vector<std::string> WeightsLoader::ignored() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < size(); ++i) {
    if (ignores(i)) names.push_back(tensor(i).name);
  }
  return names;
}

void WeightsLoader::finish() const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (ignores(i) || complete(i)) continue;
    fail(ErrorCode::missing_tensor, tensor(i).name,
         "expected " + std::to_string(size_of(tensor(i))) + " bytes of data, got " +
             std::to_string(bindings_[i].loaded));
  }
}

void WeightsLoader::set(std::size_t index, std::span<const std::byte> bytes, std::size_t first) {
  const TensorInfo& info = tensor(index);
  const std::size_t rows = bytes.size() / row_bytes(index);
  const std::span<float> values = buffer(bytes.size() / size_of(info.dtype));
  to_f32(info.dtype, bytes, values);
  check_finite(info, values, first * (values.size() / rows));
  const NamedParameter& parameter = parameters_[bindings_[index].parameter];
  if (keeps_halves && parameter.set_halves && size_of(info.dtype) == sizeof(std::uint16_t)) {
    const Half format = info.dtype == DType::f16 ? Half::f16 : Half::bf16;
    halves_.resize(values.size());
    std::memcpy(halves_.data(), bytes.data(), bytes.size());
    if (parameter.set_halves(halves_, format, first)) return;
  }
  set_values(parameter, values, first);
}

void WeightsLoader::set_integers(std::size_t index, std::span<const std::byte> bytes,
                                 std::size_t first) {
  const Binding& binding = bindings_[index];
  const NamedParameter& parameter = parameters_[binding.parameter];
  const unsigned bits = bits_of(tensor(index));
  const std::size_t rows = bytes.size() / row_bytes(index);
  const std::size_t columns = element_count(parameter.shape) / parameter.shape[0];
  const std::size_t in_row = scales_of_row(columns, bits);
  const std::span<const float> scales = this->scales(binding.scale, first * in_row, rows * in_row);
  std::span<const std::int8_t> integers(reinterpret_cast<const std::int8_t*>(bytes.data()),
                                        bytes.size());
  if (bits == 4) {
    integers_.resize(rows * columns);
    unpack_nibbles(bytes, columns, integers_);
    integers = integers_;
  }
  if (parameter.set_integers && parameter.bits == bits) {
    return parameter.set_integers(integers, scales, first);
  }
  const std::size_t shared = columns_of_scale(columns, bits);
  const std::span<float> values = buffer(integers.size());
  for (std::size_t row = 0, i = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column, ++i) {
      values[i] = static_cast<float>(integers[i]) * scales[row * in_row + column / shared];
    }
  }
  set_values(parameter, values, first);
}

std::span<const float> WeightsLoader::scales(std::size_t index, std::size_t first,
                                             std::size_t count) {
  const TensorInfo& info = tensor(index);
  const std::size_t size = scale_size(info);
  scales_.resize(count);
  to_f32(waiting_type(info), std::span(bindings_[index].scales).subspan(first * size, count * size),
         scales_);
  return scales_;
}

// Grows to the largest piece and is reused: wasm memory could not be returned anyway.
std::span<float> WeightsLoader::buffer(std::size_t size) {
  if (buffer_.size() < size) buffer_.resize(size);
  return std::span(buffer_).first(size);
}

}  // namespace glassformer
