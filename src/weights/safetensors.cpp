#include "weights/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/heap_sort.hpp"
#include "base/json/json.hpp"
#include "base/json/json_writer.hpp"
#include "base/limits.hpp"
#include "base/strings/mistaken.hpp"

namespace glassformer {
namespace {

// Files store little-endian numbers, as do all machines that this is built for.
static_assert(std::endian::native == std::endian::little);

constexpr JsonSource source{ErrorCode::invalid_safetensors, "model.safetensors"};
constexpr std::size_t prefix_bytes = 8;
constexpr std::array dtypes{DType::f32,     DType::f16,    DType::bf16, DType::i8,  DType::u8,
                            DType::boolean, DType::i32,    DType::i64,  DType::f64, DType::i16,
                            DType::u16,     DType::u32,    DType::u64,  DType::c64, DType::f8_e4m3,
                            DType::f8_e5m2, DType::f8_e8m0};

DType parse_dtype(const std::string& name, const std::string& tensor) {
  for (const DType dtype : dtypes) {
    if (name == to_string(dtype)) return dtype;
  }
  throw_error(
      ErrorCode::unsupported_dtype,
      {"model.safetensors: {}: dtype: expected F32, F16, BF16 or I8, got {}; save the model "
       "again in F32 or F16",
       {tensor, describe(name)}});
}

// Returns a * b, or nothing if it overflows.
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
  for (JsonEntries entry(value); entry.next();) {
    if (!entry.value().is_whole()) object.fail("shape", "an array of whole numbers", value);
    const std::uint64_t size = entry.value().whole();
    const bool fits = size <= std::numeric_limits<std::size_t>::max();
    const auto next = fits ? product(elements, static_cast<std::size_t>(size)) : std::nullopt;
    if (!next) object.fail("shape", "a product of dimensions without overflow", value);
    elements = *next;
    shape.push_back(static_cast<std::size_t>(size));
  }
  return shape;
}

// Returns the begin and the end of a tensor's bytes.
std::pair<std::uint64_t, std::uint64_t> parse_offsets(const JsonObject& object, JsonValue value) {
  std::vector<std::uint64_t> numbers;
  if (value.is_array() && count_entries(value) == 2) {
    for (JsonEntries entry(value); entry.next();) {
      if (entry.value().is_whole()) numbers.push_back(entry.value().whole());
    }
  }
  if (numbers.size() != 2) object.fail("data_offsets", "two whole numbers", value);
  return {numbers[0], numbers[1]};
}

TensorInfo parse_tensor(std::string name, JsonValue value, std::optional<std::uint64_t> data_size) {
  JsonObject object(value, source, name);
  const DType dtype = parse_dtype(object.string("dtype"), name);
  std::vector<std::size_t> shape = parse_shape(object);
  const JsonValue& offsets = object.require("data_offsets");
  object.finish();
  const auto [begin, end] = parse_offsets(object, offsets);
  if (begin > end) object.fail("data_offsets", "a begin that is not after the end", offsets);
  if (data_size && end > *data_size) {
    object.fail("data_offsets", {"an end within the {} bytes of data", {*data_size}}, offsets);
  }
  const auto bytes = product<std::uint64_t>(element_count(shape), size_of(dtype));
  if (!bytes || end - begin != *bytes) {
    object.fail("data_offsets",
                {"{} bytes for {} {}",
                 {(bytes ? std::to_string(*bytes) : "an impossible number of"), to_string(dtype),
                  to_string(shape)}},
                offsets);
  }
  return {std::move(name), dtype, std::move(shape), begin, end};
}

void check_metadata(JsonValue value) {
  if (!value.is_object())
    source.fail({"__metadata__: expected an object, got {}", {describe(value)}});
  for (JsonEntries entry(value); entry.next();) {
    if (entry.value().is_string()) continue;
    source.fail(
        {"__metadata__: {}: expected a string, got {}", {entry.key(), describe(entry.value())}});
  }
}

// Checks that every byte of the data section belongs to exactly one tensor.
void check_tiling(const std::vector<TensorInfo>& tensors, std::optional<std::uint64_t> data_size) {
  std::uint64_t position = 0;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.begin != position) {
      source.fail({"{}: data_offsets: expected a begin of {}, where the tensor before ends, got {}",
                   {tensor.name, position, tensor.begin}});
    }
    position = tensor.end;
  }
  if (data_size && position != *data_size) {
    source.fail({"expected {} bytes of data, got {}", {position, *data_size}});
  }
}

}  // namespace

