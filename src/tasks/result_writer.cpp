#include "tasks/result_writer.hpp"

#include "run/trace/trace.hpp"

namespace glassformer {

void TensorsBeside::attention(const Maps& maps) {
  const auto add = [&](const char* name, std::optional<AttentionMap>* map) {
    if (map && *map) tensor(to_tensor(name, std::move(**map)));
  };
  add("attention.encoder", maps.encoder);
  add("attention.decoder", maps.decoder);
  add("attention.cross", maps.cross);
}

void TensorsBeside::tensors_of(std::string_view field, std::vector<TracedTensor>&& tensors) {
  for (TracedTensor& each : tensors) {
    each.name.insert(0, ".").insert(0, field);
    tensor(std::move(each));
  }
}

void TensorsBeside::tensor(TracedTensor tensor) {
  tensor.name.insert(0, path());
  tensors_.push_back(std::move(tensor));
}

void TensorsBeside::vector(std::string_view name, std::vector<float> numbers) {
  tensor({std::string(name), {numbers.size()}, std::move(numbers)});
}

void TensorsBeside::table(std::string_view name, std::span<const std::string> labels,
                          std::vector<float> values) {
  const std::size_t rows = values.size() / labels.size();
  tensor({std::string(name), {rows, labels.size()}, std::move(values)});
}

}  // namespace glassformer
