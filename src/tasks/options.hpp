#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "glassformer/output.hpp"
#include "models/config.hpp"
#include "run/trace.hpp"

namespace glassformer {

/// What a call is asked for: the task's own options as JSON, and the numbers that they point to.
struct TaskOptions {
  template <std::convertible_to<std::string_view> Json>
  TaskOptions(const Json& text, std::span<const float> numbers = {})
      : json(text), values(numbers) {}

  std::string_view json;
  std::span<const float> values;
};

/// Reads the options of a call, every one of which may be absent. Throws `invalid_option` naming
/// the option.
class OptionsReader : public JsonObject {
 public:
  /// What `options` points to outlives this.
  explicit OptionsReader(const TaskOptions& options);
  /// An option that is an object itself.
  OptionsReader(JsonValue value, std::string_view path);

  bool flag(const char* key) { return find(key) && boolean(key); }
  std::size_t index(const char* key, std::size_t least = 0);
  /// The indices in an array; `expected` says what they are.
  std::vector<std::size_t> indices(const char* key, std::string_view expected);
  /// The ids in each array of an array.
  std::vector<std::vector<std::size_t>> index_lists(const char* key, const char* what);
  /// The nonempty strings in an array.
  std::vector<std::string> names(const char* key);
  /// [{"attention": "encoder", "layer": int, "head": int}], of the first `sites` of encoder,
  /// decoder and cross.
  std::vector<HeadIndex> heads(const char* key, std::size_t sites);
  /// [{"name", "tokens"?: [int], "heads"?: [int], "keys"?: [int], "value": {"shape": [int],
  /// "offset": int}}]: a value is so many of TaskOptions::values from `offset` on.
  std::vector<Patch> patches(const char* key);
  /// The place among the known ones of an option's string; 0 where the option is absent.
  std::size_t choose(const char* key, std::span<const std::string_view> known);
  /// {"shape": [int], "offset": int}: so many of TaskOptions::values from `offset` on.
  std::vector<float> numbers(const char* key);
  /// true, false or "never".
  std::optional<EarlyStopping> stopping(const char* key);

 private:
  // Those of a field of `owner`, and their shape.
  std::vector<float> numbers(JsonObject& owner, const std::string& path,
                             std::vector<std::size_t>& shape, const char* key);
  std::optional<std::vector<std::size_t>> selection(const char* key);

  std::span<const float> values_;
};

/// Throws `invalid_option`.
[[noreturn]] void refuse_option(const Message& problem);
/// Throws `invalid_option` unless the option's number is in this range.
void expect_between(const char* option, float least, float most, float got);
/// Throws `invalid_option` unless a search may follow so many hypotheses.
void expect_beams(std::size_t beams);
/// Throws `invalid_option` unless the stack has the head.
void expect_head(const char* option, std::size_t layer, std::size_t head, const StackConfig& stack);
/// Throws `invalid_option` unless the positions are among so many tokens, of which one at least is
/// left.
void expect_mask(std::size_t tokens, std::span<const std::size_t> positions);

/// The patches, and those by which these heads are ablated.
std::vector<Patch> with_ablations(std::vector<Patch> patches, const std::vector<HeadIndex>& heads);

}  // namespace glassformer
