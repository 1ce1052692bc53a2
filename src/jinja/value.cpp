#include "jinja/value.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/strings/utf8.hpp"
#include "jinja/numbers.hpp"
#include "jinja/rendering.hpp"

namespace glassformer::jinja {
namespace {

// Returns a text in which each byte that is not UTF-8 is replaced.
std::string valid_utf8(std::string text) {
  if (is_valid_utf8(text)) return text;
  std::string valid;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t size = valid_character_size(rest);
    valid += size == 0 ? replacement_character : rest.substr(0, size);
    rest.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return valid;
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

std::uint32_t mixed(std::uint64_t number) {
  number ^= number >> 32;
  number *= 0x9E3779B97F4A7C15;
  return static_cast<std::uint32_t>(number >> 32) | 1;
}

std::uint32_t text_hash(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return mixed(hash);
}

// Returns the hash of a key. Equal keys have equal hashes.
std::uint32_t key_hash(Rendering& rendering, const Value& key) {
  switch (key.kind()) {
    case Kind::string:
      rendering.scan(key.string().size());
      return text_hash(key.string());
    case Kind::boolean:
    case Kind::integer:
      return mixed(static_cast<std::uint64_t>(key.integer()));
    case Kind::real: {
      std::int64_t whole = 0;
      const bool is_whole =
          truncate_to_integer(key.real(), whole) && static_cast<double>(whole) == key.real();
      return mixed(is_whole ? static_cast<std::uint64_t>(whole)
                            : std::bit_cast<std::uint64_t>(key.real()));
    }
    case Kind::tuple: {
      auto& tuple = key.object<List>();
      std::uint32_t hash = tuple.hash.load(std::memory_order_relaxed);
      if (hash != 0) return hash;
      rendering.step(tuple.items.size());
      hash = 1;
      for (const Value& item : tuple.items) {
        hash = mixed(std::uint64_t{hash} << 32 | key_hash(rendering, item));
      }
      tuple.hash.store(hash, std::memory_order_relaxed);
      return hash;
    }
    case Kind::list:
    case Kind::dict:
      rendering.fail({"unhashable type: '{}'", {type_name(key)}});
    case Kind::undefined:
    case Kind::none:
      return 1;
    case Kind::view:
    case Kind::range:
      rendering.fail({"keys of type '{}' are not supported", {type_name(key)}});
    default:
      return mixed(std::bit_cast<std::uintptr_t>(key.shared()));
  }
}

std::vector<Value> from_json_array(JsonValue json) {
  std::vector<Value> items;
  for (JsonEntries entry(json); entry.next();) items.push_back(from_json(entry.value()));
  return items;
}

Value from_json_number(std::string_view text) {
  const bool is_negative = text.front() == '-';
  if (text.find_first_of(".eE") != std::string_view::npos) {
    const double magnitude = parse_float(text.substr(is_negative));
    return is_negative ? -magnitude : magnitude;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw_error(ErrorCode::invalid_option,
                {"messages, variables: expected integers of at most 64 bits, got {}",
                 {shortened(std::string(text), 40)}});
  }
  return number;
}

template <class Items>
std::size_t deepest(const Items& items) {
  std::size_t depth = 0;
  for (const Value& item : items) depth = std::max(depth, item.depth());
  return depth;
}

}  // namespace

Value::Value(std::string text) : Value(Kind::string, new Text(valid_utf8(std::move(text)))) {}

Value Value::list(std::vector<Value> items) { return {Kind::list, new List(std::move(items))}; }

Value Value::tuple(std::vector<Value> items) { return {Kind::tuple, new List(std::move(items))}; }

Value Value::dict(std::vector<std::pair<std::string, Value>> entries) {
  auto* dict = new Dict;
  Value result(Kind::dict, dict);
  for (auto& [key, value] : entries) dict->add(Value(std::move(key)), std::move(value));
  return result;
}

Value::Value(const Value& other) noexcept : kind_(other.kind_), data_(other.data_) {
  if (is_shared()) data_.object->references_.fetch_add(1, std::memory_order_relaxed);
}

Value& Value::operator=(const Value& other) noexcept {
  *this = Value(other);
  return *this;
}

Value& Value::operator=(Value&& other) noexcept {
  std::swap(kind_, other.kind_);
  std::swap(data_, other.data_);
  return *this;
}

Value::~Value() {
  if (!is_shared()) return;
  Object* object = data_.object;
  if (object->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete object;
}

const Text& Value::text() const { return object<Text>(); }

std::string_view Value::string() const { return object<Text>().bytes; }

const std::vector<Value>& Value::items() const { return object<List>().items; }

const Dict& Value::entries() const { return object<Dict>(); }

Text::Text(std::string text) : bytes(std::move(text)), length(count_characters(bytes)) {}

List::List(std::vector<Value> values) : items(std::move(values)) { depth = deepest(items) + 1; }

template <class Same>
std::size_t Dict::position(std::uint32_t hash, const Same& same) const {
  if (table_.empty()) {
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
      if (hashes_[i] == hash && same(entries[i].key)) return i;
    }
    return entries.size();
  }
  for (std::size_t at = hash;; ++at) {
    const std::uint32_t index = table_[at & (table_.size() - 1)];
    if (index == 0) return entries.size();
    if (hashes_[index - 1] == hash && same(entries[index - 1].key)) return index - 1;
  }
}

const Value* Dict::find(std::string_view key) const {
  const std::size_t i = position(text_hash(key), [&](const Value& other) {
    return other.is_string() && other.string() == key;
  });
  return i < entries.size() ? &entries[i].value : nullptr;
}

const Value* Dict::find(Rendering& rendering, const Value& key) const {
  const std::size_t i = position(key_hash(rendering, key), [&](const Value& other) {
    return are_equal(rendering, other, key);
  });
  return i < entries.size() ? &entries[i].value : nullptr;
}

void Dict::set(Rendering& rendering, Value key, Value value) {
  const std::uint32_t hash = key_hash(rendering, key);
  const std::size_t i =
      position(hash, [&](const Value& other) { return are_equal(rendering, other, key); });
  depth = std::max(depth, value.depth() + 1);
  if (i < entries.size()) {
    entries[i].value = std::move(value);
  } else {
    add(std::move(key), std::move(value), hash);
  }
}

void Dict::add(Value key, Value value) {
  const std::uint32_t hash = text_hash(key.string());
  add(std::move(key), std::move(value), hash);
}

void Dict::add(Value key, Value value, std::uint32_t hash) {
  depth = std::max({depth, key.depth() + 1, value.depth() + 1});
  entries.push_back({std::move(key), std::move(value)});
  hashes_.push_back(hash);
  if (entries.size() <= 8) return;
  if (entries.size() * 2 <= table_.size()) {
    put_in_table(entries.size() - 1);
    return;
  }
  table_.assign(std::bit_ceil(entries.size() * 4), 0);
  for (std::size_t i = 0; i < entries.size(); ++i) put_in_table(i);
}

void Dict::put_in_table(std::size_t index) {
  std::size_t at = hashes_[index];
  while (table_[at & (table_.size() - 1)] != 0) ++at;
  table_[at & (table_.size() - 1)] = static_cast<std::uint32_t>(index + 1);
}

Value from_json(JsonValue json) {
  switch (json.type()) {
    case JsonValue::Type::null:
      return {};
    case JsonValue::Type::boolean:
      return json.text() == "true";
    case JsonValue::Type::number:
      return from_json_number(json.text());
    case JsonValue::Type::string:
      return json.string();
    case JsonValue::Type::array:
      return Value::list(from_json_array(json));
    case JsonValue::Type::object:
      break;
  }
  std::vector<std::pair<std::string, Value>> entries;
  for (JsonEntries entry(json); entry.next();) {
    entries.emplace_back(entry.key(), from_json(entry.value()));
  }
  return Value::dict(std::move(entries));
}

}  // namespace glassformer::jinja
