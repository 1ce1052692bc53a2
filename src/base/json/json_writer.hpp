#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace glassformer {

/// Writes JSON text, one value after another:
///
///   JsonWriter json;
///   json.object([&] {
///     json.field("id", 3);
///     json.key("words");
///     json.array(words, [&](const std::string& word) { json.value(word); });
///   });
///   return json.take();
class JsonWriter {
 public:
  enum class Layout {
    compact,
    lines,  ///< each field on its own line
  };

  explicit JsonWriter(Layout layout = Layout::compact) : layout_(layout) {}

  /// Writes the name of the next value in an object.
  void key(std::string_view key);

  void value(std::string_view string);
  void value(const char* string) { value(std::string_view(string)); }
  void value(bool boolean) { raw(boolean ? "true" : "false"); }
  void value(std::integral auto number) { raw(std::to_string(number)); }
  /// Writes the shortest decimal that reads back as this float, or null for infinities and NaN.
  void value(float number);

  void field(std::string_view name, const auto& content) {
    key(name);
    value(content);
  }

  /// Writes an object. `write_fields` writes its fields.
  void object(const auto& write_fields) {
    open('{');
    write_fields();
    close('}');
  }

  /// Writes an array. `write_element` writes the value for each element of `range`.
  void array(auto&& range, const auto& write_element) {
    open('[');
    for (auto&& element : range) write_element(element);
    close(']');
  }

  /// Writes an array. `write_elements` writes its elements.
  void array(const auto& write_elements) {
    open('[');
    write_elements();
    close(']');
  }

  /// Writes a value that already is JSON text.
  void raw(std::string_view json);

  std::string take() { return std::move(text_); }

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();
  void start_line();
  void append_quoted(std::string_view string);

  Layout layout_;
  std::size_t depth_ = 0;
  std::string text_;
};

}  // namespace glassformer
