#include "base/error.hpp"

#include "base/spelling.hpp"
#include "base/strings/printable.hpp"

namespace glassformer {

void MessageValue::append_to(std::string& text) const {
  switch (kind_) {
    case Kind::text:
      text.append(static_cast<const char*>(data_), static_cast<std::size_t>(number_));
      break;
    case Kind::field:
      text += spelled({static_cast<const char*>(data_), static_cast<std::size_t>(number_)});
      break;
    case Kind::character:
      text += static_cast<char>(number_);
      break;
    case Kind::number:
      text += std::to_string(number_);
      break;
    case Kind::signed_number:
      text += std::to_string(static_cast<std::int64_t>(number_));
      break;
    case Kind::message:
      static_cast<const Message*>(data_)->append_to(text);
      break;
  }
}

void Message::append_to(std::string& text) const {
  std::string_view rest = text_;
  for (const MessageValue& value : values_) {
    const std::size_t place = rest.find("{}");
    text += rest.substr(0, place);
    value.append_to(text);
    rest.remove_prefix(place + 2);
  }
  text += rest;
}

std::string Message::text() const {
  std::string text;
  append_to(text);
  return text;
}

namespace {

constexpr std::size_t most_bytes = 4000;

// Returns the start of the character that contains the byte at `place`.
std::size_t start_of_character(std::string_view text, std::size_t place) {
  while (place > 0 && (static_cast<unsigned char>(text[place]) & 0xC0) == 0x80) --place;
  return place;
}

std::string shown(std::string_view message) {
  if (message.size() <= most_bytes) return printable(message);
  const std::size_t half = most_bytes / 2;
  const std::string_view begin = message.substr(0, start_of_character(message, half));
  const std::string_view end = message.substr(start_of_character(message, message.size() - half));
  return printable(begin) + " … " + printable(end);
}

}  // namespace

Error::Error(ErrorCode code, const std::string& message, const std::string& field)
    : std::runtime_error(shown(message)), code_(code), field_(field) {}

void throw_error(ErrorCode code, const Message& message) { throw Error(code, message.text()); }

void throw_error(ErrorCode code, Field field, const Message& problem) {
  throw Error(code, Message("{}: {}", {field, problem}).text(), spelled(field.name));
}

}  // namespace glassformer
