#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json.hpp"

// The values of a template: those of Python, as far as templates can create them. All are immutable
// except namespaces, iterators, loops, cyclers and joiners.

namespace glassformer::jinja {

enum class Kind : std::uint8_t {
  missing,  ///< a variable without a value; expressions never see it
  undefined,
  none,
  boolean,
  integer,
  real,
  string,
  list,
  tuple,
  dict,
  range,
  view,      ///< the keys, values or items of a dict
  iterator,  ///< yields each item once, such as the result of the filter `map`
  name_space,
  loop,
  macro,
  function,  ///< one of the global functions
  method,    ///< a method with its object
  cycler,
  joiner,
};

/// Counts the bytes of the values of a rendering.
struct Memory {
  std::size_t used = 0;
};

/// The part of a value that several values share.
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() {
    if (memory_) memory_->used -= bytes_;
  }

  /// Adds the object's bytes to `memory` until it is destroyed.
  void count_in(Memory& memory, std::size_t bytes) {
    memory_ = &memory;
    bytes_ = bytes;
    memory.used += bytes;
  }

  /// The number of containers within each other, this one included.
  std::size_t depth = 0;

 private:
  friend class Value;

  std::atomic<std::uint32_t> references_{1};
  Memory* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

struct Text;
struct List;
struct Dict;

/// One value. Copies share the same object.
class Value {
 public:
  /// None.
  Value() = default;
  Value(bool boolean) : kind_(Kind::boolean) { data_.integer = boolean; }
  Value(std::int64_t integer) : kind_(Kind::integer) { data_.integer = integer; }
  Value(double real) : kind_(Kind::real) { data_.real = real; }
  /// A text, which must be UTF-8.
  Value(std::string text);
  Value(const char* text) : Value(std::string(text)) {}
  /// Any other pointer would become a boolean.
  Value(const void*) = delete;

  static Value list(std::vector<Value> items);
  static Value tuple(std::vector<Value> items);
  /// Returns a dict with these keys and values, in this order. The keys must differ.
  static Value dict(std::vector<std::pair<std::string, Value>> entries);
  static Value missing() { return Value(Kind::missing, nullptr); }

  /// Takes over one reference to `object`.
  Value(Kind kind, Object* object) : kind_(kind) { data_.object = object; }

  // Copies and destructors are calls: there are thousands of them.
  [[gnu::noinline]] Value(const Value& other) noexcept;
  Value(Value&& other) noexcept
      : kind_(std::exchange(other.kind_, Kind::none)), data_(other.data_) {}
  [[gnu::noinline]] Value& operator=(const Value& other) noexcept;
  [[gnu::noinline]] Value& operator=(Value&& other) noexcept;
  [[gnu::noinline]] ~Value();

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_missing() const { return kind_ == Kind::missing; }
  bool is_undefined() const { return kind_ == Kind::undefined; }
  bool is_none() const { return kind_ == Kind::none; }
  bool is_string() const { return kind_ == Kind::string; }
  /// Returns whether this is an integer or a boolean, which Python counts among the integers.
  bool is_integral() const { return kind_ == Kind::integer || kind_ == Kind::boolean; }
  bool is_number() const { return is_integral() || kind_ == Kind::real; }
  /// Returns whether this is a list or a tuple.
  bool is_sequence() const { return kind_ == Kind::list || kind_ == Kind::tuple; }

  std::int64_t integer() const { return data_.integer; }
  double real() const { return data_.real; }
  const Text& text() const;
  std::string_view string() const;
  const std::vector<Value>& items() const;
  const Dict& entries() const;
  template <class Type>
  Type& object() const {
    return *static_cast<Type*>(data_.object);
  }
  /// The object, or null for values without one.
  const Object* shared() const { return is_shared() ? data_.object : nullptr; }
  std::size_t depth() const { return is_shared() ? data_.object->depth : 0; }
  /// Returns whether other values share the object.
  bool is_used_elsewhere() const { return is_shared() && data_.object->references_.load() > 1; }

 private:
  bool is_shared() const {
    return kind_ == Kind::undefined || (kind_ >= Kind::string && data_.object != nullptr);
  }
  union Data {
    std::int64_t integer;
    double real;
    Object* object;
  };
  Kind kind_ = Kind::none;
  Data data_{};
};

/// A text in UTF-8.
struct Text : Object {
  explicit Text(std::string text);

  std::string bytes;
  std::size_t length;      ///< its number of code points
  bool is_markup = false;  ///< whether the filters `safe` and `escape` mark it as HTML

  bool is_ascii() const { return length == bytes.size(); }
};

/// The items of a list or a tuple.
struct List : Object {
  explicit List(std::vector<Value> values);

  std::vector<Value> items;
  bool is_group = false;  ///< a result of `groupby`: its items are named `grouper` and `list`
  /// The hash of a tuple once it is known, which then is not 0.
  std::atomic<std::uint32_t> hash{0};
};

class Rendering;

/// The entries of a dict, in the order of their insertion.
struct Dict : Object {
  struct Entry {
    Value key, value;
  };

  const Value* find(std::string_view key) const;
  /// Returns the value of a key, or null. Fails if a dict cannot have such a key.
  const Value* find(Rendering& rendering, const Value& key) const;
  /// Adds an entry or replaces its value.
  void set(Rendering& rendering, Value key, Value value);
  /// Adds an entry for a text that is not yet a key.
  void add(Value key, Value value);

  std::vector<Entry> entries;

 private:
  template <class Same>
  std::size_t position(std::uint32_t hash, const Same& same) const;
  void add(Value key, Value value, std::uint32_t hash);
  void put_in_table(std::size_t index);

  std::vector<std::uint32_t> hashes_;  // of the entries
  std::vector<std::uint32_t> table_;   // of hashes: indices of `entries` plus 1, or 0
};

/// Returns the value of a JSON text that parse_json has checked. Throws if an integer does not fit
/// into 64 bits.
Value from_json(JsonValue json);

}  // namespace glassformer::jinja
