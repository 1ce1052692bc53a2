#include "tensor/tensor.hpp"

#include <string>

#include "base/error.hpp"

namespace glassformer {
namespace {

std::string describe_shape(std::span<const std::size_t> shape) {
  std::string text = "[";
  for (std::size_t extent : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(extent);
  }
  return text + "]";
}

}  // namespace

void throw_shape_mismatch(std::string_view name, std::span<const std::size_t> expected,
                          std::span<const std::size_t> got) {
  throw_error(ErrorCode::internal, {"{}: expected shape {}, got {}",
                                    {name, describe_shape(expected), describe_shape(got)}});
}

}  // namespace glassformer
