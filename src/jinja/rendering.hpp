#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "jinja/limits.hpp"
#include "jinja/value.hpp"

namespace glassformer::jinja {

/// What every part of a rendering needs: the current line, for errors, and what is left of the
/// limits. Values that a template creates are created here.
class Rendering {
 public:
  explicit Rendering(const Limits& limits) : limits_(limits), steps_left_(limits.steps) {}

  [[noreturn]] void fail(const char* problem) const;
  [[noreturn]] void fail(const Message& problem) const;
  [[noreturn]] void fail(ErrorCode code, const Message& problem) const;
  /// Fails because of a limit: "expected at most MOST THINGS".
  [[noreturn]] void fail_limit(const char* things, std::uint64_t most) const;

  /// Counts evaluated nodes or visited items.
  void step(std::size_t count = 1);
  /// Counts bytes that are read or copied.
  void scan(std::size_t bytes);
  /// Throws if values have no space for so many more bytes. To be called before large texts and
  /// lists are made.
  void expect_space(std::size_t bytes) const;
  /// Throws if a result or a captured text has more bytes than a result may have.
  void expect_output(std::size_t bytes) const;

  Value string(std::string text);
  /// Returns a text that the filters `safe` and `escape` mark as HTML.
  Value markup(std::string text);
  Value list(std::vector<Value> items) { return sequence(Kind::list, std::move(items)); }
  Value tuple(std::vector<Value> items) { return sequence(Kind::tuple, std::move(items)); }
  Value count(std::size_t number) const { return static_cast<std::int64_t>(number); }
  /// Returns the value with this object, of which it becomes the owner. `bytes` is its size;
  /// `contents` is the depth of the values that it contains.
  Value own(Kind kind, Object* object, std::size_t bytes, std::size_t contents);
  /// Ends the construction of a dict.
  Value own(Dict* dict);

  std::uint32_t line = 1;
  std::size_t depth = 0;  ///< of the evaluation

 protected:
  Limits limits_;
  Memory memory_;

 private:
  Value sequence(Kind kind, std::vector<Value> items);

  std::uint64_t steps_left_;
};

/// Counts one more level of the evaluation, as long as it exists.
class Level {
 public:
  explicit Level(Rendering& rendering);
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  ~Level() { --rendering_.depth; }

 private:
  Rendering& rendering_;
};

/// Returns the name of a value's type in Python.
const char* type_name(const Value& value);

/// Returns Python's bool(value).
bool is_true(const Value& value);

/// Returns Python's a == b.
bool are_equal(Rendering& rendering, const Value& a, const Value& b);
/// Returns a negative number, 0 or a positive number if a < b, a == b or a > b. Fails if Python
/// cannot order them; the message contains `sign`. NaN is greater than and equal to nothing: then
/// returns `unordered`.
inline constexpr int unordered = 2;
int compare(Rendering& rendering, const Value& a, const Value& b, const char* sign);

/// Returns Python's len(value), or -1 if it has none.
std::int64_t length_of(const Value& value);

/// Returns the message of jinja2 for the use of an undefined value.
std::string undefined_message(const Value& value);

/// Returns Python's str(value) and repr(value).
std::string text_of(Rendering& rendering, const Value& value);
std::string repr_of(Rendering& rendering, const Value& value);
/// Returns repr(value) with the keys of dicts in ascending order.
std::string sorted_repr_of(Rendering& rendering, const Value& value);
/// Returns repr(text) of a text in UTF-8.
std::string quoted(std::string_view text);

/// The options of Python's json.dumps.
struct JsonStyle {
  bool ascii = false;
  bool sorted = false;
  bool indented = false;
  std::string indent;  ///< of one level
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};
std::string json_of(Rendering& rendering, const Value& value, const JsonStyle& style);

/// Why a variable, an attribute or an item is undefined.
struct Undefined : Object {
  Value name;
  const char* owner = nullptr;  ///< the type of the object that lacks it, or null for a variable
  bool is_unsafe = false;       ///< whether the sandbox forbids the attribute
  std::string message;          ///< replaces the others if it is not empty
};

/// A range of integers.
struct Range : Object {
  std::int64_t start = 0, stop = 0, step = 1;
  std::int64_t length = 0;

  /// Computes without a sign, because i * step may not fit although the result does.
  std::int64_t operator[](std::int64_t i) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(start) +
                                     static_cast<std::uint64_t>(i) *
                                         static_cast<std::uint64_t>(step));
  }
};

/// The keys, values or items of a dict.
struct View : Object {
  enum class Part : std::uint8_t { keys, values, items };

  Value dict;
  Part part = Part::keys;
};

struct NameSpace : Object {
  Value attributes;  // a dict that only this namespace changes
};

struct Cycler : Object {
  std::vector<Value> items;
  std::size_t position = 0;
};

struct Joiner : Object {
  Value separator;
  bool used = false;
};

/// Whether a text is marked as HTML.
bool is_markup(const Value& value);

}  // namespace glassformer::jinja
