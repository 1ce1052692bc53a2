#include "base/json/json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/heap_sort.hpp"
#include "base/json/json_writer.hpp"
#include "base/strings/decimal.hpp"
#include "base/strings/mistaken.hpp"
#include "base/strings/utf8.hpp"

namespace glassformer {
namespace {

constexpr std::size_t max_depth = 32;
constexpr std::size_t max_described_bytes = 60;
constexpr std::size_t max_message_bytes = 1000;

bool is_digit(char character) { return character >= '0' && character <= '9'; }

// Returns whether the character needs no escape in a string and is ASCII.
bool is_plain(char character) {
  return character >= ' ' && character <= '~' && character != '"' && character != '\\';
}

bool is_space(char character) {
  return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}

// Checks a text, with one function per kind of value. Each function starts at the value's first
// character.
class Parser {
 public:
  Parser(std::string_view text, JsonSource source) : text_(text), source_(source) {}

  JsonValue document() {
    if (text_.size() > std::numeric_limits<std::uint32_t>::max()) source_.fail("over 4 GiB long");
    skip_space();
    const std::size_t begin = at_;
    value();
    const std::size_t end = at_;
    skip_space();
    if (at_ < text_.size()) expected("nothing more");
    return JsonValue(text_.substr(begin, end - begin));
  }

  // Moves past the string that starts here. Appends its characters to `into` unless that is null.
  void string(std::string* into) {
    for (++at_; !take('"');) {
      const std::string_view rest = text_.substr(at_);
      if (rest.empty()) expected("the end of the string");
      if (rest.front() == '\\') {
        ++at_;
        escaped(into);
        continue;
      }
      std::size_t size = 0;
      while (size < rest.size() && is_plain(rest[size])) ++size;
      if (size == 0) size = valid_character_size(rest);
      if (size == 0) expected("UTF-8");
      if (static_cast<unsigned char>(rest.front()) < 0x20) expected("control characters escaped");
      if (into) into->append(rest.substr(0, size));
      at_ += size;
    }
  }

 private:
  // A key of an object: the hash of its characters, by which it is sorted, in the upper half; its
  // position in the lower half.
  using Key = std::uint64_t;

  void value() {
    skip_space();
    const char first = peek();
    if (first == '{') {
      members();
    } else if (first == '[') {
      elements();
    } else if (first == '"') {
      string(nullptr);
    } else if (first == '-' || is_digit(first)) {
      number();
    } else {
      word();
    }
  }

  void members() {
    const std::size_t first_key = keys_.size();
    if (open('}')) return;
    do {
      skip_space();
      if (peek() != '"') expected("a string, the name of a field");
      path_.push_back(static_cast<std::uint32_t>(at_));
      add_key();
      skip_space();
      if (!take(':')) expected("':'");
      value();
      path_.pop_back();
      skip_space();
    } while (take(','));
    close('}');
    refuse_duplicates(first_key);
  }

  void elements() {
    if (open(']')) return;
    do {
      value();
      skip_space();
    } while (take(','));
    close(']');
  }

  // Moves past the opening bracket. If the closing one follows, moves past that and returns true.
  bool open(char closing) {
    if (++depth_ > max_depth) {
      source_.fail({"nested deeper than {} levels", {max_depth}});
    }
    ++at_;
    skip_space();
    if (peek() != closing) return false;
    close(closing);
    return true;
  }

  void close(char bracket) {
    if (!take(bracket)) expected({"',' or '{}'", {bracket}});
    --depth_;
  }

  void add_key() {
    const auto place = static_cast<std::uint32_t>(at_);
    key_.clear();
    string(&key_);
    std::uint32_t hash = 2166136261;  // FNV-1a
    for (const char byte : key_) hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619;
    keys_.push_back(Key{hash} << 32 | place);
  }

  // Checks the keys from `first` on, which belong to the object that just ended, and removes them.
  void refuse_duplicates(std::size_t first) {
    const auto begin = keys_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto before = [this](Key a, Key b) {
      return a >> 32 != b >> 32 ? a < b : string_at(a) < string_at(b);
    };
    heap_sort(begin, keys_.end(), before);
    const auto same = std::adjacent_find(begin, keys_.end(), [this](Key a, Key b) {
      return a >> 32 == b >> 32 && string_at(a) == string_at(b);
    });
    if (same != keys_.end()) {
      std::string path;
      for (const std::uint32_t outer : path_) path += describe(string_at(outer)) + ": ";
      source_.fail({"{}{} appears twice in one object", {path, describe(string_at(*same))}});
    }
    keys_.resize(first);
  }

