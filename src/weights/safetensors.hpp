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

/// An element type. The first four hold weights. `multiplier` is the single float that other
/// containers store together with integers: floats were multiplied by it to get the integers. The
/// others only occur in tensors that no model reads.
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

/// Returns the header's length in bytes, from the first eight bytes of a file. Throws
/// invalid_safetensors if it is over header_limit.
std::uint64_t safetensors_header_size(std::span<const std::byte, 8> prefix);

/// Returns the header's JSON from the beginning of a file. Throws as safetensors_header_size does,
/// and `invalid_safetensors` if `start` ends before the header.
std::string_view safetensors_header(std::string_view start);

/// The header of one file. Parsing checks every rule of the format, so that a tensor's bytes can be
/// used without further checks: offsets ascend and cover the data section exactly.
class SafetensorsHeader {
 public:
  SafetensorsHeader() = default;
  /// The header of another container, whose reader has made these checks; there may be gaps.
  explicit SafetensorsHeader(std::vector<TensorInfo> tensors) : tensors_(std::move(tensors)) {}

  /// `json` is the header without the eight bytes, `data_size` the number of bytes that follow it.
  /// If that is unknown, the caller has to check that the data ends where the last tensor does.
  /// Throws invalid_safetensors, or unsupported_dtype naming the tensor. `file`: its name in
  /// errors.
  static SafetensorsHeader parse(std::string_view json, std::optional<std::uint64_t> data_size,
                                 std::string_view file = "model.safetensors");

  const std::vector<TensorInfo>& tensors() const { return tensors_; }  // in file order
  /// Returns the same tensors with `prefix` in front of their names.
  SafetensorsHeader with_prefix(const std::string& prefix) const;

 private:
  static SafetensorsHeader parse_usual(std::string_view json,
                                       std::optional<std::uint64_t> data_size);

  std::vector<TensorInfo> tensors_;
};

/// A whole file in memory. Its bytes must outlive this object.
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

/// The layout of a file, without its tensors' bytes.
struct SafetensorsLayout {
  std::string header;                  ///< the start of the file, including the header's length
  std::vector<std::uint64_t> offsets;  ///< each tensor's position in the file, in the given order
  std::uint64_t size;                  ///< of the whole file
};

/// Orders tensors by element size, widest first, then by name, so that every tensor is aligned and
/// equal tensors give equal files. Does not read the tensors' bytes. Throws internal on duplicate
/// names.
SafetensorsLayout lay_out_safetensors(std::span<const NamedTensor> tensors);

/// Writes the whole file. Throws internal also if the bytes of a tensor do not fit its shape.
std::vector<std::byte> write_safetensors(std::span<const NamedTensor> tensors);

}  // namespace glassformer
