#include "tasks/options.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "base/decimal.hpp"
#include "glassformer/output.hpp"

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

std::vector<std::size_t> OptionsReader::indices(const char* key, std::string_view expected) {
  std::vector<std::size_t> values;
  const JsonValue* array = find(key);
  if (!array) return values;
  if (!array->is_array()) fail(key, "an array", *array);
  for (JsonEntries entry(*array); entry.next();) {
    const JsonValue value = entry.value();
    if (!value.is_whole() || value.whole() > any_index) fail(key, expected, value);
    values.push_back(static_cast<std::size_t>(value.whole()));
  }
  return values;
}

std::vector<std::vector<std::size_t>> OptionsReader::index_lists(const char* key,
                                                                 const char* what) {
  std::vector<std::vector<std::size_t>> lists;
  const JsonValue* array = find(key);
  if (!array) return lists;
  if (!array->is_array()) fail(key, "an array", *array);
  for (JsonEntries list(*array); list.next();) {
    if (!list.value().is_array()) fail(key, "arrays within it", list.value());
    std::vector<std::size_t>& entries = lists.emplace_back();
    for (JsonEntries entry(list.value()); entry.next();) {
      const JsonValue& value = entry.value();
      if (!value.is_whole() || value.whole() > any_index) fail(key, what, value);
      entries.push_back(static_cast<std::size_t>(value.whole()));
    }
  }
  return lists;
}

std::vector<std::string> OptionsReader::names(const char* key) {
  std::vector<std::string> names;
  const JsonValue* array = find(key);
  if (!array) return names;
  if (!array->is_array()) fail(key, "an array", *array);
  for (JsonEntries entry(*array); entry.next();) {
    if (!entry.value().is_string() || names.emplace_back(entry.value().string()).empty()) {
      fail(key, "an array of nonempty strings", *array);
    }
  }
  return names;
}

std::vector<HeadIndex> OptionsReader::heads(const char* key, std::size_t sites) {
  static constexpr std::array names = {"encoder", "decoder", "cross"};
  std::vector<HeadIndex> heads;
  const JsonValue* array = find(key);
  if (!array) return heads;
  if (!array->is_array()) fail(key, "an array", *array);
  for (JsonEntries entry(*array); entry.next();) {
    OptionsReader head(entry.value(), key + ("[" + std::to_string(heads.size()) + "]"));
    const std::string name = head.string("attention");
    const auto known = names.begin() + static_cast<std::ptrdiff_t>(sites);
    const auto site = std::find(names.begin(), known, name);
    if (site == known) {
      head.fail("attention", sites == 1 ? "\"encoder\"" : "\"encoder\", \"decoder\" or \"cross\"",
                head.require("attention"));
    }
    heads.push_back({.layer = head.index("layer"),
                     .head = head.index("head"),
                     .attention = static_cast<AttentionSite>(site - names.begin())});
    head.finish();
  }
  return heads;
}

std::optional<std::vector<std::size_t>> OptionsReader::selection(const char* key) {
  if (!find(key)) return std::nullopt;
  return indices(key, "whole numbers");
}

std::vector<Patch> OptionsReader::patches(const char* key) {
  std::vector<Patch> patches;
  const JsonValue* array = find(key);
  if (!array) return patches;
  if (!array->is_array()) fail(key, "an array", *array);
  for (JsonEntries entry(*array); entry.next();) {
    const std::string path = key + ("[" + std::to_string(patches.size()) + "]");
    OptionsReader fields(entry.value(), path);
    Patch& patch = patches.emplace_back(Patch{.name = fields.string("name"),
                                              .tokens = fields.selection("tokens"),
                                              .heads = fields.selection("heads"),
                                              .keys = fields.selection("keys")});
    patch.value = numbers(fields, path + ".value", patch.shape, "value");
    fields.finish();
  }
  return patches;
}

std::vector<float> OptionsReader::numbers(JsonObject& owner, const std::string& path,
                                          std::vector<std::size_t>& shape, const char* key) {
  OptionsReader value(owner.require(key), path);
  shape = value.indices("shape", "sizes");
  const std::size_t offset = value.index("offset");
  value.finish();
  std::uint64_t count = 1;
  for (const std::size_t extent : shape) count = saturating_product({count, extent});
  if (offset > values_.size() || count > values_.size() - offset) {
    owner.fail(key, "numbers that are there", owner.require(key));
  }
  const std::span<const float> numbers = values_.subspan(offset, static_cast<std::size_t>(count));
  return {numbers.begin(), numbers.end()};
}

std::size_t OptionsReader::choose(const char* key, std::span<const std::string_view> known) {
  if (!find(key)) return 0;
  const auto found = std::ranges::find(known, string(key));
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  std::string list;
  for (const std::string_view name : known) list.append(list.empty() ? "" : ", ").append(name);
  fail(key, {"one of {}", {list}}, require(key));
}

std::vector<float> OptionsReader::numbers(const char* key) {
  std::vector<std::size_t> shape;
  return numbers(*this, key, shape, key);
}

std::optional<EarlyStopping> OptionsReader::stopping(const char* key) {
  const JsonValue* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_string()) return boolean(key) ? EarlyStopping::yes : EarlyStopping::no;
  if (value->string() != "never") fail(key, "true, false or \"never\"", *value);
  return EarlyStopping::never;
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
    refuse_option("maskTokens: expected one token at least to stay, got all of them");
  }
}

std::vector<Patch> with_ablations(std::vector<Patch> patches, const std::vector<HeadIndex>& heads) {
  for (const HeadIndex& head : heads) patches.push_back(ablation(head));
  return patches;
}

}  // namespace glassformer
