#include "weights/parameter.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "kernels/kernels.hpp"
#include "weights/quantize.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {

std::size_t element_count(const std::vector<NamedParameter>& parameters) {
  std::size_t count = 0;
  for (const NamedParameter& parameter : parameters) count += element_count(parameter.shape);
  return count;
}

void set_values(const NamedParameter& parameter, std::span<const float> values, std::size_t first) {
  if (!parameter.set_integers) return parameter.set(values, first);
  const std::size_t columns = element_count(parameter.shape) / parameter.shape[0];
  const QuantizedMatrix quantized = quantize(values, values.size() / columns, parameter.bits);
  parameter.set_integers(quantized.values, quantized.scales, first);
}

std::vector<float> row_of(const NamedParameter& parameter, std::size_t row) {
  const std::size_t rows = parameter.shape.at(0);
  if (row >= rows) {
    throw_error(ErrorCode::invalid_option,
                {"{}: expected a row below {}, got {}", {parameter.name, rows, row}});
  }
  std::vector<float> values(element_count(parameter.shape) / rows);
  parameter.get(row, values);
  return values;
}

ParameterScope::ParameterScope(std::vector<NamedParameter>& out, std::string prefix)
    : out_(&out), prefix_(std::move(prefix)) {}

ParameterScope ParameterScope::scope(std::string_view name) const {
  return ParameterScope(*out_, join(name));
}

ParameterScope ParameterScope::scope(std::size_t index) const {
  return scope(std::to_string(index));
}

void ParameterScope::declare(std::string_view name, std::vector<std::size_t> shape,
                             NamedParameter::Set set, NamedParameter::Get get, Parameter* storage,
                             std::size_t first) const {
  out_->push_back({.name = join(name),
                   .shape = std::move(shape),
                   .set = std::move(set),
                   .get = std::move(get),
                   .storage = storage,
                   .first = first});
}

void ParameterScope::declare_integers(std::string_view name, std::vector<std::size_t> shape,
                                      unsigned bits, NamedParameter::SetIntegers set,
                                      NamedParameter::Get get) const {
  out_->push_back({.name = join(name),
                   .shape = std::move(shape),
                   .set_integers = std::move(set),
                   .bits = bits,
                   .get = std::move(get)});
}

void ParameterScope::declare(std::string_view name, std::vector<std::size_t> shape,
                             Parameter& parameter) const {
  parameter.shape = shape;
  declare(
      name, std::move(shape),
      [&parameter](std::span<const float> values, std::size_t first) {
        const std::size_t row = element_count(parameter.shape) / parameter.shape[0];
        parameter.value.resize(row * parameter.shape[0]);
        std::ranges::copy(values, parameter.value.data() + first * row);
      },
      [&parameter](std::size_t row, std::span<float> values) {
        std::copy_n(loaded(parameter, "a parameter") + row * values.size(), values.size(),
                    values.data());
      },
      &parameter);
}

std::string ParameterScope::join(std::string_view name) const {
  return prefix_.empty() ? std::string(name) : prefix_ + "." + std::string(name);
}

const float* loaded(const Parameter& parameter, const char* owner) {
  if (!parameter.value.empty()) return parameter.value.data();
  throw_error(ErrorCode::internal, {"{} has no weights yet", {owner}});
}

}  // namespace glassformer