std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::i64:
    case DType::u64:
    case DType::f64:
    case DType::c64:
      return 8;
    case DType::f32:
    case DType::u32:
    case DType::i32:
    case DType::multiplier:
      return 4;
    case DType::f16:
    case DType::bf16:
    case DType::i16:
    case DType::u16:
      return 2;
    case DType::i8:
    case DType::u8:
    case DType::boolean:
    case DType::f8_e4m3:
    case DType::f8_e5m2:
    case DType::f8_e8m0:
      return 1;
  }
  throw_error(ErrorCode::internal, "unknown dtype");
}

SafetensorsHeader SafetensorsHeader::with_prefix(const std::string& prefix) const {
  SafetensorsHeader renamed = *this;
  for (TensorInfo& tensor : renamed.tensors_) tensor.name.insert(0, prefix);
  return renamed;
}

bool holds_weights(DType dtype) { return dtype <= DType::i8; }

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
    case DType::u8:
      return "U8";
    case DType::boolean:
      return "BOOL";
    case DType::i32:
      return "I32";
    case DType::i64:
      return "I64";
    case DType::f64:
      return "F64";
    case DType::i16:
      return "I16";
    case DType::u16:
      return "U16";
    case DType::u32:
      return "U32";
    case DType::u64:
      return "U64";
    case DType::c64:
      return "C64";
    case DType::f8_e4m3:
      return "F8_E4M3";
    case DType::f8_e5m2:
      return "F8_E5M2";
    case DType::f8_e8m0:
      return "F8_E8M0";
    case DType::multiplier:
      return "F32";
  }
  throw_error(ErrorCode::internal, "unknown dtype");
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
  const std::string_view start(reinterpret_cast<const char*>(prefix.data()), prefix.size());
  if (const std::string_view problem = mistaken_content(start); !problem.empty()) {
    source.fail(problem);
  }
  expect_within(header_limit, size);
  return size;
}

std::string_view safetensors_header(std::string_view start) {
  const auto bytes = std::as_bytes(std::span(start));
  if (bytes.size() < prefix_bytes) {
    source.fail({"expected at least {} bytes, got {}", {prefix_bytes, bytes.size()}});
  }
  const std::uint64_t size = safetensors_header_size(bytes.first<prefix_bytes>());
  start.remove_prefix(prefix_bytes);
  if (size > start.size()) {
    source.fail(
        {"header: expected {} bytes, got {} up to the end of the file", {size, start.size()}});
  }
  return start.substr(0, static_cast<std::size_t>(size));
}

SafetensorsHeader SafetensorsHeader::parse(std::string_view json,
                                           std::optional<std::uint64_t> data_size,
                                           std::string_view file) {
  try {
    return parse_usual(json, data_size);
  } catch (const Error& error) {
    const std::string_view message = error.what();
    if (file == source.name || !message.starts_with(source.name)) throw;
    throw Error(error.code(), std::string(file).append(message.substr(source.name.size())));
  }
}

