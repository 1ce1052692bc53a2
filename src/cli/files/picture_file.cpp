#include "cli/files/picture_file.hpp"

#include <string>

#include "families/folder/input_file.hpp"
#include "image/decode/decode.hpp"

namespace glassformer {

Picture read_picture(const std::filesystem::path& path) {
  const std::string name = path.string();
  const std::string bytes = read_file(path, {name, ErrorCode::invalid_picture, max_picture_bytes});
  return decode_picture({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::vector<Picture> read_pictures(std::span<const TextInput> paths) {
  std::vector<Picture> pictures;
  for (const TextInput& path : paths) pictures.push_back(read_picture(path.alone()));
  return pictures;
}

}  // namespace glassformer
