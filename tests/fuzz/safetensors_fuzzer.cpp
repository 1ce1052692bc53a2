// Any bytes are a safetensors file or a typed error; a file's tensors lie inside of it.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "error.hpp"
#include "io/floats.hpp"
#include "io/safetensors.hpp"
#include "io/weights.hpp"

using namespace glassformer;

// Loads the file into parameters of its own shapes, so that conversion and scaling run too.
static void load(const SafetensorsFile& file) {
  std::vector<Parameter> parameters;
  for (const TensorInfo& tensor : file.header().tensors()) {
    if (tensor.name.ends_with("_scale")) continue;
    parameters.push_back({tensor.name, tensor.shape, [&tensor](std::span<const float> values) {
                            if (values.size() != element_count(tensor.shape)) std::abort();
                          }});
  }
  WeightsLoader loader(file.header(), std::move(parameters));
  for (std::size_t i = 0; i < loader.size(); ++i) {
    loader.load(i, file.bytes(loader.tensor(i)));
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
