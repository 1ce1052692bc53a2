#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weights/safetensors.hpp"

namespace glassformer {

/// One tensor that a model needs, and the function that stores its values.
struct Parameter {
  std::string name;
  std::vector<std::size_t> shape;
  /// Takes values, row-major: all of them or, for tensors with two dimensions or more, some rows,
  /// starting with row `first`. Rows come in order. The span is valid only during the call.
  using Set = std::function<void(std::span<const float>, std::size_t first)>;
  Set set = {};
  /// For a matrix that is kept as 8-bit integers, replaces `set`: takes the integers and one scale
  /// per row.
  using SetInt8 =
      std::function<void(std::span<const std::int8_t>, std::span<const float>, std::size_t first)>;
  SetInt8 set_int8 = {};
};

/// Returns the total number of elements.
std::size_t element_count(const std::vector<Parameter>& parameters);

/// Collects a model's parameters. Names are composed by scope: "encoder" + "layers" + 0 + "fc1" +
/// "weight" gives "encoder.layers.0.fc1.weight".
class ParameterScope {
 public:
  explicit ParameterScope(std::vector<Parameter>& out, std::string prefix = {});

  ParameterScope scope(std::string_view name) const;
  ParameterScope scope(std::size_t index) const;
  void declare(std::string_view name, std::vector<std::size_t> shape, Parameter::Set set) const;
  void declare_int8(std::string_view name, std::vector<std::size_t> shape,
                    Parameter::SetInt8 set) const;

 private:
  std::string join(std::string_view name) const;

  std::vector<Parameter>* out_;
  std::string prefix_;
};

/// Binds the tensors of one or several files to a model's parameters and fills them one at a time,
/// large ones a few rows at a time, so that neither a file nor a large tensor is ever completely in
/// memory.
///
/// A parameter may be stored as F32, F16, BF16, or as I8 [out, ...] together with an F32 tensor
/// `NAME_scale` [out]; then value = integer * scale of its row. A parameter that is kept as
/// integers but stored as floats is quantized. Tensors are loaded in file order, as a download
/// delivers them. An I8 tensor whose scales come later is copied until they arrive; files written
/// by write_safetensors contain the scales first and need no copy.
class WeightsLoader {
 public:
  /// Returns whether a tensor that belongs to no parameter may be present.
  using Ignored = std::function<bool(const std::string& name)>;

  /// Throws missing_tensor, unexpected_tensor, shape_mismatch or unsupported_dtype, naming the
  /// tensor, before any data is read.
  WeightsLoader(std::vector<SafetensorsHeader> files, std::vector<Parameter> parameters,
                const Ignored& ignored = {});
  WeightsLoader(SafetensorsHeader file, std::vector<Parameter> parameters);

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
    std::size_t scale = none;      // for an I8 tensor: the index of its scales
    std::size_t quantized = none;  // for scales: the index of their I8 tensor
    bool ignored = false;
    std::size_t loaded = 0;        // bytes
    std::vector<std::byte> early;  // I8 bytes that came before their scales
    std::vector<float> scales;     // scales that came before their I8 bytes
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// Returns whether the tensor at `index` is I8 with scales at `scale`. Throws unless it fits.
  bool check(const Parameter& parameter, std::size_t index, std::size_t scale) const;
  std::size_t row_bytes(std::size_t index) const;
  bool complete(std::size_t index) const;
  void set(std::size_t index, std::span<const std::byte> bytes, std::size_t first);
  void set_from_int8(std::size_t index, std::span<const std::byte> bytes, std::size_t first);
  std::span<float> buffer(std::size_t size);

  std::vector<SafetensorsHeader> files_;
  std::vector<std::size_t> starts_ = {0};
  std::vector<Parameter> parameters_;
  std::vector<Binding> bindings_;  // one per tensor
  std::vector<float> buffer_;
};

}  // namespace glassformer
