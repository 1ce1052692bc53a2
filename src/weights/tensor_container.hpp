#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "weights/safetensors.hpp"

namespace glassformer {

/// The container of translators that run in browsers, "model.LANGUAGES.intgemm.alphas.bin": tensors
/// of floats, or of integers with the multiplier that made them, and the model's configuration.
///
/// Little-endian: u64 version 1, u64 count; for each tensor u64 bytes of its name with a NUL, type,
/// dimensions, bytes of data; the names; the shapes, i32 a dimension; u64 gap and so many bytes;
/// then the data, back to back. An integer tensor's data is its integers, a float by which floats
/// were multiplied to make them, and padding; a matrix [inputs, outputs] lies there as [outputs,
/// inputs], but for tables of embeddings ("…Wemb…").
struct TensorContainer {
  /// As a safetensors file would have them: integers I8 with one number beside them, `NAME_scale`.
  SafetensorsHeader header;
  TensorInfo config;  ///< "special:model.yml": YAML, with a NUL behind it

  /// How many bytes a file's header has, or at least, as far as its first bytes tell: give more
  /// until there are so many. Throws `invalid_weights`.
  static std::uint64_t header_size(std::span<const std::byte> start);

  /// `header`: so many bytes as header_size says; `data_size`: those that follow it. Checks every
  /// length, so that a tensor's bytes can be used without further thought. Throws
  /// `invalid_weights`, or `unsupported_dtype` naming the tensor.
  static TensorContainer parse(std::span<const std::byte> header, std::uint64_t data_size);
};

}  // namespace glassformer
