#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/error_code.hpp"

// Composes the library's error messages.

namespace glassformer {

class Message;

/// The name of an option in a message, which spells it as the users of the program do: see
/// spelling.hpp.
struct Field {
  std::string_view name;
};

/// A value for a {} in a message: a text, a character, a whole number, an option's name or another
/// message.
class MessageValue {
 public:
  MessageValue(Field field)
      : kind_(Kind::field), data_(field.name.data()), number_(field.name.size()) {}
  MessageValue(const Message& message) : kind_(Kind::message), data_(&message) {}
  MessageValue(const char* text) : MessageValue(std::string_view(text)) {}
  MessageValue(const std::string& text) : MessageValue(std::string_view(text)) {}
  MessageValue(std::string_view text)
      : kind_(Kind::text), data_(text.data()), number_(text.size()) {}
  template <std::integral Number>
  MessageValue(Number number)
      : kind_(std::same_as<Number, char>     ? Kind::character
              : std::signed_integral<Number> ? Kind::signed_number
                                             : Kind::number),
        number_(static_cast<std::uint64_t>(number)) {}

  void append_to(std::string& text) const;

 private:
  enum class Kind : std::uint8_t { text, field, character, number, signed_number, message };

  Kind kind_;
  const void* data_ = nullptr;  ///< the characters, or the message
  std::uint64_t number_ = 0;    ///< the number, or the number of characters
};

/// A text, or a format with a value for each {}, composed when `text` or `append_to` is called.
/// Points to its arguments, so it must be used within one expression.
class Message {
 public:
  template <class Text>
  requires std::convertible_to<Text, std::string_view> Message(const Text& text) : text_(text) {}
  Message(const char* format, std::initializer_list<MessageValue> values)
      : text_(format), values_(values.begin(), values.size()) {}
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  void append_to(std::string& text) const;
  std::string text() const;

 private:
  std::string_view text_;
  std::span<const MessageValue> values_;
};

[[noreturn]] void throw_error(ErrorCode code, const Message& message);
/// Throws an error that carries the option's name and begins with it: "topP: expected 0 to 1".
[[noreturn]] void throw_error(ErrorCode code, Field field, const Message& problem);

}  // namespace glassformer
