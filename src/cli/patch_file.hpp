#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "base/json_writer.hpp"
#include "glassformer/patch.hpp"

namespace glassformer {

/// Numbers to put in the place of a model's: a safetensors file that has them by the tensors'
/// names, such as `trace` writes, and what of each tensor they replace.
struct PatchFile {
  std::filesystem::path path = {};       ///< empty: none
  std::vector<std::size_t> tokens = {};  ///< empty: all
  std::vector<std::size_t> heads = {};   ///< the same
};

/// Throws what reading a file throws, invalid_safetensors, and `invalid_option` for names that
/// stand for one of several lines, and for tokens or heads without a file.
std::vector<Patch> read_patches(const PatchFile& file);

/// Writes the patches as the field "patch" of an object, and their numbers behind those that are
/// there: what OptionsReader::patches reads.
void write_patches(const std::vector<Patch>& patches, JsonWriter& json,
                   std::vector<float>& numbers);

}  // namespace glassformer
