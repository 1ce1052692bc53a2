#include "tasks/result_writer.hpp"

#include <array>
#include <cstring>

namespace glassformer {
namespace {

constexpr std::string_view attention_prefix = "attention.";

std::string base64(const std::vector<float>& values) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = group << 8 | (j < count ? bytes[i + j] : 0u);
    for (std::size_t j = 0; j < 4; ++j) {
      text += j <= count ? digits[group >> (18 - 6 * j) & 63u] : '=';
    }
  }
  return text;
}

}  // namespace

void ResultWriter::put_beside(std::vector<TracedTensor> tensors, const std::string& path) {
  for (TracedTensor& tensor : tensors) {
    tensor.name.insert(0, path);
    beside_.push_back(std::move(tensor));
  }
}

void ResultWriter::tensors(std::vector<TracedTensor> tensors, std::string_view path) {
  static constexpr std::array axes = {"layers", "heads", "queries", "keys"};
  if (!embeds()) return put_beside(std::move(tensors), std::string(path));
  if (tensors.empty()) return;
  key("attention");
  object([&] {
    for (const TracedTensor& map : tensors) {
      key(std::string_view(map.name).substr(attention_prefix.size()));
      object([&] {
        for (std::size_t i = 0; i < axes.size(); ++i) field(axes[i], map.shape[i]);
        field("data", base64(map.data));
      });
    }
  });
}

void ResultWriter::trace(std::vector<TracedTensor> tensors, std::string_view path) {
  if (!embeds()) return put_beside(std::move(tensors), std::string(path) + "trace.");
  if (tensors.empty()) return;
  key("trace");
  object([&] {
    for (const TracedTensor& tensor : tensors) write_tensor(tensor);
  });
}

void ResultWriter::tensor(TracedTensor tensor) {
  if (embeds()) return write_tensor(tensor);
  beside_.push_back(std::move(tensor));
}

void ResultWriter::write_tensor(const TracedTensor& tensor) {
  key(tensor.name);
  object([&] {
    key("shape");
    array(tensor.shape, [&](std::size_t size) { value(size); });
    field("data", base64(tensor.data));
  });
}

void write(JsonWriter& json, const std::vector<InputToken>& tokens) {
  json.array(tokens, [&](const InputToken& token) {
    json.object([&] {
      json.field("id", token.id);
      json.field("text", token.text);
      json.field("start", token.start);
      json.field("end", token.end);
      if (token.sequence) json.field("sequence", std::size_t{*token.sequence});
    });
  });
}

void write(JsonWriter& json, const OutputToken& token) {
  json.object([&] {
    json.field("id", token.id);
    json.field("text", token.text);
    json.field("start", token.start);
    json.field("end", token.end);
    json.field("logprob", token.logprob);
  });
}

void write_fields(JsonWriter& json, const OutputText& output) {
  json.field("text", output.text);
  json.field("score", output.score);
  json.key("tokens");
  json.array(output.tokens, [&](const OutputToken& token) { write(json, token); });
}

}  // namespace glassformer
