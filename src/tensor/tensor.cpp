#include "tensor/tensor.hpp"

#include <string>

#include "error.hpp"

namespace glassformer {
namespace {

std::string describe(const std::size_t* shape, std::size_t dimension) {
  std::string text = "[";
  for (std::size_t i = 0; i < dimension; ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace

void throw_shape_mismatch(std::string_view name, const std::size_t* expected,
                          std::size_t expected_dimension, const std::size_t* got,
                          std::size_t got_dimension) {
  throw Error(ErrorCode::internal, std::string(name) + ": expected shape " +
                                       describe(expected, expected_dimension) + ", got " +
                                       describe(got, got_dimension));
}

}  // namespace glassformer
