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

/// Reads the options of a call from JSON. All of them are optional. A struct of options names its
/// fields once, in a function `fields(visit, options)` that calls `visit(name, option)` for each of
/// them, with a rule if the option allows less than its type. Throws `invalid_option`, naming the
/// option.
class OptionsReader : public JsonObject {
 public:
  /// The data that `options` refers to must outlive this object.
  explicit OptionsReader(const TaskOptions& options);
  /// Reads an option that is itself an object.
  OptionsReader(JsonValue value, std::string_view path);

  void operator()(const char* key, bool& option);
  void operator()(const char* key, std::size_t& option, std::size_t least = 0);
  void operator()(const char* key, float& option);
  void operator()(const char* key, std::string& option);
  /// Reads nonempty strings.
  void operator()(const char* key, std::vector<std::string>& option);
  /// Reads numbers. `expected` describes them in errors.
  void operator()(const char* key, std::vector<std::size_t>& option, std::string_view expected);
  void operator()(const char* key, std::vector<std::int32_t>& option, std::string_view expected);
  /// Reads an array of arrays of numbers.
  void operator()(const char* key, std::vector<std::vector<std::size_t>>& option,
                  std::string_view expected);
  void operator()(const char* key, std::vector<std::vector<std::int32_t>>& option,
                  std::string_view expected);
  /// Reads [{"attention": "encoder" | "decoder" | "cross", "layer": int, "head": int}].
  void operator()(const char* key, std::vector<HeadIndex>& option);
  /// Reads [{"name", "tokens"?: [int], "heads"?: [int], "keys"?: [int], "value": NUMBERS}].
  void operator()(const char* key, std::vector<Patch>& option);
  /// Reads NUMBERS, which is {"shape": [int], "offset": int}: as many numbers of
  /// TaskOptions::values as the shape has elements, starting at `offset`.
  void operator()(const char* key, std::vector<float>& option);
  /// Reads an array of two numbers.
  void operator()(const char* key, std::array<std::size_t, 2>& option, std::string_view expected);
  /// Reads a number below 2^53, the limit of JavaScript's whole numbers.
  void seed(const char* key, std::optional<std::uint64_t>& option);
  /// Reads one of the names in enum_names<Enum>.
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(const char* key, Enum& option) {
    if (find(key)) option = static_cast<Enum>(find_name(key, require(key), enum_names<Enum>));
  }
  /// Reads true, false or "never".
  void operator()(const char* key, EarlyStopping& option);
  /// Reads an object with options of its own.
  template <class Options>
  requires requires(OptionsReader reader, Options options) { fields(reader, options); }
  void operator()(const char* key, Options& option) {
    OptionsReader reader(require(key), key);
    reader.values_ = values_;
    fields(reader, option);
    reader.finish();
  }
  /// Reads an option that stays unset if it is absent.
  template <class Option, class... Rule>
  void operator()(const char* key, std::optional<Option>& option, const Rule&... rule) {
    if (find(key)) (*this)(key, option.emplace(), rule...);
  }

  /// Reads true or false, or an object with options.
  template <class Options>
  void flag_or_options(const char* key, std::optional<Options>& option) {
    const JsonValue* value = find(key);
    if (value && (value->is_object() || boolean(key))) option.emplace();
    if (value && value->is_object()) (*this)(key, *option);
  }
  /// Reads one of the names in enum_names<Enum>, or an array of several.
  template <class Enum>
  void one_or_several(const char* key, std::vector<Enum>& option) {
    const JsonValue* value = find(key);
    if (!value) return;
    const auto add = [&](JsonValue name) {
      const std::size_t i = find_name(key, name, enum_names<Enum>, " or several of them");
      option.push_back(static_cast<Enum>(i));
    };
    if (!value->is_array()) return add(*value);
    for (JsonEntries entry(*value); entry.next();) add(entry.value());
  }

  /// Reads an array of objects with options of their own.
  template <class Options>
  void each(const char* key, std::optional<std::vector<Options>>& option) {
    const JsonValue* array = find_array(key);
    if (!array) return;
    std::vector<Options>& options = option.emplace();
    for (JsonEntries entry(*array); entry.next();) {
      OptionsReader reader(entry.value(), key + ("[" + std::to_string(options.size()) + "]"));
      reader.values_ = values_;
      fields(reader, options.emplace_back());
      reader.finish();
    }
  }
  /// Reads a field that each element of such an array must have.
  void required(const char* key, std::size_t& option) { option = index(key); }
  std::size_t index(const char* key, std::size_t least = 0);

 private:
  // Returns the array of this name; null if it is absent.
  const JsonValue* find_array(const char* key);
  // Returns the index of a string among the known ones. `others` names what else is allowed.
  std::size_t find_name(const char* key, JsonValue value, EnumNames known,
                        std::string_view others = {}) const;
  template <class Number>
  void read_numbers(const char* key, JsonValue array, std::string_view expected,
                    std::vector<Number>& numbers);
  template <class Number>
  void read_lists(const char* key, std::string_view expected,
                  std::vector<std::vector<Number>>& lists);
  std::vector<float> values_of(JsonObject& owner, const std::string& path,
                               std::vector<std::size_t>& shape, const char* key);

  std::span<const float> values_;
};

/// Reads the options of a call.
template <class Options>
Options read_options(const TaskOptions& task) {
  OptionsReader reader(task);
  Options options;
  fields(reader, options);
  reader.finish();
  return options;
}

/// Throws `invalid_option`.
[[noreturn]] void refuse_option(const Message& problem);
/// Throws `invalid_option` unless the option's number is in this range.
void expect_between(const char* option, float least, float most, float got);
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
