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
/// Little-endian: u64 version 1; u64 count; per tensor four u64: size of its name including a NUL,
/// type, number of dimensions, size of its data; the names; the shapes, one i32 per dimension; u64
/// gap and that many bytes; then the data, back to back. The data of an integer tensor consists of
/// its integers, the float by which floats were multiplied to make them, and padding. An integer
/// matrix [inputs, outputs] is stored as [outputs, inputs], except for embedding tables ("…Wemb…").
struct TensorContainer {
  /// As in a safetensors file: integers are I8, with one more number per tensor, `NAME_scale`.
  SafetensorsHeader header;
  TensorInfo config;  ///< "special:model.yml": YAML, followed by a NUL

  /// Returns the bytes of a file's header or, if `start` is too short to tell, a lower bound: call
  /// again with that many bytes. Throws `invalid_weights`.
  static std::uint64_t header_size(std::span<const std::byte> start);

  /// `header`: exactly header_size bytes; `data_size`: the number of bytes after it. Checks every
  /// length, so that a tensor's bytes can be used without further checks. Throws `invalid_weights`,
  /// or `unsupported_dtype` naming the tensor.
  static TensorContainer parse(std::span<const std::byte> header, std::uint64_t data_size);
};

}  // namespace glassformer
