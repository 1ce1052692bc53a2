#include "io/json.hpp"

#include <algorithm>
#include <utility>

namespace glassformer {
namespace {

constexpr std::size_t max_depth = 32;
constexpr std::size_t max_described_bytes = 60;

// Builds the value from the parser's events; this is where duplicate keys can still be seen.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(JsonSource source) : source_(source) {}

  nlohmann::json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(nlohmann::json::object()); }
  bool start_array(std::size_t) override { return open(nlohmann::json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& value) override {
    if (stack_.back().value->contains(value)) {
      source_.fail(path() + describe(value) + " appears twice in one object");
    }
    stack_.back().key = std::move(value);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // Behind nlohmann's "[json.exception.parse_error.101] " is a readable sentence.
    const std::string_view what = error.what();
    const std::size_t tag = what.find("] ");
    const std::string_view reason = tag == what.npos ? what : what.substr(tag + 2);
    source_.fail("not valid JSON at byte " + std::to_string(position) + ": " + std::string(reason));
  }

 private:
  struct Level {
    nlohmann::json* value;
    std::string key;  // of the member being read, in an object
  };

  nlohmann::json* insert(nlohmann::json value) {
    if (stack_.empty()) return &(root_ = std::move(value));
    Level& level = stack_.back();
    if (level.value->is_array()) {
      level.value->push_back(std::move(value));
      return &level.value->back();
    }
    return &((*level.value)[level.key] = std::move(value));
  }

  bool add(nlohmann::json value) {
    insert(std::move(value));
    return true;
  }

  bool open(nlohmann::json container) {
    if (stack_.size() == max_depth) {
      source_.fail("nested deeper than " + std::to_string(max_depth) + " levels");
    }
    stack_.push_back({insert(std::move(container)), {}});
    return true;
  }

  bool close() {
    stack_.pop_back();
    return true;
  }

  std::string path() const {
    std::string result;
    for (std::size_t i = 0; i + 1 < stack_.size(); ++i) {
      if (stack_[i].value->is_object()) result += describe(stack_[i].key) + ": ";
    }
    return result;
  }

  JsonSource source_;
  nlohmann::json root_;
  std::vector<Level> stack_;
};

}  // namespace

void JsonSource::fail(const std::string& problem) const {
  throw Error(code, std::string(name) + ": " + problem);
}

nlohmann::json parse_json(std::string_view text, JsonSource source) {
  // The parser would take NUL for the end of the text and a byte order mark for nothing.
  const std::size_t nul = text.find('\0');
  if (nul != text.npos) {
    source.fail("not valid JSON at byte " + std::to_string(nul + 1) + ": a NUL byte");
  }
  if (text.substr(0, 3) == "\xEF\xBB\xBF") source.fail("starts with a byte order mark");
  Builder builder(source);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

JsonObject::JsonObject(const nlohmann::json& value, JsonSource source, std::string path)
    : value_(value), source_(source), path_(std::move(path)) {
  if (!value_.is_object()) fail({}, "expected an object, got " + describe(value_));
}

const nlohmann::json* JsonObject::find(const char* key) {
  known_.push_back(key);
  const auto found = value_.find(key);
  return found == value_.end() ? nullptr : &*found;
}

const nlohmann::json& JsonObject::require(const char* key) {
  const nlohmann::json* found = find(key);
  if (!found) fail(key, "missing");
  return *found;
}

bool JsonObject::boolean(const char* key) {
  const nlohmann::json& value = require(key);
  if (!value.is_boolean()) fail(key, "true or false", value);
  return value.get<bool>();
}

double JsonObject::number(const char* key) {
  const nlohmann::json& value = require(key);
  if (!value.is_number()) fail(key, "a number", value);
  return value.get<double>();
}

std::string JsonObject::string(const char* key) {
  const nlohmann::json& value = require(key);
  if (!value.is_string()) fail(key, "a string", value);
  return value.get<std::string>();
}

std::uint64_t JsonObject::integer(const char* key, std::uint64_t min, std::uint64_t max) {
  const nlohmann::json& value = require(key);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < min ||
      value.get<std::uint64_t>() > max) {
    fail(key, "a whole number from " + std::to_string(min) + " to " + std::to_string(max), value);
  }
  return value.get<std::uint64_t>();
}

void JsonObject::finish() const {
  for (const auto& [key, value] : value_.items()) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
      fail(describe(key), "unknown field");
    }
  }
}

void JsonObject::fail(std::string_view key, std::string_view expected,
                      const nlohmann::json& got) const {
  fail(key, "expected " + std::string(expected) + ", got " + describe(got));
}

void JsonObject::fail(std::string_view key, std::string_view problem) const {
  std::string message;
  if (!path_.empty()) message.append(path_).append(": ");
  if (!key.empty()) message.append(key).append(": ");
  source_.fail(message.append(problem));
}

std::string describe(const nlohmann::json& value) {
  if (value.is_structured() && value.size() > 8) {
    return (value.is_array() ? "an array of " : "an object of ") + std::to_string(value.size()) +
           " entries";
  }
  std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() <= max_described_bytes) return text;
  std::size_t end = max_described_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace glassformer
