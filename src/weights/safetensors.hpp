#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace glassformer {

/// The safetensors container (https://github.com/huggingface/safetensors): eight bytes with the
/// header's length, a JSON header, then the tensors' little-endian bytes back to back.

/// The first four hold weights; `multiplier` is the one float that other containers have beside
/// integers, by which floats were multiplied to make them. The others only occur in tensors that no
/// model reads.
enum class DType {
  f32,
  f16,
  bf16,
  i8,
  u8,
  boolean,
  i32,
  i64,
  f64,
  i16,
  u16,
  u32,
  u64,
  c64,
  f8_e4m3,
  f8_e5m2,
  f8_e8m0,
  multiplier
};

std::size_t size_of(DType dtype);  // bytes per element
bool holds_weights(DType dtype);
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

/// The header's length in bytes, from the first eight bytes of a file.
/// Throws invalid_safetensors if it is over header_limit.
std::uint64_t safetensors_header_size(std::span<const std::byte, 8> prefix);

/// The header of one file. Parsing checks every rule of the format, so that a tensor's bytes can be
/// used without further thought: offsets ascend and tile the data section exactly.
class SafetensorsHeader {
 public:
  SafetensorsHeader() = default;
  /// That of another container, whose reader has checked as much; there may be gaps.
  explicit SafetensorsHeader(std::vector<TensorInfo> tensors) : tensors_(std::move(tensors)) {}

  /// `json` is the header without the eight bytes, `data_size` the number of bytes that follow it;
  /// where that is not known, the caller has to see that they end where the last tensor does.
  /// Throws invalid_safetensors, or unsupported_dtype naming the tensor.
  static SafetensorsHeader parse(std::string_view json, std::optional<std::uint64_t> data_size);

  const std::vector<TensorInfo>& tensors() const { return tensors_; }  // in file order
  /// The same tensors, whose names begin with this.
  SafetensorsHeader with_prefix(const std::string& prefix) const;

 private:
  std::vector<TensorInfo> tensors_;
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

struct NamedTensor {
  std::string name;
  DType dtype;
  std::vector<std::size_t> shape;
  std::span<const std::byte> bytes;  // little-endian, row-major
};

/// A file before its tensors' bytes are in it.
struct SafetensorsLayout {
  std::string header;                 ///< from the file's beginning, the header's length included
  std::vector<std::uint64_t> places;  ///< where in the file each tensor begins, as they were given
  std::uint64_t size;                 ///< of the whole file
};

/// Puts widest elements first and then goes by name, so that every tensor is aligned and equal
/// tensors give equal files. The tensors' bytes are not looked at. Throws internal on duplicate
/// names.
SafetensorsLayout lay_out_safetensors(std::span<const NamedTensor> tensors);

/// Writes such a file. Throws internal, too, on bytes that do not fit the shape.
std::vector<std::byte> write_safetensors(std::span<const NamedTensor> tensors);

}  // namespace glassformer
