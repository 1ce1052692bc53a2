#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "run/trace/patch.hpp"

namespace glassformer {

/// Values that replace those of a model: a safetensors file with the tensors' names, such as
/// `trace` writes, and the part of each tensor to replace.
struct PatchFile {
  std::filesystem::path path = {};       ///< empty: no patch
  std::vector<std::size_t> tokens = {};  ///< empty: all
  std::vector<std::size_t> heads = {};   ///< empty: all
  /// Files of directions: what is added, and what is removed. Safetensors by the names of tensors,
  /// or a `.npy` file for the tensor `at`.
  std::filesystem::path steer = {}, project_out = {};
  std::string at = {};
  float scale = 1;       ///< of what is added
  std::size_t from = 0;  ///< the first row that directions change
};

/// Reads the patches. Throws the errors of reading a file, `invalid_safetensors`, and
/// `invalid_option` for a NumPy file of something else, for the tensor names of a trace of several
/// lines, and for tokens, heads or a name without a file.
std::vector<Patch> read_patches(const PatchFile& file);

}  // namespace glassformer
