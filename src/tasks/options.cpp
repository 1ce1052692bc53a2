#include "tasks/options.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "api/output.hpp"
#include "base/strings/decimal.hpp"

namespace glassformer {
namespace {

constexpr JsonSource source = {ErrorCode::invalid_option, "options"};
constexpr std::uint64_t any_index = std::numeric_limits<std::uint32_t>::max();

}  // namespace

OptionsReader::OptionsReader(const TaskOptions& options)
    : JsonObject(parse_json(options.json, source), source), values_(options.values) {}

OptionsReader::OptionsReader(JsonValue value, std::string_view path)
    : JsonObject(value, source, path) {}

std::size_t OptionsReader::index(const char* key, std::size_t least) {
  return static_cast<std::size_t>(integer(key, least, any_index));
}

const JsonValue* OptionsReader::find_array(const char* key) {
  const JsonValue* array = find(key);
  if (array && !array->is_array()) fail(key, "an array", *array);
  return array;
}

void OptionsReader::operator()(const char* key, bool& option) {
  if (find(key)) option = boolean(key);
}

void OptionsReader::operator()(const char* key, std::size_t& option, std::size_t least) {
  if (find(key)) option = index(key, least);
}

void OptionsReader::operator()(const char* key, float& option) {
  if (find(key)) option = float_number(key);
}

void OptionsReader::operator()(const char* key, std::string& option) {
  if (find(key)) option = string(key);
}

void OptionsReader::seed(const char* key, std::optional<std::uint64_t>& option) {
  constexpr std::uint64_t most = (std::uint64_t{1} << 53) - 1;
  if (find(key)) option = integer(key, 0, most);
}

void OptionsReader::operator()(const char* key, std::vector<std::string>& option) {
  const JsonValue* array = find_array(key);
  if (!array) return;
  option.clear();
  for (JsonEntries entry(*array); entry.next();) {
    if (!entry.value().is_string() || option.emplace_back(entry.value().string()).empty()) {
      fail(key, "an array of nonempty strings", *array);
    }
  }
}

template <class Number>
void OptionsReader::read_numbers(const char* key, JsonValue array, std::string_view expected,
                                 std::vector<Number>& numbers) {
  for (JsonEntries entry(array); entry.next();) {
    const JsonValue value = entry.value();
    if (!value.is_whole() || value.whole() > any_index) fail(key, expected, value);
    numbers.push_back(static_cast<Number>(value.whole()));
  }
}

void OptionsReader::operator()(const char* key, std::vector<std::size_t>& option,
                               std::string_view expected) {
  const JsonValue* array = find_array(key);
  if (!array) return;
  read_numbers(key, *array, expected, option);
}

void OptionsReader::operator()(const char* key, std::vector<std::int32_t>& option,
                               std::string_view expected) {
  const JsonValue* array = find_array(key);
  if (!array) return;
  read_numbers(key, *array, expected, option);
}

template <class Number>
void OptionsReader::read_lists(const char* key, std::string_view expected,
                               std::vector<std::vector<Number>>& lists) {
  const JsonValue* array = find_array(key);
  if (!array) return;
  for (JsonEntries list(*array); list.next();) {
    if (!list.value().is_array()) fail(key, "an array of arrays", list.value());
    read_numbers(key, list.value(), expected, lists.emplace_back());
  }
}

void OptionsReader::operator()(const char* key, std::vector<std::vector<std::size_t>>& option,
                               std::string_view expected) {
  read_lists(key, expected, option);
}

void OptionsReader::operator()(const char* key, std::vector<std::vector<std::int32_t>>& option,
                               std::string_view expected) {
  read_lists(key, expected, option);
}

void OptionsReader::operator()(const char* key, std::array<std::size_t, 2>& option,
                               std::string_view expected) {
  std::vector<std::size_t> numbers;
  (*this)(key, numbers, expected);
  if (numbers.size() != option.size()) fail(key, expected, require(key));
  std::ranges::copy(numbers, option.begin());
}

void OptionsReader::operator()(const char* key, std::vector<HeadIndex>& option) {
  static constexpr std::array names = {"encoder", "decoder", "cross"};
  const JsonValue* array = find_array(key);
  if (!array) return;
  for (JsonEntries entry(*array); entry.next();) {
    OptionsReader head(entry.value(), key + ("[" + std::to_string(option.size()) + "]"));
    const std::string name = head.string("attention");
    const auto site = std::ranges::find(names, name);
    if (site == names.end()) {
      head.fail("attention", "\"encoder\", \"decoder\" or \"cross\"", head.require("attention"));
    }
    option.push_back({.layer = head.index("layer"),
                      .head = head.index("head"),
                      .attention = static_cast<AttentionSite>(site - names.begin())});
    head.finish();
  }
}

void OptionsReader::operator()(const char* key, std::vector<Patch>& option) {
  const JsonValue* array = find_array(key);
  if (!array) return;
  for (JsonEntries entry(*array); entry.next();) {
    const std::string path = key + ("[" + std::to_string(option.size()) + "]");
    OptionsReader reader(entry.value(), path);
    Patch& patch = option.emplace_back();
    patch.name = reader.string("name");
    reader("tokens", patch.tokens, "whole numbers");
    reader("heads", patch.heads, "whole numbers");
    reader("keys", patch.keys, "whole numbers");
    patch.value = values_of(reader, path + ".value", patch.shape, "value");
    reader.finish();
  }
}

std::vector<float> OptionsReader::values_of(JsonObject& owner, const std::string& path,
                                            std::vector<std::size_t>& shape, const char* key) {
  OptionsReader value(owner.require(key), path);
  value("shape", shape, "sizes");
  const std::size_t offset = value.index("offset");
  value.finish();
  std::uint64_t count = 1;
  for (const std::size_t extent : shape) count = saturating_product({count, extent});
  if (offset > values_.size() || count > values_.size() - offset) {
    owner.fail(key, "a range of the given numbers", owner.require(key));
  }
  const std::span<const float> numbers = values_.subspan(offset, static_cast<std::size_t>(count));
  return {numbers.begin(), numbers.end()};
}

void OptionsReader::operator()(const char* key, std::vector<float>& option) {
  std::vector<std::size_t> shape;
  if (find(key)) option = values_of(*this, key, shape, key);
}

void OptionsReader::operator()(const char* key, EarlyStopping& option) {
  const JsonValue* value = find(key);
  if (!value) return;
  if (!value->is_string()) {
    option = boolean(key) ? EarlyStopping::yes : EarlyStopping::no;
    return;
  }
  if (value->string() != "never") fail(key, "true, false or \"never\"", *value);
  option = EarlyStopping::never;
}

std::size_t OptionsReader::find_name(const char* key, JsonValue value, EnumNames known,
                                     std::string_view others) const {
  std::string list;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (value.is_string() && value.string() == known[i]) return i;
    list.append(list.empty() ? "" : ", ").append(known[i]);
  }
  fail(key, {"one of {}{}", {list, others}}, value);
}

