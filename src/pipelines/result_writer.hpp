#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/json_writer.hpp"
#include "pipelines/pipeline.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// Writes a result as JSON, with its tensors in it or beside it.
class ResultWriter : public JsonWriter {
 public:
  explicit ResultWriter(ResultForm form) : embeds_(form == ResultForm::json) {}

  /// Whether tensors are in the JSON.
  bool embeds() const { return embeds_; }

  /// The fields of an object that hold its tensors: `attention`, {NAME: {layers, heads, queries,
  /// keys, data}} of those that are called "attention.NAME", and `trace`, {NAME: {shape, data}}, of
  /// the others; data is base64 of little-endian floats. Or no field, and "<path><name>" beside the
  /// JSON.
  void tensors(std::vector<TracedTensor> tensors, std::string_view path = {});

  Result take_result() { return {take(), std::move(beside_)}; }

 private:
  void attention(const TracedTensor& map);
  void traced(const TracedTensor& tensor);

  bool embeds_;
  std::vector<TracedTensor> beside_;
};

/// id, text, start, end
void write_fields(JsonWriter& json, const Token& token, const Tokenizer& tokenizer);
/// [{id, text, start, end}]
void write(JsonWriter& json, const std::vector<Token>& tokens, const Tokenizer& tokenizer);

/// The same, and of a pair's tokens `sequence`: 1 where `second` says so, else 0. Of one text,
/// `second` is empty.
void write_tokens(JsonWriter& json, const std::vector<Token>& tokens,
                  const std::vector<bool>& second, const Tokenizer& tokenizer);

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
