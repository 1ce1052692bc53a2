#include "tasks/result_writer.hpp"

#include "run/trace/trace.hpp"

namespace glassformer {

void ResultWriter::scores(std::span<const std::string> labels, std::span<const float> scores,
                          std::span<const float> logits, std::span<const std::size_t> order,
                          const ResultField&) {
  const std::size_t count = order.empty() ? labels.size() : order.size();
  std::vector<LabelScore> list;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t id = order.empty() ? i : order[i];
    list.push_back({id, labels[id], scores[id], logits[id]});
  }
  (*this)("scores", list);
}

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

void TensorsBeside::write_tensor(TracedTensor tensor) {
  tensor.name.insert(0, path());
  tensors_.push_back(std::move(tensor));
}

void TensorsBeside::write_vector(std::string_view name, std::vector<float> numbers) {
  tensor({std::string(name), {numbers.size()}, std::move(numbers)});
}

void TensorsBeside::write_table(std::string_view name, std::size_t columns,
                                std::vector<float> values) {
  tensor({std::string(name), {values.size() / columns, columns}, std::move(values)});
}

}  // namespace glassformer
