#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace glassformer {

/// A named tensor of one sequence.
struct TracedTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<float> data;  ///< row-major
};

}  // namespace glassformer
