#include "io/json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "io/json_writer.hpp"
#include "io/utf8.hpp"

namespace glassformer {
namespace {

constexpr std::size_t max_depth = 32;
constexpr std::size_t max_described_bytes = 60;

bool is_digit(char character) { return character >= '0' && character <= '9'; }

// Whether it stands for itself in a string: ASCII, and no quote, escape or control character.
bool is_plain(char character) {
  return character >= ' ' && character <= '~' && character != '"' && character != '\\';
}

// The double nearest to a number as JSON writes it, if it has at most 15 digits and is not very
// large or small; otherwise a few roundings away from that.
double to_double(std::string_view number) {
  double value = 0;
  int exponent = 0;
  bool fraction = false;
  std::size_t i = number.front() == '-' ? 1 : 0;
  for (; i < number.size() && number[i] != 'e' && number[i] != 'E'; ++i) {
    if (number[i] == '.') {
      fraction = true;
    } else if (value < 1e17) {
      value = value * 10 + (number[i] - '0');
      exponent -= fraction;
    } else {
      exponent += !fraction;  // digits beyond a double's precision
    }
  }
  if (i < number.size()) {
    constexpr int limit = 1'000'000'000;  // and more digits than that there are not
    i += number[i + 1] == '+' ? 2 : 1;
    int written = number[i] == '-' ? -limit : limit;  // stays so if it does not fit
    std::from_chars(number.data() + i, number.data() + number.size(), written);
    exponent += std::clamp(written, -limit, limit);
  }
  // A double holds powers of ten exactly up to the 22nd.
  while (exponent != 0 && value != 0 && std::isfinite(value)) {
    const int part = std::clamp(exponent, -22, 22);
    const double power = std::pow(10.0, std::abs(part));
    value = part > 0 ? value * power : value / power;
    exponent -= part;
  }
  return number.front() == '-' ? -value : value;
}

// One function for each kind of value; each starts at its first character.
class Parser {
 public:
  Parser(std::string_view text, JsonSource source) : text_(text), source_(source) {}

  JsonValue document() {
    JsonValue result = value();
    if (at_ < text_.size()) expected("nothing more");
    return result;
  }

 private:
  using Type = JsonValue::Type;

  JsonValue value() {
    skip_space();
    JsonValue result;
    const char first = peek();
    if (first == '{') {
      result.type = Type::object;
      members(result);
    } else if (first == '[') {
      result.type = Type::array;
      elements(result);
    } else if (first == '"') {
      result.type = Type::string;
      result.text = string();
    } else if (first == '-' || is_digit(first)) {
      result.type = Type::number;
      result.text = number();
    } else {
      result.type = first == 'n' ? Type::null : Type::boolean;
      result.text = word();
    }
    skip_space();
    return result;
  }

  void members(JsonValue& object) {
    if (open('}')) return;
    do {
      skip_space();
      if (peek() != '"') expected("a string, the name of a field");
      std::string key = string();
      if (object.members.contains(key)) {
        std::string path;
        for (const std::string& outer : path_) path += describe(outer) + ": ";
        source_.fail(path + describe(key) + " appears twice in one object");
      }
      skip_space();
      if (!take(':')) expected("':'");
      path_.push_back(key);
      object.members.emplace(std::move(key), value());
      path_.pop_back();
    } while (take(','));
    close('}');
  }

  void elements(JsonValue& array) {
    if (open(']')) return;
    do {
      array.elements.push_back(value());
    } while (take(','));
    close(']');
  }

  // Goes behind the opening bracket, and behind the closing one if it follows.
  bool open(char closing) {
    if (++depth_ > max_depth) {
      source_.fail("nested deeper than " + std::to_string(max_depth) + " levels");
    }
    ++at_;
    skip_space();
    if (peek() != closing) return false;
    close(closing);
    return true;
  }

  void close(char bracket) {
    if (!take(bracket)) expected(std::string("',' or '") + bracket + "'");
    --depth_;
  }

  std::string string() {
    std::string result;
    for (++at_; !take('"');) {
      const std::string_view rest = text_.substr(at_);
      if (rest.empty()) expected("the end of the string");
      if (rest.front() == '\\') {
        ++at_;
        append_escaped(result);
        continue;
      }
      std::size_t size = 0;
      while (size < rest.size() && is_plain(rest[size])) ++size;
      if (size == 0) size = valid_character_size(rest);
      if (size == 0) expected("UTF-8");
      if (static_cast<unsigned char>(rest.front()) < 0x20) expected("control characters escaped");
      result += rest.substr(0, size);
      at_ += size;
    }
    return result;
  }

  void append_escaped(std::string& result) {
    constexpr std::string_view names = "\"\\/bfnrt";
    constexpr std::string_view characters = "\"\\/\b\f\n\r\t";
    if (take('u')) {
      char32_t character = code_unit();
      const bool leads = character >= 0xD800 && character < 0xDC00;
      if (leads && take('\\') && take('u')) {
        const char32_t second = code_unit();
        const bool trails = second >= 0xDC00 && second < 0xE000;
        if (trails) character = 0x10000 + ((character & 0x3FFu) << 10) + (second & 0x3FFu);
      }
      if (character >= 0xD800 && character < 0xE000) expected("a pair of surrogates");
      append_character(result, character);
      return;
    }
    const std::size_t name = names.find(peek());
    if (name == names.npos) expected("an escape sequence");
    result += characters[name];
    ++at_;
  }

