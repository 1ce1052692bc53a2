#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/half.hpp"
#include "tensor/aligned_buffer.hpp"

namespace glassformer {

/// A learned tensor, row-major. Layers that multiply by it compute from a packed copy; they keep
/// its plain value only while it is learned.
struct Parameter {
  std::vector<std::size_t> shape;
  AlignedBuffer value;   ///< empty: only a packed copy is kept
  std::size_t slot = 0;  ///< the number of its gradient, from 1; 0: it is not learned
};

/// A tensor that a model needs, by its name in checkpoints, with functions that set and read its
/// values.
struct NamedParameter {
  std::string name;
  std::vector<std::size_t> shape;
  /// Takes values, row-major: all of them or, if there are two dimensions or more, some rows,
  /// beginning with row `first`. They come in order; spans are valid during the call.
  using Set = std::function<void(std::span<const float>, std::size_t first)>;
  Set set = {};
  /// For a matrix that is kept as integers: takes those and their scales, as QuantizedMatrix has
  /// them, instead.
  using SetIntegers =
      std::function<void(std::span<const std::int8_t>, std::span<const float>, std::size_t first)>;
  SetIntegers set_integers = {};
  unsigned bits = 0;  ///< of those integers: 8 or 4
  /// For a matrix that may be kept in 16 bits: takes the values as the file has them. Returns false
  /// if it does not; then they must be set as floats.
  using SetHalves =
      std::function<bool(std::span<const std::uint16_t>, Half format, std::size_t first)>;
  SetHalves set_halves = {};
  /// Copies row `row` of the values in use; integers are multiplied by their scale.
  /// A tensor with one dimension has rows of one number. Throws `internal` if it is not loaded yet.
  using Get = std::function<void(std::size_t row, std::span<float> values)>;
  Get get = {};
  /// Where its values are while they are learned: from number `first` of this parameter on. Null
  /// for integers.
  Parameter* storage = nullptr;
  std::size_t first = 0;
  /// The shape in files, if those may have more dimensions: the same numbers in the same order.
  /// Empty: files have `shape`.
  std::vector<std::size_t> stored = {};
  /// The rows that belong to one head, of a layer that computes heads. 0: there are no heads.
  std::size_t head_rows = 0;
};

/// Sets values, row-major, from row `first` on; see NamedParameter::set. Quantizes them for a
/// parameter that is kept as integers.
void set_values(const NamedParameter& parameter, std::span<const float> values, std::size_t first);

/// Returns row `row` of a parameter. Throws `invalid_option`, naming the parameter, if it has no
/// such row.
std::vector<float> row_of(const NamedParameter& parameter, std::size_t row);

/// Returns the number of elements of all parameters.
std::size_t element_count(const std::vector<NamedParameter>& parameters);

/// Collects a model's parameters; names are composed by scope: "encoder" + "layers" + 0 + "fc1" +
/// "weight" gives "encoder.layers.0.fc1.weight".
class ParameterScope {
 public:
  explicit ParameterScope(std::vector<NamedParameter>& out, std::string prefix = {});

  ParameterScope scope(std::string_view name) const;
  ParameterScope scope(std::size_t index) const;
  /// `storage`: see NamedParameter.
  void declare(std::string_view name, std::vector<std::size_t> shape, NamedParameter::Set set,
               NamedParameter::Get get = {}, Parameter* storage = nullptr,
               std::size_t first = 0) const;
  /// `bits`: see NamedParameter.
  void declare_integers(std::string_view name, std::vector<std::size_t> shape, unsigned bits,
                        NamedParameter::SetIntegers set, NamedParameter::Get get = {}) const;
  /// Declares a parameter that is used as it is stored. Its shape is set here, its value when it is
  /// loaded.
  void declare(std::string_view name, std::vector<std::size_t> shape, Parameter& parameter) const;
  /// Sets NamedParameter::set_halves of the parameter that was declared last.
  void keep_last_halves(NamedParameter::SetHalves set) const {
    out_->back().set_halves = std::move(set);
  }
  /// Sets NamedParameter::stored of the parameter that was declared last.
  void store_last_as(std::vector<std::size_t> stored) const { out_->back().stored = stored; }
  /// Returns the number of parameters that were declared.
  std::size_t count() const { return out_->size(); }
  /// Sets NamedParameter::head_rows of all parameters from number `first` on.
  void set_head_rows(std::size_t first, std::size_t rows) const {
    for (std::size_t i = first; i < out_->size(); ++i) (*out_)[i].head_rows = rows;
  }

 private:
  std::string join(std::string_view name) const;

  std::vector<NamedParameter>* out_;
  std::string prefix_;
};

/// Returns the value of a parameter that was loaded. Throws `internal`, naming `owner`, if it was
/// not.
const float* loaded(const Parameter& parameter, const char* owner);

}  // namespace glassformer