  // Returns the characters of the string at the position in the lower half of `key`.
  std::string string_at(Key key) const {
    Parser parser(text_, source_);
    parser.at_ = static_cast<std::uint32_t>(key);
    std::string characters;
    parser.string(&characters);
    return characters;
  }

  void escaped(std::string* into) {
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
      if (into) append_character(*into, character);
      return;
    }
    const std::size_t name = names.find(peek());
    if (name == names.npos) expected("an escape sequence");
    if (into) *into += characters[name];
    ++at_;
  }

  // Reads four hexadecimal digits.
  char32_t code_unit() {
    const std::string_view digits = text_.substr(at_, 4);
    std::uint16_t unit = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16).ptr;
    if (digits.size() < 4 || end != digits.data() + 4) expected("four hexadecimal digits");
    at_ += 4;
    return unit;
  }

  void number() {
    const std::size_t begin = at_;
    take('-');
    if (!take('0')) digits();
    if (take('.')) digits();
    if (take('e') || take('E')) {
      if (!take('-')) take('+');
      digits();
    }
    const std::string_view number = text_.substr(begin, at_ - begin);
    // Without an exponent, a number needs hundreds of digits to be too large.
    const bool suspect = number.size() > 300 || number.find_first_of("eE") != number.npos;
    if (suspect && std::isinf(parse_decimal(number))) {
      expected("a number that a double can hold, before this");
    }
  }

  void digits() {
    if (!is_digit(peek())) expected("a digit");
    while (is_digit(peek())) ++at_;
  }

  void word() {
    for (const std::string_view word : {"true", "false", "null"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return;
    }
    expected("a value");
  }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  // Returns NUL at the end of the text; no value contains it.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char wanted) {
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void expected(const Message& what) const {
    source_.fail({"not valid JSON at byte {}: expected {}", {at_ + 1, what}});
  }

  std::string_view text_;
  JsonSource source_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::vector<std::uint32_t> path_;  // positions of the keys of the enclosing objects
  std::vector<Key> keys_;            // of the open objects, outermost first
  std::string key_;                  // the last key read
};

// The next three functions walk through valid text.

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (is_space(text[at])) ++at;
  return at;
}

std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; text[at] != '"'; ++at) at += text[at] == '\\';
  return at + 1;
}

std::size_t end_of_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  do {
    const char first = text[at];
    if (first == '"') {
      at = end_of_string(text, at);
    } else if (first == '{' || first == '[') {
      ++depth;
      ++at;
    } else if (first == '}' || first == ']') {
      --depth;
      ++at;
    } else if (depth > 0) {
      ++at;
    } else {
      at = std::min(text.find_first_of(",]} \t\n\r", at), text.size());
    }
  } while (depth > 0);
  return at;
}

void write(JsonWriter& json, JsonValue value) {
  const auto write_fields = [&] {
    for (JsonEntries entry(value); entry.next();) {
      if (value.is_object()) json.key(entry.key());
      write(json, entry.value());
    }
  };
  if (value.is_object()) {
    json.object(write_fields);
  } else if (value.is_array()) {
    json.array(write_fields);
  } else if (value.is_string()) {
    json.value(value.string());
  } else {
    json.raw(value.text());
  }
}

}  // namespace

void JsonSource::fail(const Message& problem, const std::string& field) const {
  const std::string message = Message("{}{}{}", {name, name.empty() ? "" : ": ", problem}).text();
  throw Error(code, shortened(message, max_message_bytes), field);
}

JsonValue::Type JsonValue::type() const {
  switch (text_.front()) {
    case '{':
      return Type::object;
    case '[':
      return Type::array;
    case '"':
      return Type::string;
    case 't':
    case 'f':
      return Type::boolean;
    case 'n':
      return Type::null;
    default:
      return Type::number;
  }
}

bool JsonValue::is_whole() const {
  std::uint64_t value;
  const char* const last = text_.data() + text_.size();
  const auto [end, error] = std::from_chars(text_.data(), last, value);
  return error == std::errc{} && end == last;
}

std::uint64_t JsonValue::whole() const {
  std::uint64_t value = 0;
  std::from_chars(text_.data(), text_.data() + text_.size(), value);
  return value;
}

double JsonValue::number() const { return parse_decimal(text_); }

std::string JsonValue::string() const {
  std::string characters;
  Parser(text_, {}).string(&characters);
  return characters;
}

JsonEntries::JsonEntries(JsonValue value) : text_(value.text()), object_(value.is_object()) {
  if (!object_ && !value.is_array()) {
    throw_error(ErrorCode::internal, {"entries of {}", {describe(value)}});
  }
}

