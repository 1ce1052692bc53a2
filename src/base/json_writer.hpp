#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace glassformer {

/// Writes JSON text, one value after the other:
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
    lines,  ///< each field on a line of its own
  };

  explicit JsonWriter(Layout layout = Layout::compact) : layout_(layout) {}

  /// The name of the next value, in an object.
  void key(std::string_view key);

  void value(std::string_view string);
  void value(const char* string) { value(std::string_view(string)); }
  void value(bool boolean) { raw(boolean ? "true" : "false"); }
  void value(std::integral auto number) { raw(std::to_string(number)); }
  /// The shortest decimal that reads as this float again; null for infinities and NaN.
  void value(float number);

  void field(std::string_view name, const auto& content) {
    key(name);
    value(content);
  }

  /// An object whose fields `write_fields` writes.
  void object(const auto& write_fields) {
    open('{');
    write_fields();
    close('}');
  }

  /// An array of what `write_element` writes for each element of `range`.
  void array(auto&& range, const auto& write_element) {
    open('[');
    for (auto&& element : range) write_element(element);
    close(']');
  }

  /// An array whose elements `write_elements` writes.
  void array(const auto& write_elements) {
    open('[');
    write_elements();
    close(']');
  }

  /// A value that is JSON text already.
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
