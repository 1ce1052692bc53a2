#include "cli/files/npy_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <system_error>

#include "base/error.hpp"
#include "weights/floats.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

[[noreturn]] void refuse(const std::string& name, const std::string& expected,
                         std::string_view got) {
  throw Error(ErrorCode::invalid_option,
              name + ": expected " + expected + ", got " + std::string(got.substr(0, 100)));
}

// Returns a little-endian integer.
std::size_t integer(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

std::string_view without_spaces(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" "), text.size()));
  return text.substr(0, text.find_last_not_of(" \n") + 1);
}

// Returns what follows a key of the header up to `end`.
std::string_view value_of(std::string_view header, std::string_view key, std::string_view end,
                          const std::string& name) {
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos) refuse(name, "the field " + std::string(key), header);
  const std::string_view rest = header.substr(at + key.size());
  const std::size_t until = rest.find(end);
  if (until == std::string_view::npos) refuse(name, "a header of NumPy", header);
  return without_spaces(rest.substr(0, until));
}

}  // namespace

std::string npy_of(std::span<const float> vector) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(vector.size()) + ",), }";
  constexpr std::size_t before = 10, multiple = 64;  // magic, version, length; numpy.lib.format
  header.append((multiple - (before + header.size() + 1) % multiple) % multiple, ' ');
  header += '\n';
  std::string file = std::string(magic) + std::string("\1\0", 2);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  const auto bytes = std::as_bytes(vector);
  file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return file;
}

std::vector<float> vector_of_npy(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(magic) || bytes.size() < magic.size() + 2) {
    refuse(name, "a NumPy file", std::to_string(bytes.size()) + " other bytes");
  }
  const int version = static_cast<unsigned char>(bytes[magic.size()]);
  if (version < 1 || version > 3) {
    refuse(name, "a NumPy file of version 1 to 3", std::to_string(version));
  }
  bytes.remove_prefix(magic.size() + 2);
  const std::size_t of_length = version == 1 ? 2 : 4;
  if (bytes.size() < of_length || bytes.size() - of_length < integer(bytes.substr(0, of_length))) {
    refuse(name, "a whole header", std::to_string(bytes.size()) + " bytes");
  }
  const std::string_view header = bytes.substr(of_length, integer(bytes.substr(0, of_length)));
  const std::string_view data = bytes.substr(of_length + header.size());

  const std::string_view type = value_of(header, "'descr':", ",", name);
  const std::string_view shape = value_of(header, "'shape':", ")", name);
  std::size_t size = 0;
  const char* const end = shape.data() + shape.size();
  const bool opened = shape.starts_with("(");
  const auto [after, error] = std::from_chars(shape.data() + (opened ? 1 : 0), end, size);
  if (!opened || error != std::errc() || std::string_view(after, end) != ",") {
    refuse(name, "one axis, (n,)", std::string(shape) + ")");
  }
  const std::size_t element = type == "'<f2'" ? 2 : type == "'<f4'" ? 4 : type == "'<f8'" ? 8 : 0;
  if (element == 0) refuse(name, "'<f2', '<f4' or '<f8'", type);
  if (data.size() % element != 0 || data.size() / element != size) {
    refuse(name, std::to_string(size) + " numbers", std::to_string(data.size()) + " bytes");
  }
  std::vector<float> vector(size);
  if (element < 8) {
    to_f32(element == 2 ? DType::f16 : DType::f32, std::as_bytes(std::span(data)), vector);
    return vector;
  }
  for (std::size_t i = 0; i < size; ++i) {
    double value;
    std::memcpy(&value, data.data() + i * element, element);
    vector[i] = static_cast<float>(value);
  }
  return vector;
}

}  // namespace glassformer
