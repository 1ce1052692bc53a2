#include "tasks/embedded_tensors.hpp"

#include <cstring>

#include "base/strings/base64.hpp"

namespace glassformer {
namespace {

std::string base64(const std::vector<float>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return encode_base64(bytes);
}

}  // namespace

void EmbeddedTensors::attention(const Maps& maps) {
  const auto there = [](const std::optional<AttentionMap>* map) { return map && *map; };
  if (!there(maps.encoder) && !there(maps.decoder) && !there(maps.cross)) return;
  key("attention");
  object([&] {
    const auto add = [&](const char* name, const std::optional<AttentionMap>* map) {
      if (!there(map)) return;
      key(name);
      object([&] {
        field("layers", (*map)->layers);
        field("heads", (*map)->heads);
        field("queries", (*map)->queries);
        field("keys", (*map)->keys);
        field("data", base64((*map)->data));
      });
    };
    add("encoder", maps.encoder);
    add("decoder", maps.decoder);
    add("cross", maps.cross);
  });
}

void EmbeddedTensors::tensors_of(std::string_view field, std::vector<TracedTensor>&& tensors) {
  if (tensors.empty()) return;
  key(field);
  object([&] {
    for (TracedTensor& each : tensors) tensor(std::move(each));
  });
}

void EmbeddedTensors::write_tensor(TracedTensor tensor) {
  key(tensor.name);
  object([&] {
    (*this)("shape", tensor.shape);
    field("data", base64(tensor.data));
  });
}

void EmbeddedTensors::write_vector(std::string_view name, std::vector<float> numbers) {
  (*this)(name, numbers);
}

void EmbeddedTensors::write_table(std::string_view name, std::size_t columns,
                                  std::vector<float> values) {
  std::vector<std::vector<float>> transposed(columns);
  for (std::size_t i = 0; i < values.size(); ++i) transposed[i % columns].push_back(values[i]);
  (*this)(name, transposed);
}

std::vector<std::variant<std::string, Error>> results_as_json(Job& job) {
  std::vector<std::variant<std::string, Error>> texts;
  const std::size_t count = job.finish();
  for (std::size_t i = 0; i < count; ++i) {
    try {
      EmbeddedTensors writer;
      job.write(i, writer);
      texts.emplace_back(writer.take());
    } catch (const Error& error) {
      texts.emplace_back(error);
    }
  }
  return texts;
}

}  // namespace glassformer
