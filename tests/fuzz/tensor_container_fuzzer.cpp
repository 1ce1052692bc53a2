// Any bytes are either read as a container whose tensors are within it, or refused with a typed
// error. The same holds for its configuration, which is converted to JSON.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "families/family.hpp"
#include "weights/loader.hpp"
#include "weights/tensor_container.hpp"

namespace glassformer {
extern const Family bergamot;
}

using namespace glassformer;

static void load(const TensorContainer& container, std::span<const std::byte> data) {
  std::vector<NamedParameter> parameters;
  for (const TensorInfo& tensor : container.header.tensors()) {
    if (tensor.end > data.size() || tensor.begin > tensor.end) std::abort();
    if (!holds_weights(tensor.dtype) || tensor.shape.empty()) continue;
    parameters.push_back(
        {tensor.name, tensor.shape, [&tensor](std::span<const float> values, std::size_t first) {
           const std::size_t row = element_count(tensor.shape) / tensor.shape[0];
           if (first * row + values.size() > element_count(tensor.shape)) std::abort();
         }});
  }
  WeightsLoader loader(std::vector{container.header}, std::move(parameters),
                       [](const std::string&) { return true; });
  for (std::size_t i = 0; i < loader.size(); ++i) {
    if (loader.ignores(i)) continue;
    const TensorInfo& tensor = loader.tensor(i);
    for (std::uint64_t at = tensor.begin; at < tensor.end; at += loader.piece_bytes(i)) {
      loader.load(
          i, data.subspan(at, std::min<std::uint64_t>(loader.piece_bytes(i), tensor.end - at)));
    }
  }
  loader.finish();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span(input, size));
  try {
    std::uint64_t known = 0;
    for (std::uint64_t wanted; known < file.size(); known = wanted) {
      wanted = TensorContainer::header_size(file.first(known));
      if (wanted < known) std::abort();
      if (wanted == known || wanted > file.size()) break;
    }
    const TensorContainer container =
        TensorContainer::parse(file.first(known), file.size() - known);
    const std::span<const std::byte> data = file.subspan(known);
    const std::span<const std::byte> yaml =
        data.subspan(container.config.begin, container.config.end - container.config.begin);
    const std::string json =
        bergamot.container->config({reinterpret_cast<const char*>(yaml.data()), yaml.size()});
    parse_json(json, {ErrorCode::invalid_config, "special:model.yml"});
    load(container, data);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
  }
  return 0;
}