bool JsonEntries::next() {
  at_ = skip_space(text_, at_ == 0 ? 1 : at_);
  if (text_[at_] == ',') at_ = skip_space(text_, at_ + 1);
  if (text_[at_] == ']' || text_[at_] == '}') return false;
  if (object_) {
    const std::size_t end = end_of_string(text_, at_);
    key_ = text_.substr(at_, end - at_);
    at_ = skip_space(text_, skip_space(text_, end) + 1);  // past the colon
  }
  const std::size_t end = end_of_value(text_, at_);
  value_ = text_.substr(at_, end - at_);
  at_ = end;
  return true;
}

std::size_t count_entries(JsonValue value) {
  std::size_t count = 0;
  if (!value.is_array() && !value.is_object()) return count;
  for (JsonEntries entry(value); entry.next();) ++count;
  return count;
}

JsonValue parse_json(std::string_view text, JsonSource source) {
  if (const std::string_view problem = mistaken_content(text); !problem.empty()) {
    source.fail(problem);
  }
  if (text.starts_with("\xEF\xBB\xBF")) source.fail("starts with a byte order mark");
  return Parser(text, source).document();
}

JsonObject::JsonObject(JsonValue value, JsonSource source, std::string_view path, std::size_t most)
    : source_(source), path_(path) {
  if (!value.is_object()) fail({}, {"expected an object, got {}", {describe(value)}});
  for (JsonEntries entry(value); entry.next();) {
    if (fields_.size() == most) {
      fail({}, {"expected at most {} fields, got {}", {most, count_entries(value)}});
    }
    fields_.push_back({.key = entry.key(), .value = entry.value()});
  }
}

const JsonValue* JsonObject::find(std::string_view key) {
  for (Field& field : fields_) {
    if (field.key != key) continue;
    field.known = true;
    return &field.value;
  }
  return nullptr;
}

const JsonValue& JsonObject::require(std::string_view key) {
  const JsonValue* found = find(key);
  if (!found) fail(key, "missing");
  return *found;
}

bool JsonObject::boolean(std::string_view key, JsonValue value) const {
  if (value.type() != JsonValue::Type::boolean) fail(key, "true or false", value);
  return value.text() == "true";
}

double JsonObject::number(std::string_view key, JsonValue value) const {
  if (value.type() != JsonValue::Type::number) fail(key, "a number", value);
  return value.number();
}

float JsonObject::float_number(std::string_view key, JsonValue value) const {
  constexpr double too_large = 0x1.ffffffp127;  // from here on nearer to infinity than to a float
  const double result = number(key, value);
  if (!(std::abs(result) < too_large)) fail(key, "a number within the range of floats", value);
  return static_cast<float>(result);
}

float JsonObject::fraction(std::string_view key, JsonValue value) const {
  const double read = number(key, value);
  const float result = read > 0 && read <= 1 ? static_cast<float>(read) : 0;
  if (!(result > 0)) fail(key, "a number above 0, at most 1", value);
  return result;
}

std::string JsonObject::string(std::string_view key, JsonValue value) const {
  if (!value.is_string()) fail(key, "a string", value);
  return value.string();
}

std::uint64_t JsonObject::integer(std::string_view key, JsonValue value, std::uint64_t min,
                                  std::uint64_t max) const {
  if (!value.is_whole() || value.whole() < min || value.whole() > max) {
    fail(key, {"a whole number from {} to {}", {min, max}}, value);
  }
  return value.whole();
}

void JsonObject::finish() const {
  for (const Field& field : fields_) {
    if (!field.known) fail(describe(field.key), "unknown field");
  }
}

void JsonObject::fail(std::string_view key, const Message& expected, JsonValue got) const {
  fail(key, {"expected {}, got {}", {expected, describe(got)}});
}

void JsonObject::fail(std::string_view key, const Message& problem) const {
  std::string field = path_;
  field.append(path_.empty() || key.empty() ? "" : ": ").append(key);
  source_.fail({"{}{}{}", {field, field.empty() ? "" : ": ", problem}}, field);
}

std::string describe(JsonValue value) {
  const std::size_t entries = count_entries(value);
  if (entries > 8) {
    return (value.is_array() ? "an array of " : "an object of ") + std::to_string(entries) +
           " entries";
  }
  if (value.text().size() > max_message_bytes) {
    return "a value of " + std::to_string(value.text().size()) + " bytes";
  }
  JsonWriter json;
  write(json, value);
  return shortened(json.take(), max_described_bytes);
}

std::string describe(std::string_view string) {
  JsonWriter json;
  json.value(string.substr(0, max_message_bytes));
  return shortened(json.take(), max_described_bytes);
}

std::string shortened(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

}  // namespace glassformer
