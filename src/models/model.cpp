#include "models/model.hpp"

#include <algorithm>

namespace glassformer {

Compute stored_compute(const SafetensorsHeader& header) {
  const auto is_int8 = [](const TensorInfo& tensor) { return tensor.dtype == DType::i8; };
  return std::ranges::any_of(header.tensors(), is_int8) ? Compute::int8 : Compute::f32;
}

}  // namespace glassformer
