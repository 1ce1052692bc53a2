#pragma once

#include <string>
#include <vector>

#include "tasks/pipeline.hpp"

namespace glassformer {

/// Writes results with their tensors inside the JSON text: attention maps as {NAME: {layers, heads,
/// queries, keys, data}}, other tensors as {shape, data}, where data is the base64 of little-endian
/// floats.
class EmbeddedTensors final : public ResultWriter {
 public:
  void attention(const Maps& maps) override;
  void tensors_of(std::string_view field, std::vector<TracedTensor>&& tensors) override;

 private:
  void write_tensor(TracedTensor tensor) override;
  void write_vector(std::string_view name, std::vector<float> numbers) override;
  void write_table(std::string_view name, std::size_t columns, std::vector<float> values) override;
};

/// Finishes a job after its last step. Returns each result as JSON text, or its error.
std::vector<std::variant<std::string, Error>> results_as_json(Job& job);

}  // namespace glassformer
