#include "pipelines/options.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace glassformer {
namespace {

constexpr JsonSource source = {ErrorCode::invalid_option, "options"};
constexpr std::uint64_t any_index = std::numeric_limits<std::uint32_t>::max();

}  // namespace

OptionsReader::OptionsReader(std::string_view json)
    : JsonObject(parse_json(json, source), source) {}

OptionsReader::OptionsReader(JsonValue value, std::string path)
    : JsonObject(value, source, std::move(path)) {}

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

}  // namespace glassformer
