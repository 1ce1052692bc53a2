#include "weights/tensor_container.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/limits.hpp"

namespace glassformer {
namespace {

constexpr const char* config_name = "special:model.yml";
constexpr std::uint64_t version = 1;
// Many times the values of any known file.
constexpr std::uint64_t most_tensors = 1 << 16, longest_name = 1 << 10, most_dimensions = 8;

enum Type : std::uint64_t {
  float32 = 0x404,
  float16 = 0x402,
  int8 = 0x101,
  intgemm8 = 0x4101,
};

struct Entry {
  std::uint64_t name, type, dimensions, bytes;
};
constexpr std::size_t front = 2 * sizeof(std::uint64_t);

[[noreturn]] void fail(const Message& problem) {
  throw_error(ErrorCode::invalid_weights, {"model.bin: {}", {problem}});
}

template <typename Number>
Number read(std::span<const std::byte> bytes, std::size_t at) {
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

std::uint64_t count_of(std::span<const std::byte> start) {
  if (const auto got = read<std::uint64_t>(start, 0); got != version) {
    fail({"expected version {}, got {}", {version, got}});
  }
  const auto count = read<std::uint64_t>(start, sizeof(std::uint64_t));
  if (count == 0 || count > most_tensors) {
    fail({"expected 1 to {} tensors, got {}", {most_tensors, count}});
  }
  return count;
}

Entry entry_of(std::span<const std::byte> start, std::size_t index) {
  const Entry entry = read<Entry>(start, front + index * sizeof(Entry));
  if (entry.name < 2 || entry.name > longest_name) {
    fail(
        {"tensor {}: expected a name of 2 to {} bytes, got {}", {index, longest_name, entry.name}});
  }
  if (entry.dimensions > most_dimensions) {
    fail({"tensor {}: expected at most {} dimensions, got {}",
          {index, most_dimensions, entry.dimensions}});
  }
  return entry;
}

DType dtype_of(const std::string& name, std::uint64_t type) {
  if (type == float32) return DType::f32;
  if (type == float16) return DType::f16;
  if (type == intgemm8) return DType::i8;
  if (type == int8 && name.starts_with("special:")) return DType::u8;
  throw_error(
      ErrorCode::unsupported_dtype,
      {"model.bin: {}: expected type 1028 (float32), 1026 (float16) or 16641 (intgemm8), got "
       "{}{}",
       {name, type,
        (type & 0x800 ? ", packed for one kind of processor; convert the original model to "
                        "intgemm8"
                      : "")}});
}

}  // namespace

std::uint64_t TensorContainer::header_size(std::span<const std::byte> start) {
  if (start.size() < front) return front;
  const std::uint64_t count = count_of(start);
  std::uint64_t size = front + count * sizeof(Entry);
  if (start.size() < size) return size;
  for (std::size_t i = 0; i < count; ++i) {
    const Entry entry = entry_of(start, i);
    size += entry.name + entry.dimensions * sizeof(std::int32_t);
  }
  size += sizeof(std::uint64_t);
  if (start.size() < size) return size;
  const auto gap =
      read<std::uint64_t>(start, static_cast<std::size_t>(size) - sizeof(std::uint64_t));
  if (gap > header_limit.max_bytes) fail({"expected a small gap, got {} bytes", {gap}});
  return size + gap;
}

TensorContainer TensorContainer::parse(std::span<const std::byte> header, std::uint64_t data_size) {
  const std::uint64_t size = header_size(header);
  if (header.size() != size) fail({"expected a header of {} bytes, got {}", {size, header.size()}});
  const auto count = static_cast<std::size_t>(count_of(header));
  std::vector<TensorInfo> tensors;
  std::set<std::string> names;
  std::vector<std::uint64_t> dimensions;
  std::size_t at = front + count * sizeof(Entry);
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Entry entry = entry_of(header, i);
    std::string name(reinterpret_cast<const char*>(header.data()) + at,
                     static_cast<std::size_t>(entry.name) - 1);
    at += static_cast<std::size_t>(entry.name);
    if (header[at - 1] != std::byte{0} || name.find('\0') != std::string::npos) {
      fail({"tensor {}: expected a name with one NUL, at its end", {i}});
    }
    if (!names.insert(name).second) fail({"{}: expected once, got twice", {name}});
    if (entry.bytes > data_size - begin) {
      fail({"{}: expected at most the {} bytes of data that are left, got {}",
            {name, data_size - begin, entry.bytes}});
    }
    const DType dtype = dtype_of(name, entry.type);
    tensors.push_back({std::move(name), dtype, {}, begin, begin});
    dimensions.push_back(entry.dimensions);
    begin += entry.bytes;
    tensors.back().end = begin;  // for now, including its padding
  }
  if (begin != data_size) fail({"expected {} bytes of data, got {}", {begin, data_size}});

  TensorContainer container;
  std::vector<TensorInfo> all;
  for (std::size_t i = 0; i < count; ++i) {
    TensorInfo& tensor = tensors[i];
    const std::uint64_t bytes = tensor.end - tensor.begin;
    std::uint64_t elements = 1;
    for (std::uint64_t d = 0; d < dimensions[i]; ++d, at += sizeof(std::int32_t)) {
      const auto dimension = read<std::int32_t>(header, at);
      // No product of dimensions exceeds the file's size, so none overflows.
      if (dimension <= 0 || static_cast<std::uint64_t>(dimension) > bytes / elements) {
        fail({"{}: expected dimensions above 0 that fit its {} bytes, got {}",
              {tensor.name, bytes, dimension}});
      }
      elements *= static_cast<std::uint64_t>(dimension);
      tensor.shape.push_back(static_cast<std::size_t>(dimension));
    }
    const bool scaled = tensor.dtype == DType::i8;
    const std::uint64_t own = elements * size_of(tensor.dtype);
    if (const std::uint64_t needed = own + (scaled ? sizeof(float) : 0); needed > bytes) {
      fail({"{}: expected at least {} bytes of data, got {}", {tensor.name, needed, bytes}});
    }
    tensor.end = tensor.begin + own;
    if (scaled && tensor.shape.size() == 2 && tensor.name.find("Wemb") == std::string::npos) {
      std::swap(tensor.shape[0], tensor.shape[1]);
    }
    if (tensor.name == config_name) {
      expect_within({"model.bin: special:model.yml", config_limit.code, config_limit.max_bytes},
                    own);
      container.config = tensor;
    }
    all.push_back(std::move(tensor));
    if (!scaled) continue;
    const std::uint64_t end = all.back().end;
    all.push_back({all.back().name + "_scale", DType::multiplier, {}, end, end + sizeof(float)});
  }
  if (container.config.name.empty()) fail({"{}: expected it, got none", {config_name}});
  container.header = SafetensorsHeader(std::move(all));
  return container;
}

}  // namespace glassformer