void refuse_option(const Message& problem) { throw_error(ErrorCode::invalid_option, problem); }

void expect_between(const char* option, float least, float most, float got) {
  if (got >= least && got <= most) return;
  refuse_option({"{}: expected {} to {}, got {}",
                 {option, shortest_decimal(least), shortest_decimal(most), shortest_decimal(got)}});
}

void expect_beams(std::size_t beams) {
  if (beams >= 1 && beams <= max_beams) return;
  refuse_option({"beams: expected 1 to {}, got {}", {max_beams, beams}});
}

void expect_head(const char* option, std::size_t layer, std::size_t head,
                 const StackConfig& stack) {
  if (layer < stack.layers.size() && head < stack.n_heads()) return;
  refuse_option({"{}: expected layers below {} and heads below {}, got layer {}, head {}",
                 {option, stack.layers.size(), stack.n_heads(), layer, head}});
}

void expect_mask(std::size_t tokens, std::span<const std::size_t> positions) {
  std::vector<bool> masked(tokens, false);
  for (const std::size_t position : positions) {
    if (position >= tokens) {
      refuse_option({"maskTokens: expected positions below {}, got {}", {tokens, position}});
    }
    masked[position] = true;
  }
  if (!positions.empty() && std::ranges::find(masked, false) == masked.end()) {
    refuse_option("maskTokens: expected at least one token to stay, got all of them");
  }
}

std::vector<Patch> with_ablations(std::vector<Patch> patches, const std::vector<HeadIndex>& heads) {
  for (const HeadIndex& head : heads) patches.push_back(ablation(head));
  return patches;
}

}  // namespace glassformer
