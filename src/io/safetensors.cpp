#include "io/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "error.hpp"
#include "io/json.hpp"
#include "io/json_writer.hpp"

namespace glassformer {
namespace {

// Files hold little-endian numbers, and so do all machines this is built for.
static_assert(std::endian::native == std::endian::little);

constexpr JsonSource source{ErrorCode::invalid_safetensors, "model.safetensors"};
constexpr std::size_t prefix_bytes = 8;
constexpr std::array dtypes{DType::f32, DType::f16, DType::bf16, DType::i8};

DType parse_dtype(const std::string& name, const std::string& tensor) {
  for (const DType dtype : dtypes) {
    if (name == to_string(dtype)) return dtype;
  }
  throw Error(ErrorCode::unsupported_dtype, "model.safetensors: " + tensor +
                                                ": dtype: expected F32, F16, BF16 or I8, got " +
                                                describe(name));
}

// a * b, or nothing if it does not fit.
template <typename T>
std::optional<T> product(T a, T b) {
  if (b != 0 && a > std::numeric_limits<T>::max() / b) return std::nullopt;
  return a * b;
}

std::vector<std::size_t> parse_shape(JsonObject& object) {
  const JsonValue& value = object.require("shape");
  if (!value.is_array()) object.fail("shape", "an array of whole numbers", value);
  std::vector<std::size_t> shape;
  std::size_t elements = 1;
  for (const JsonValue& dimension : value.elements) {
    if (!dimension.is_whole()) object.fail("shape", "an array of whole numbers", value);
    const std::uint64_t size = dimension.whole();
    const bool fits = size <= std::numeric_limits<std::size_t>::max();
    const auto next = fits ? product(elements, static_cast<std::size_t>(size)) : std::nullopt;
    if (!next) object.fail("shape", "a product of dimensions without overflow", value);
    elements = *next;
    shape.push_back(static_cast<std::size_t>(size));
  }
  return shape;
}

TensorInfo parse_tensor(const std::string& name, const JsonValue& value, std::uint64_t data_size) {
  JsonObject object(value, source, name);
  const DType dtype = parse_dtype(object.string("dtype"), name);
  std::vector<std::size_t> shape = parse_shape(object);
  const JsonValue& offsets = object.require("data_offsets");
  object.finish();

  const std::vector<JsonValue>& two = offsets.elements;
  if (two.size() != 2 || !two[0].is_whole() || !two[1].is_whole()) {
    object.fail("data_offsets", "two whole numbers", offsets);
  }
  const std::uint64_t begin = two[0].whole();
  const std::uint64_t end = two[1].whole();
  if (begin > end) object.fail("data_offsets", "a begin not after the end", offsets);
  if (end > data_size) {
    object.fail("data_offsets", "an end within the " + std::to_string(data_size) + " bytes of data",
                offsets);
  }
  const auto bytes = product<std::uint64_t>(element_count(shape), size_of(dtype));
  if (!bytes || end - begin != *bytes) {
    object.fail("data_offsets",
                (bytes ? std::to_string(*bytes) : "an impossible number of") + " bytes for " +
                    std::string(to_string(dtype)) + " " + to_string(shape),
                offsets);
  }
  return {name, dtype, std::move(shape), begin, end};
}

std::map<std::string, std::string> parse_metadata(const JsonValue& value) {
  JsonObject object(value, source, "__metadata__");
  std::map<std::string, std::string> result;
  for (const auto& [key, entry] : value.members) result[key] = object.string(key.c_str());
  return result;
}

// Every byte of the data section belongs to exactly one tensor.
void check_tiling(const std::vector<TensorInfo>& tensors, std::uint64_t data_size) {
  std::uint64_t position = 0;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.begin != position) {
      source.fail(tensor.name + ": data_offsets: expected a begin of " + std::to_string(position) +
                  ", where the tensor before ends, got " + std::to_string(tensor.begin));
    }
    position = tensor.end;
  }
  if (position != data_size) {
    source.fail("expected " + std::to_string(position) + " bytes of data, got " +
                std::to_string(data_size));
  }
}

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7FFFu;
  if (magnitude >= 0x7C00u) {  // infinity, NaN
    return std::bit_cast<float>(sign | 0x7F800000u | (magnitude & 0x3FFu) << 13);
  }
  // Moves exponent and fraction to a float's place; the product corrects the exponent's bias and is
  // exact for normal and subnormal numbers alike.
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

float bfloat_to_float(std::uint16_t value) {
  return std::bit_cast<float>(std::uint32_t{value} << 16);
}

// Loads through memcpy: the bytes may lie anywhere.
template <typename Stored, typename Convert>
void convert(std::span<const std::byte> bytes, std::span<float> target, Convert to_float) {
  const std::byte* from = bytes.data();
  for (float& value : target) {
    Stored stored;
    std::memcpy(&stored, from, sizeof stored);
    value = to_float(stored);
    from += sizeof stored;
  }
}

}  // namespace

std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 4;
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::i8:
      return 1;
  }
  throw Error(ErrorCode::internal, "unknown dtype");
}

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "F32";
    case DType::f16:
      return "F16";
    case DType::bf16:
      return "BF16";
    case DType::i8:
      return "I8";
  }
  throw Error(ErrorCode::internal, "unknown dtype");
}

std::size_t element_count(const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t dimension : shape) count *= dimension;
  return count;
}

std::string to_string(const std::vector<std::size_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text.append(i == 0 ? "" : ", ").append(std::to_string(shape[i]));
  }
  return text + "]";
}