SafetensorsHeader SafetensorsHeader::parse_usual(std::string_view json,
                                                 std::optional<std::uint64_t> data_size) {
  expect_within(header_limit, json.size());
  // Only spaces may pad it. JSON allows other whitespace, but this format does not.
  const std::size_t last = json.find_last_not_of(' ');
  if (json.empty() || json.front() != '{' || json[last] != '}') {
    source.fail("header: expected a JSON object from the first byte, followed only by spaces");
  }
  SafetensorsHeader header;
  for (JsonEntries entry(parse_json(json, source)); entry.next();) {
    std::string name = entry.key();
    if (name == "__metadata__") {
      check_metadata(entry.value());
    } else {
      header.tensors_.push_back(parse_tensor(std::move(name), entry.value(), data_size));
    }
  }
  // Compares both offsets: an empty tensor has the same begin as the tensor after it.
  const auto before = [](const TensorInfo& a, const TensorInfo& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  };
  heap_sort(header.tensors_.begin(), header.tensors_.end(), before);
  check_tiling(header.tensors_, data_size);
  return header;
}

SafetensorsFile SafetensorsFile::parse(std::span<const std::byte> file) {
  const std::string_view json =
      safetensors_header({reinterpret_cast<const char*>(file.data()), file.size()});
  SafetensorsFile result;
  result.data_ = file.subspan(prefix_bytes + json.size());
  result.header_ = SafetensorsHeader::parse(json, result.data_.size());
  return result;
}

std::span<const std::byte> SafetensorsFile::bytes(const TensorInfo& tensor) const {
  return data_.subspan(static_cast<std::size_t>(tensor.begin),
                       static_cast<std::size_t>(tensor.end - tensor.begin));
}

SafetensorsLayout lay_out_safetensors(std::span<const NamedTensor> tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) {
    return std::pair(-static_cast<int>(size_of(tensors[i].dtype)),
                     std::string_view(tensors[i].name));
  });

  JsonWriter header;
  std::set<std::string_view> names;
  SafetensorsLayout layout{
      .header = {}, .offsets = std::vector<std::uint64_t>(order.size()), .size = 0};
  header.object([&] {
    header.key("__metadata__");
    header.object([&] { header.field("format", "pt"); });  // other readers expect this field
    for (const std::size_t i : order) {
      const NamedTensor& tensor = tensors[i];
      if (!names.insert(tensor.name).second) {
        throw_error(ErrorCode::internal, {"write_safetensors: {}: expected once", {tensor.name}});
      }
      const std::uint64_t begin = layout.size;
      layout.offsets[i] = begin;
      layout.size += element_count(tensor.shape) * size_of(tensor.dtype);
      const auto write_number = [&](std::uint64_t number) { header.value(number); };
      header.key(tensor.name);
      header.object([&] {
        header.field("dtype", to_string(tensor.dtype));
        header.key("shape");
        header.array(tensor.shape, write_number);
        header.key("data_offsets");
        header.array(std::array{begin, layout.size}, write_number);
      });
    }
  });
  const std::string json = header.take();
  const std::size_t padding = (8 - json.size() % 8) % 8;
  const std::uint64_t header_size = json.size() + padding;
  layout.header.assign(reinterpret_cast<const char*>(&header_size), sizeof header_size);
  layout.header += json;
  layout.header.append(padding, ' ');
  for (std::uint64_t& offset : layout.offsets) offset += layout.header.size();
  layout.size += layout.header.size();
  return layout;
}

std::vector<std::byte> write_safetensors(std::span<const NamedTensor> tensors) {
  const SafetensorsLayout layout = lay_out_safetensors(tensors);
  std::vector<std::byte> file(static_cast<std::size_t>(layout.size));
  std::memcpy(file.data(), layout.header.data(), layout.header.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, dtype, shape, bytes] = tensors[i];
    const std::size_t size = element_count(shape) * size_of(dtype);
    if (bytes.size() != size) {
      throw_error(ErrorCode::internal,
                  {"write_safetensors: {}: expected {} bytes, got {}", {name, size, bytes.size()}});
    }
    std::copy(bytes.begin(), bytes.end(),
              file.begin() + static_cast<std::ptrdiff_t>(layout.offsets[i]));
  }
  return file;
}

}  // namespace glassformer