  // Four hexadecimal digits.
  char32_t code_unit() {
    const std::string_view digits = text_.substr(at_, 4);
    std::uint16_t unit = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16).ptr;
    if (digits.size() < 4 || end != digits.data() + 4) expected("four hexadecimal digits");
    at_ += 4;
    return unit;
  }

  std::string number() {
    const std::size_t begin = at_;
    take('-');
    if (!take('0')) digits();
    if (take('.')) digits();
    if (take('e') || take('E')) {
      if (!take('-')) take('+');
      digits();
    }
    const std::string_view number = text_.substr(begin, at_ - begin);
    // Without an exponent it takes hundreds of digits to be too large.
    const bool suspect = number.size() > 300 || number.find_first_of("eE") != number.npos;
    if (suspect && std::isinf(to_double(number))) {
      expected("a number that a double can hold, before this");
    }
    return std::string(number);
  }

  void digits() {
    if (!is_digit(peek())) expected("a digit");
    while (is_digit(peek())) ++at_;
  }

  std::string word() {
    for (const std::string_view word : {"true", "false", "null"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return std::string(word);
    }
    expected("a value");
  }

  void skip_space() {
    constexpr std::string_view space = " \t\n\r";
    while (at_ < text_.size() && space.find(text_[at_]) != space.npos) ++at_;
  }

  // NUL at the end, where no value has one.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char wanted) {
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void expected(const std::string& what) const {
    source_.fail("not valid JSON at byte " + std::to_string(at_ + 1) + ": expected " + what);
  }

  std::string_view text_;
  JsonSource source_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::vector<std::string> path_;  // keys of the objects around
};

void write(JsonWriter& json, const JsonValue& value) {
  if (value.is_object()) {
    json.object([&] {
      for (const auto& [key, member] : value.members) {
        json.key(key);
        write(json, member);
      }
    });
  } else if (value.is_array()) {
    json.array(value.elements, [&](const JsonValue& element) { write(json, element); });
  } else if (value.is_string()) {
    json.value(value.text);
  } else {
    json.raw(value.text);
  }
}

std::string shortened(std::string text) {
  if (text.size() <= max_described_bytes) return text;
  std::size_t end = max_described_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

}  // namespace

void JsonSource::fail(const std::string& problem) const {
  throw Error(code, std::string(name) + ": " + problem);
}

bool JsonValue::is_whole() const {
  std::uint64_t value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return type == Type::number && error == std::errc{} && end == text.data() + text.size();
}

std::uint64_t JsonValue::whole() const {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

JsonValue parse_json(std::string_view text, JsonSource source) {
  if (text.starts_with("\xEF\xBB\xBF")) source.fail("starts with a byte order mark");
  return Parser(text, source).document();
}

JsonObject::JsonObject(const JsonValue& value, JsonSource source, std::string path)
    : value_(value), source_(source), path_(std::move(path)) {
  if (!value_.is_object()) fail({}, "expected an object, got " + describe(value_));
}

const JsonValue* JsonObject::find(const char* key) {
  known_.push_back(key);
  const auto found = value_.members.find(key);
  return found == value_.members.end() ? nullptr : &found->second;
}

const JsonValue& JsonObject::require(const char* key) {
  const JsonValue* found = find(key);
  if (!found) fail(key, "missing");
  return *found;
}

bool JsonObject::boolean(const char* key) {
  const JsonValue& value = require(key);
  if (value.type != JsonValue::Type::boolean) fail(key, "true or false", value);
  return value.text == "true";
}

double JsonObject::number(const char* key) {
  const JsonValue& value = require(key);
  if (value.type != JsonValue::Type::number) fail(key, "a number", value);
  return to_double(value.text);
}

std::string JsonObject::string(const char* key) {
  const JsonValue& value = require(key);
  if (!value.is_string()) fail(key, "a string", value);
  return value.text;
}

std::uint64_t JsonObject::integer(const char* key, std::uint64_t min, std::uint64_t max) {
  const JsonValue& value = require(key);
  if (!value.is_whole() || value.whole() < min || value.whole() > max) {
    fail(key, "a whole number from " + std::to_string(min) + " to " + std::to_string(max), value);
  }
  return value.whole();
}

void JsonObject::finish() const {
  for (const auto& [key, value] : value_.members) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
      fail(describe(key), "unknown field");
    }
  }
}

void JsonObject::fail(std::string_view key, std::string_view expected, const JsonValue& got) const {
  fail(key, "expected " + std::string(expected) + ", got " + describe(got));
}

void JsonObject::fail(std::string_view key, std::string_view problem) const {
  std::string message;
  if (!path_.empty()) message.append(path_).append(": ");
  if (!key.empty()) message.append(key).append(": ");
  source_.fail(message.append(problem));
}

std::string describe(const JsonValue& value) {
  const std::size_t entries = value.elements.size() + value.members.size();
  if (entries > 8) {
    return (value.is_array() ? "an array of " : "an object of ") + std::to_string(entries) +
           " entries";
  }
  JsonWriter json;
  write(json, value);
  return shortened(json.take());
}

std::string describe(std::string_view string) {
  JsonWriter json;
  json.value(string);
  return shortened(json.take());
}

}  // namespace glassformer
