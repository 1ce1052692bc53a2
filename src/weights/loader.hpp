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

/// Binds the tensors of a file, or of several, to a model's parameters and fills them one at a
/// time, large ones some rows at a time, so that neither a file nor a large tensor ever lies whole
/// in memory.
///
/// A parameter may be stored as F32, F16, BF16, or as I8 [out, ...] beside an F32 tensor
/// `NAME_scale` [out]; then value = integer * scale of its row. What is wanted as integers and
/// stored as floats is quantized. Tensors are loaded in file order, as a download brings them. An
/// I8 tensor whose scale comes later waits in a copy; files written by write_safetensors, scales
/// first, need none.
class WeightsLoader {
 public:
  /// Whether a tensor that is no parameter's may be there.
  using Ignored = std::function<bool(const std::string& name)>;

  /// Throws missing_tensor, unexpected_tensor, shape_mismatch or unsupported_dtype, by name, before
  /// any data is read.
  WeightsLoader(std::vector<SafetensorsHeader> files, std::vector<NamedParameter> parameters,
                const Ignored& ignored = {});
  WeightsLoader(SafetensorsHeader file, std::vector<NamedParameter> parameters);

  /// The tensors of all files, one file after another.
  std::size_t size() const { return starts_.back(); }
  const TensorInfo& tensor(std::size_t index) const;
  /// The first tensor of each file, and the number of all.
  const std::vector<std::size_t>& starts() const { return starts_; }
  /// Whether nobody needs the bytes of a tensor: they may be left out, or loaded as others.
  bool ignores(std::size_t index) const { return bindings_[index].ignored; }
  /// The names of such tensors.
  std::vector<std::string> ignored() const;
  /// How much of tensor(index) to load at once: as many of its rows as fit a megabyte, at least
  /// one. The last piece may have less.
  std::size_t piece_bytes(std::size_t index) const;
  std::size_t staging_bytes() const;  // the largest piece of those that are not ignored

  /// Takes the next bytes of tensor(index), whole rows of them, and sets that part of its
  /// parameter. Tensors may come in any order, each once. Throws invalid_safetensors for more bytes
  /// than are left, or a part of a row, and invalid_weights if a number is not finite.
  void load(std::size_t index, std::span<const std::byte> bytes);

  /// Throws missing_tensor if some tensor was not loaded, or not to its end.
  void finish() const;

 private:
  /// What becomes of one tensor: a parameter's values, or the scales of another tensor's rows.
  struct Binding {
    std::size_t parameter = none;
    std::size_t scale = none;      // of an I8 tensor: the index of its scales
    std::size_t quantized = none;  // of scales: the index of their I8 tensor
    bool ignored = false;
    std::size_t loaded = 0;        // bytes
    std::vector<std::byte> early;  // I8 bytes that came before their scales
    std::vector<float> scales;     // scales that came before their I8 bytes
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// Whether the tensor at `index` is I8, with scales at `scale`; throws unless it fits.
  bool check(const NamedParameter& parameter, std::size_t index, std::size_t scale) const;
  std::size_t row_bytes(std::size_t index) const;
  bool complete(std::size_t index) const;
  void set(std::size_t index, std::span<const std::byte> bytes, std::size_t first);
  void set_from_int8(std::size_t index, std::span<const std::byte> bytes, std::size_t first);
  std::span<float> buffer(std::size_t size);

  std::vector<SafetensorsHeader> files_;
  std::vector<std::size_t> starts_ = {0};
  std::vector<NamedParameter> parameters_;
  std::vector<Binding> bindings_;  // one per tensor
  std::vector<float> buffer_;
};

}  // namespace glassformer
