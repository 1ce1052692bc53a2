// Any bytes are either read as a safetensors file whose tensors are within it, or refused with a
// typed error.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "weights/floats.hpp"
#include "weights/loader.hpp"
#include "weights/safetensors.hpp"

using namespace glassformer;

// Loads the file into parameters of its own shapes, to cover conversion and scaling, too.
static void load(const SafetensorsFile& file) {
  std::vector<NamedParameter> parameters;
  for (const TensorInfo& tensor : file.header().tensors()) {
    if (tensor.name.ends_with("_scale")) continue;
    const auto set = [&tensor](std::span<const float> values, std::size_t first) {
      const std::size_t rows = tensor.shape.empty() ? 1 : tensor.shape[0];
      if (first >= rows || values.size() > element_count(tensor.shape)) std::abort();
    };
    parameters.push_back({tensor.name, tensor.shape, set});
  }
  WeightsLoader loader(file.header(), std::move(parameters));
  for (std::size_t i = 0; i < loader.size(); ++i) {
    const std::span<const std::byte> bytes = file.bytes(loader.tensor(i));
    const std::vector<std::size_t>& shape = loader.tensor(i).shape;
    const bool by_row = shape.size() > 1 && !bytes.empty();
    const std::size_t piece = by_row ? bytes.size() / shape[0] : bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      loader.load(i, bytes.subspan(at, std::min(piece, bytes.size() - at)));
    }
  }
  loader.finish();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const SafetensorsFile file = SafetensorsFile::parse(std::as_bytes(std::span(data, size)));
    for (const TensorInfo& tensor : file.header().tensors()) {
      std::vector<float> values(element_count(tensor.shape));
      to_f32(tensor.dtype, file.bytes(tensor), values);
    }
    load(file);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
  }
  return 0;
}
