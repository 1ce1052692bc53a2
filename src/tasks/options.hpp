#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "base/json/json.hpp"
#include "base/option.hpp"
#include "base/spelling.hpp"
#include "families/config/early_stopping.hpp"
#include "models/config.hpp"
#include "run/trace/trace.hpp"

namespace glassformer {

/// The options of a call: those of the task as JSON, and the numbers that they refer to.
struct TaskOptions {
  template <std::convertible_to<std::string_view> Json>
  TaskOptions(const Json& text, std::span<const float> numbers = {})
      : json(text), values(numbers) {}

  std::string_view json;
  std::span<const float> values;
};

/// Throws `invalid_option`.
[[noreturn]] void refuse_option(const Message& problem);
/// Throws `invalid_option`, with the option's name. `problem`: "expected …, got …".
[[noreturn]] void refuse_option(const char* option, const Message& problem);
/// Throws `invalid_option` unless the option's number is in this range.
void expect_between(const char* option, double least, double most, double got);

/// Throws `invalid_option` for an option that is infinite or not a number.
void expect_finite(const char* option, double got);

/// A visitor of no meaning, to find out what has fields.
struct AnyVisitor {
  template <class... Arguments>
  void operator()(const char* name, Arguments&&... arguments) const;
  void required(const char* name, std::size_t& option) const;
};

/// A struct of options: one that names its fields in a function `fields(visit, options)`.
template <class Options>
concept HasFields = requires(AnyVisitor& visit, Options& options) {
  fields(visit, options);
};

/// Reads the options of a call from JSON; see base/option.hpp. All of them are optional. Throws
/// `invalid_option`, naming the option, for one that does not exist or is of the wrong type.
/// `check_ranges` looks at the numbers.
class OptionsReader : public JsonObject {
 public:
  /// The data that `options` refers to must outlive this object.
  explicit OptionsReader(const TaskOptions& options);
  /// Reads an option that is itself an object.
  OptionsReader(JsonValue value, std::string_view path, std::span<const float> values);

  // Inlined, so that of `about` only what is used is compiled: there are hundreds of calls.
  template <class Value>
  [[gnu::always_inline]] void operator()(const char* name, Value& option,
                                         const Option& about = {}) {
    if (seek(name)) read(option, {about.most, about.items});
  }
  /// Reads a field that must be there.
  void required(const char* name, std::size_t& option);

 private:
  // What an option may be.
  struct Limits {
    double most;
    const char* items;
  };

  // Makes an option the current one. Returns whether it is given.
  bool seek(const char* name);

