#pragma once

#include <string>

namespace glassformer {

/// A file of a folder that a training writes.
struct NewFile {
  std::string name, bytes;
};

}  // namespace glassformer
