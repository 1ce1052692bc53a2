#include "pipelines/result_writer.hpp"

#include <algorithm>
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

bool is_attention(const TracedTensor& tensor) { return tensor.name.starts_with(attention_prefix); }

}  // namespace

void ResultWriter::tensors(std::vector<TracedTensor> tensors, std::string_view path) {
  if (!embeds_) {
    for (TracedTensor& tensor : tensors) {
      tensor.name.insert(0, path);
      beside_.push_back(std::move(tensor));
    }
    return;
  }
  const auto write = [&](const char* name, bool attention) {
    if (std::ranges::find(tensors, attention, is_attention) == tensors.end()) return;
    key(name);
    object([&] {
      for (const TracedTensor& tensor : tensors) {
        if (is_attention(tensor) != attention) continue;
        attention ? this->attention(tensor) : traced(tensor);
      }
    });
  };
  write("attention", true);
  write("trace", false);
}

void ResultWriter::attention(const TracedTensor& map) {
  static constexpr std::array axes = {"layers", "heads", "queries", "keys"};
  key(std::string_view(map.name).substr(attention_prefix.size()));
  object([&] {
    for (std::size_t i = 0; i < axes.size(); ++i) field(axes[i], map.shape[i]);
    field("data", base64(map.data));
  });
}

void ResultWriter::traced(const TracedTensor& tensor) {
  key(tensor.name);
  object([&] {
    key("shape");
    array(tensor.shape, [&](std::size_t size) { value(size); });
    field("data", base64(tensor.data));
  });
}

void write_fields(JsonWriter& json, const Token& token, const Tokenizer& tokenizer) {
  json.field("id", token.id);
  json.field("text", tokenizer.display_text(token.id));
  json.field("start", token.start);
  json.field("end", token.end);
}

void write(JsonWriter& json, const std::vector<Token>& tokens, const Tokenizer& tokenizer) {
  json.array(tokens, [&](const Token& token) {
    json.object([&] { write_fields(json, token, tokenizer); });
  });
}

void write_tokens(JsonWriter& json, const std::vector<Token>& tokens,
                  const std::vector<bool>& second, const Tokenizer& tokenizer) {
  std::size_t i = 0;
  json.array(tokens, [&](const Token& token) {
    json.object([&] {
      write_fields(json, token, tokenizer);
      if (!second.empty()) json.field("sequence", std::size_t{second[i++] ? 1u : 0u});
    });
  });
}

}  // namespace glassformer
