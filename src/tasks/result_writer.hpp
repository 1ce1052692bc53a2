#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "glassformer/output.hpp"
#include "tasks/pipeline.hpp"

namespace glassformer {

/// Writes a result as JSON, with its tensors in it or beside it.
class ResultWriter : public JsonWriter {
 public:
  explicit ResultWriter(ResultForm form) : embeds_(form == ResultForm::json) {}

  /// Whether tensors are in the JSON.
  bool embeds() const { return links_printing() && embeds_; }

  /// The field of an object that holds its attention weights: `attention`, {NAME: {layers, heads,
  /// queries, keys, data}} of the tensors "attention.NAME"; data is base64 of little-endian floats.
  /// Or no field, and "<path><name>" beside the JSON.
  void tensors(std::vector<TracedTensor> tensors, std::string_view path = {});
  /// The one that holds what was traced: `trace`, {NAME: {shape, data}}. Or "<path>trace.<name>"
  /// beside the JSON.
  void trace(std::vector<TracedTensor> tensors, std::string_view path = {});

  /// A field that holds a tensor: `name`, {shape, data}. Or no field, and the tensor beside the
  /// JSON, by its name.
  void tensor(TracedTensor tensor);

  Result take_result() { return {take(), std::move(beside_)}; }

 private:
  void write_tensor(const TracedTensor& tensor);
  void put_beside(std::vector<TracedTensor> tensors, const std::string& path);

  bool embeds_;
  std::vector<TracedTensor> beside_;
};

/// [{id, text, start, end, sequence?}]
void write(JsonWriter& json, const std::vector<InputToken>& tokens);

/// {id, text, start, end, logprob}
void write(JsonWriter& json, const OutputToken& token);
/// The fields text, score, tokens.
void write_fields(JsonWriter& json, const OutputText& output);

/// {"positive": 0.9, ...}: of each label what `write_value` writes for its index.
template <class WriteValue>
void write_by_label(JsonWriter& json, const std::vector<std::string>& labels,
                    const WriteValue& write_value) {
  json.object([&] {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      json.key(labels[i]);
      write_value(i);
    }
  });
}

}  // namespace glassformer
