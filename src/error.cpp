#include "error.hpp"

namespace glassformer {

void MessageValue::append_to(std::string& text) const {
  switch (kind_) {
    case Kind::text:
      text.append(static_cast<const char*>(data_), static_cast<std::size_t>(number_));
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

void throw_error(ErrorCode code, const Message& message) { throw Error(code, message.text()); }

}  // namespace glassformer