  void read(bool& option, Limits) { option = boolean(key_); }
  void read(float& option, Limits) { option = float_number(key_); }
  void read(std::string& option, Limits) { option = string(key_); }
  template <std::unsigned_integral Number>
  void read(Number& option, Limits limits) {
    option = static_cast<Number>(whole(key_, limits.most));
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void read(Enum& option, Limits) {
    option = static_cast<Enum>(name_in(key_, require(key_), enum_names<Enum>));
  }
  /// Reads true, false or "never".
  void read(EarlyStopping& option, Limits);
  /// Reads an array of two numbers.
  void read(std::array<std::size_t, 2>& option, Limits limits);
  /// Reads nonempty strings.
  void read(std::vector<std::string>& option, Limits);
  /// Reads NUMBERS, which is {"shape": [int], "offset": int}: as many numbers of
  /// TaskOptions::values as the shape has elements, starting at `offset`.
  void read(std::vector<float>& option, Limits);
  template <std::integral Number>
  void read(std::vector<Number>& option, Limits limits) {
    read_numbers(key_, require(key_), limits.items, option);
  }
  template <std::integral Number>
  void read(std::vector<std::vector<Number>>& option, Limits limits) {
    for (JsonEntries list(array(key_, "an array of arrays")); list.next();) {
      if (!list.value().is_array()) fail(key_, "an array of arrays", list.value());
      read_numbers(key_, list.value(), limits.items, option.emplace_back());
    }
  }
  /// Reads [{"attention": "encoder" | "decoder" | "cross", "layer": int, "head": int}].
  void read(std::vector<HeadIndex>& option, Limits);
  /// Reads [{"name", "tokens"?: [int], "heads"?: [int], "keys"?: [int], "value": NUMBERS}], or with
  /// "add" or "remove" in place of "value", and "scale"? and "from"?.
  void read(std::vector<Patch>& option, Limits);
  /// Reads one name, or an array of several.
  template <class Enum>
  requires std::is_enum_v<Enum>
  void read(std::vector<Enum>& option, Limits) {
    const JsonValue value = require(key_);
    const auto add = [&](JsonValue name) {
      const std::size_t i = name_in(key_, name, enum_names<Enum>, " or several of them");
      option.push_back(static_cast<Enum>(i));
    };
    if (!value.is_array()) return add(value);
    for (JsonEntries entry(value); entry.next();) add(entry.value());
  }
  /// Reads an array of objects with fields of their own.
  template <HasFields Options>
  void read(std::vector<Options>& option, Limits) {
    for (JsonEntries entry(array(key_)); entry.next();) {
      OptionsReader reader(entry.value(), indexed(key_, option.size()), values_);
      fields(reader, option.emplace_back());
      reader.finish();
    }
  }
  template <class Value>
  void read(std::optional<Value>& option, Limits limits) {
    read(option.emplace(), limits);
  }
  /// Reads true or false, or an object with options.
  template <HasFields Options>
  void read(std::optional<Options>& option, Limits) {
    const JsonValue value = require(key_);
    if (!value.is_object()) {
      if (boolean(key_)) option.emplace();
      return;
    }
    OptionsReader reader(value, key_, values_);
    fields(reader, option.emplace());
    reader.finish();
  }

  static std::string indexed(const std::string& key, std::size_t index) {
    return key + "[" + std::to_string(index) + "]";
  }
  // Returns a number up to `most`, or up to 2^32 - 1.
  std::uint64_t whole(const std::string& key, double most);
  JsonValue array(const std::string& key, std::string_view expected = "an array");
  // Returns the index of a string among the known ones. `others` names what else is allowed.
  std::size_t name_in(const std::string& key, JsonValue value, EnumNames known,
                      std::string_view others = {}) const;
  // Reads numbers that an error calls `expected`.
  template <std::integral Number>
  void read_numbers(const std::string& key, JsonValue from, const char* expected,
                    std::vector<Number>& numbers) {
    if (!from.is_array()) fail(key, "an array", from);
    for (JsonEntries entry(from); entry.next();) {
      numbers.push_back(static_cast<Number>(number_in(key, entry.value(), expected)));
    }
  }
  std::uint32_t number_in(const std::string& key, JsonValue value, const char* expected) const;
  std::vector<float> values_of(const std::string& path, JsonValue value,
                               std::vector<std::size_t>& shape);

  std::string key_;  // of the current option
  std::span<const float> values_;
};

/// Looks at the numbers of options. Throws `invalid_option`, naming the option.
class OptionsCheck {
 public:
  template <class Value>
  [[gnu::always_inline]] void operator()(const char* name, const Value& option,
                                         const Option& about = {}) {
    if constexpr (std::is_arithmetic_v<Value> && !std::same_as<Value, bool>) {
      if (about.least != -Option::any || about.most != Option::any)
        expect_between(name, about.least, about.most, static_cast<double>(option));
      if constexpr (std::floating_point<Value>) expect_finite(name, static_cast<double>(option));
    }
  }
  template <class Value>
  [[gnu::always_inline]] void operator()(const char* name, const std::optional<Value>& option,
                                         const Option& about = {}) {
    if (option) (*this)(name, *option, about);
  }
  void required(const char*, std::size_t) {}
};

/// Throws `invalid_option` for an option that is out of its range.
template <class Options>
void check_ranges(const Options& options) {
  OptionsCheck check;
  fields(check, const_cast<Options&>(options));  // which only reads them
}

/// Reads the options of a call.
template <class Options>
Options read_options(const TaskOptions& task) {
  OptionsReader reader(task);
  Options options;
  fields(reader, options);
  reader.finish();
  return options;
}

/// Throws `invalid_option` unless a search may have this many beams.
void expect_beams(std::size_t beams);
/// Throws `invalid_option` unless the stack has the head.
void expect_head(const char* option, std::size_t layer, std::size_t head, const StackConfig& stack);
/// Throws `invalid_option` unless all positions are below `tokens` and at least one token is not
/// masked.
void expect_mask(std::size_t tokens, std::span<const std::size_t> positions);

/// Returns the patches, followed by those that ablate `heads`.
std::vector<Patch> with_ablations(std::vector<Patch> patches, const std::vector<HeadIndex>& heads);

}  // namespace glassformer
