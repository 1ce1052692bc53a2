#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "api/text_input.hpp"
#include "image/picture.hpp"

namespace glassformer {

/// Decodes a picture file. Throws the errors of reading a file and of decode_picture.
Picture read_picture(const std::filesystem::path& path);

/// Decodes the files whose paths are these lines.
std::vector<Picture> read_pictures(std::span<const TextInput> paths);

}  // namespace glassformer
