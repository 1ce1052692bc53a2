#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weights/parameter.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {

/// Binds the tensors of one or several files to a model's parameters and fills them one at a time,
/// large ones a few rows at a time, so that neither a file nor a large tensor is ever completely in
/// memory.
///
/// A parameter may be stored as F32, F16, BF16, or as I8 [out, ...] together with an F32 tensor
/// `NAME_scale` [out]; then value = integer * scale of its row. A matrix [out, in] may also be
/// stored as U8 [out, in / 2] together with a BF16 tensor `NAME_scale` [out, in / 32], both rounded
/// up; then each byte has two integers, first the low half, and value = (integer - 8) * scale of
/// its group of 32 columns. A parameter that is kept as other integers than those it is stored as,
/// or stored as floats, is quantized. Tensors are loaded in file order, as a download delivers
/// them. An integer tensor whose scales come later is copied until they arrive; files written by
/// write_safetensors contain the scales first and need no copy.
class WeightsLoader {
 public:
  /// Returns whether a tensor that belongs to no parameter may be present.
  using Ignored = std::function<bool(const std::string& name)>;

  /// Throws missing_tensor, unexpected_tensor, shape_mismatch or unsupported_dtype, naming the
  /// tensor, before any data is read.
  WeightsLoader(std::vector<SafetensorsHeader> files, std::vector<NamedParameter> parameters,
                const Ignored& ignored = {});
  WeightsLoader(SafetensorsHeader file, std::vector<NamedParameter> parameters);

  /// The number of tensors in all files. Tensors are counted file by file.
  std::size_t size() const { return starts_.back(); }
  const TensorInfo& tensor(std::size_t index) const;
  /// The index of each file's first tensor, then the number of all tensors.
  const std::vector<std::size_t>& starts() const { return starts_; }
  /// Returns whether no parameter uses the tensor. Its bytes may be omitted, or loaded like others.
  bool ignores(std::size_t index) const { return bindings_[index].ignored; }
  /// Returns the names of the ignored tensors.
  std::vector<std::string> ignored() const;
  /// Returns how many bytes of tensor(index) to load at once: as many rows as fit in a megabyte, at
  /// least one. The last piece may be shorter.
  std::size_t piece_bytes(std::size_t index) const;
  std::size_t staging_bytes() const;  // the largest piece of all tensors in use

  /// Takes the next bytes of tensor(index), whole rows, and sets that part of its parameter.
  /// Tensors may come in any order, each once. Throws invalid_safetensors if there are more bytes
  /// than expected or a partial row, and invalid_weights if a number is not finite.
  void load(std::size_t index, std::span<const std::byte> bytes);

  /// Throws missing_tensor if a tensor was not loaded completely.
  void finish() const;

 private:
  /// The use of one tensor: a parameter's values, or the scales of another tensor's rows.
  struct Binding {
    std::size_t parameter = none;
    std::size_t scale = none;      // for an integer tensor: the index of its scales
    std::size_t quantized = none;  // for scales: the index of their integer tensor
    bool ignored = false;
    std::size_t loaded = 0;         // bytes
    std::vector<std::byte> early;   // integers that came before their scales
    std::vector<std::byte> scales;  // those that came, as BF16 if they are stored so, else as F32
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// Returns whether the tensor at `index` has integers with scales at `scale`. Throws unless it
  /// fits.
  bool check(const NamedParameter& parameter, std::size_t index, std::size_t scale) const;
  std::size_t row_bytes(std::size_t index) const;
  bool complete(std::size_t index) const;
  void set(std::size_t index, std::span<const std::byte> bytes, std::size_t first);
  void set_integers(std::size_t index, std::span<const std::byte> bytes, std::size_t first);
  /// Returns some scales that came, from number `first` on.
  std::span<const float> scales(std::size_t index, std::size_t first, std::size_t count);
  std::span<float> buffer(std::size_t size);

  std::vector<SafetensorsHeader> files_;
  std::vector<std::size_t> starts_ = {0};
  std::vector<NamedParameter> parameters_;
  std::vector<Binding> bindings_;  // one per tensor
  std::vector<float> buffer_, scales_;
  std::vector<std::int8_t> integers_;  // unpacked from 4 bits
  std::vector<std::uint16_t> halves_;
};

}  // namespace glassformer
