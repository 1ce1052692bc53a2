#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace glassformer {

/// The safetensors container (https://github.com/huggingface/safetensors): eight bytes with the
/// header's length, a JSON header, then the tensors' little-endian bytes back to back.

enum class DType { f32, f16, bf16, i8 };

std::size_t size_of(DType dtype);         // bytes per element
std::string_view to_string(DType dtype);  // "F32", as in the file

struct TensorInfo {
  std::string name;
  DType dtype;
  std::vector<std::size_t> shape;  // empty for a scalar
  std::uint64_t begin;             // byte range in the data section
  std::uint64_t end;
};

std::size_t element_count(const std::vector<std::size_t>& shape);
std::string to_string(const std::vector<std::size_t>& shape);  // "[8000, 128]"

constexpr std::size_t max_header_bytes = 100'000'000;

/// The header's length in bytes, from the first eight bytes of a file.
/// Throws invalid_safetensors if it is over max_header_bytes.
std::uint64_t safetensors_header_size(std::span<const std::byte, 8> prefix);

/// The header of one file. Parsing checks every rule of the format, so that a tensor's bytes can be
/// used without further thought: offsets ascend and tile the data section exactly.
class SafetensorsHeader {
 public:
  /// `json` is the header without the eight bytes, `data_size` the number of bytes that follow it.
  /// Throws invalid_safetensors, or unsupported_dtype naming the tensor.
  static SafetensorsHeader parse(std::string_view json, std::uint64_t data_size);

  const std::vector<TensorInfo>& tensors() const { return tensors_; }  // in file order
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  std::vector<TensorInfo> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// A whole file in memory. The file's bytes must outlive this.
class SafetensorsFile {
 public:
  static SafetensorsFile parse(std::span<const std::byte> file);

  const SafetensorsHeader& header() const { return header_; }
  std::span<const std::byte> bytes(const TensorInfo& tensor) const;

 private:
  SafetensorsHeader header_;
  std::span<const std::byte> data_;
};

/// Converts stored elements of any alignment to floats; I8 becomes its integer value, unscaled.
/// NaN, infinities and subnormals keep their meaning. source.size() = target.size() *
/// size_of(dtype).
void to_f32(DType dtype, std::span<const std::byte> source, std::span<float> target);

struct NamedTensor {
  std::string name;
  DType dtype;
  std::vector<std::size_t> shape;
  std::span<const std::byte> bytes;  // little-endian, row-major
};

/// Writes a file: widest elements first and then by name, so that every tensor is aligned and equal
/// tensors give equal bytes. Throws internal on duplicate names or bytes that do not fit the shape.
std::vector<std::byte> write_safetensors(std::span<const NamedTensor> tensors);

}  // namespace glassformer
