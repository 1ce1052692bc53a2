#include "train/learned_parameters.hpp"

#include "base/error.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {

LearnedParameters::LearnedParameters(std::vector<NamedParameter> parameters)
    : parameters_(std::move(parameters)) {
  for (const NamedParameter& parameter : parameters_) {
    if (!parameter.storage) {
      throw_error(ErrorCode::internal, {"{}: expected floats to learn", {parameter.name}});
    }
    parameter.storage->slot = 0;  // another may have numbered it
  }
  for (const NamedParameter& parameter : parameters_) {
    Parameter& storage = *parameter.storage;
    const std::size_t size = element_count(parameter.shape);
    if (storage.slot == 0) {
      sizes_.push_back(element_count(storage.shape));
      storage.slot = sizes_.size();
      // A bias is padded to whole panels.
      if (storage.value.size() < sizes_.back()) storage.value.resize(sizes_.back());
    }
    const std::span<float> value = std::span(storage.value).subspan(parameter.first, size);
    const std::size_t row = size / parameter.shape[0];
    for (std::size_t i = 0; i < parameter.shape[0]; ++i) {
      parameter.get(i, value.subspan(i * row, row));
    }
    parts_.push_back({parameter.name, parameter.shape, value, storage.slot, parameter.first});
  }
}

std::size_t LearnedParameters::count() const { return element_count(parameters_); }

void LearnedParameters::pack() {
  for (std::size_t i = 0; i < parts_.size(); ++i) pack(i);
}

void LearnedParameters::pack(std::size_t part) {
  if (parts_[part].shape.size() > 1) parameters_[part].set(parts_[part].value, 0);
}

}  // namespace glassformer