std::uint64_t safetensors_header_size(std::span<const std::byte, 8> prefix) {
  std::uint64_t size;
  std::memcpy(&size, prefix.data(), sizeof size);
  if (size > max_header_bytes) {
    source.fail("header: expected at most " + std::to_string(max_header_bytes) + " bytes, got " +
                std::to_string(size));
  }
  return size;
}

SafetensorsHeader SafetensorsHeader::parse(std::string_view json, std::uint64_t data_size) {
  if (json.size() > max_header_bytes) {
    source.fail("header: expected at most " + std::to_string(max_header_bytes) + " bytes, got " +
                std::to_string(json.size()));
  }
  // Only spaces may pad it; other white space is JSON's, but not this format's.
  const std::size_t last = json.find_last_not_of(' ');
  if (json.empty() || json.front() != '{' || json[last] != '}') {
    source.fail("header: expected a JSON object from the first byte, padded with spaces at most");
  }
  const JsonValue document = parse_json(json, source);

  SafetensorsHeader header;
  // By both offsets: empty tensors share the first with the one behind them.
  std::multimap<std::pair<std::uint64_t, std::uint64_t>, TensorInfo> tensors;
  for (const auto& [name, value] : document.members) {
    if (name == "__metadata__") {
      header.metadata_ = parse_metadata(value);
    } else {
      TensorInfo tensor = parse_tensor(name, value, data_size);
      tensors.emplace(std::pair(tensor.begin, tensor.end), std::move(tensor));
    }
  }
  for (auto& [offsets, tensor] : tensors) header.tensors_.push_back(std::move(tensor));
  check_tiling(header.tensors_, data_size);
  return header;
}

SafetensorsFile SafetensorsFile::parse(std::span<const std::byte> file) {
  if (file.size() < prefix_bytes) {
    source.fail("expected at least 8 bytes, got " + std::to_string(file.size()));
  }
  const std::uint64_t header_size = safetensors_header_size(file.first<prefix_bytes>());
  file = file.subspan(prefix_bytes);
  if (header_size > file.size()) {
    source.fail("header: expected " + std::to_string(header_size) + " bytes, got the " +
                std::to_string(file.size()) + " to the end of the file");
  }
  const auto json = file.first(static_cast<std::size_t>(header_size));
  SafetensorsFile result;
  result.data_ = file.subspan(json.size());
  result.header_ = SafetensorsHeader::parse(
      {reinterpret_cast<const char*>(json.data()), json.size()}, result.data_.size());
  return result;
}

std::span<const std::byte> SafetensorsFile::bytes(const TensorInfo& tensor) const {
  return data_.subspan(static_cast<std::size_t>(tensor.begin),
                       static_cast<std::size_t>(tensor.end - tensor.begin));
}

void to_f32(DType dtype, std::span<const std::byte> bytes, std::span<float> target) {
  if (bytes.size() != target.size() * size_of(dtype)) {
    throw Error(ErrorCode::internal, "to_f32: expected " +
                                         std::to_string(target.size() * size_of(dtype)) +
                                         " bytes, got " + std::to_string(bytes.size()));
  }
  switch (dtype) {
    case DType::f32:
      if (!bytes.empty()) std::memcpy(target.data(), bytes.data(), bytes.size());
      return;
    case DType::f16:
      return convert<std::uint16_t>(bytes, target, half_to_float);
    case DType::bf16:
      return convert<std::uint16_t>(bytes, target, bfloat_to_float);
    case DType::i8:
      return convert<std::int8_t>(bytes, target,
                                  [](std::int8_t value) { return static_cast<float>(value); });
  }
}

std::vector<std::byte> write_safetensors(std::span<const NamedTensor> tensors) {
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const NamedTensor* a, const NamedTensor* b) {
    return std::pair(size_of(b->dtype), std::string_view(a->name)) <
           std::pair(size_of(a->dtype), std::string_view(b->name));
  });

  JsonWriter header;
  std::set<std::string_view> names;
  std::size_t data_size = 0;
  header.object([&] {
    header.key("__metadata__");
    header.object([&] { header.field("format", "pt"); });  // other readers expect to be told
    for (const NamedTensor* tensor : order) {
      const std::size_t size = element_count(tensor->shape) * size_of(tensor->dtype);
      if (tensor->bytes.size() != size || !names.insert(tensor->name).second) {
        throw Error(ErrorCode::internal, "write_safetensors: " + tensor->name +
                                             ": expected once, " + std::to_string(size) +
                                             " bytes, got " + std::to_string(tensor->bytes.size()));
      }
      const auto write_number = [&](std::size_t number) { header.value(number); };
      header.key(tensor->name);
      header.object([&] {
        header.field("dtype", to_string(tensor->dtype));
        header.key("shape");
        header.array(tensor->shape, write_number);
        header.key("data_offsets");
        header.array(std::array{data_size, data_size + size}, write_number);
      });
      data_size += size;
    }
  });
  std::string json = header.take();
  json.append((8 - json.size() % 8) % 8, ' ');

  std::vector<std::byte> file(prefix_bytes + json.size() + data_size);
  const std::uint64_t header_size = json.size();
  std::memcpy(file.data(), &header_size, sizeof header_size);
  std::memcpy(file.data() + prefix_bytes, json.data(), json.size());
  std::byte* position = file.data() + prefix_bytes + json.size();
  for (const NamedTensor* tensor : order) {
    position = std::copy(tensor->bytes.begin(), tensor->bytes.end(), position);
  }
  return file;
}

}  // namespace glassformer
