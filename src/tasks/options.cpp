#include "tasks/options.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "api/output.hpp"
#include "base/strings/decimal.hpp"

namespace glassformer {
namespace {

constexpr JsonSource source = {ErrorCode::invalid_option, {}};
constexpr std::uint64_t any_index = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void refuse_option(const Message& problem) { throw_error(ErrorCode::invalid_option, problem); }

void refuse_option(const char* option, const Message& problem) {
  throw_error(ErrorCode::invalid_option, Field(option), problem);
}

void expect_between(const char* option, double least, double most, double got) {
  if (got >= least && got <= most) return;
  const auto decimal = [](double number) { return shortest_decimal(static_cast<float>(number)); };
  if (most == Option::any) {
    refuse_option(option, {"expected at least {}, got {}", {decimal(least), decimal(got)}});
  }
  refuse_option(option,
                {"expected {} to {}, got {}", {decimal(least), decimal(most), decimal(got)}});
}

void expect_finite(const char* option, double got) {
  if (std::isfinite(got)) return;
  refuse_option(option, {"expected a finite number, got {}",
                         {std::isnan(got) ? "NaN"
                          : got > 0       ? "infinity"
                                          : "-infinity"}});
}

OptionsReader::OptionsReader(const TaskOptions& options)
    : JsonObject(parse_json(options.json, source), source), values_(options.values) {}

OptionsReader::OptionsReader(JsonValue value, std::string_view path, std::span<const float> values)
    : JsonObject(value, source, path), values_(values) {}

bool OptionsReader::seek(const char* name) {
  key_ = json_key(name);
  return find(key_) != nullptr;
}

void OptionsReader::required(const char* name, std::size_t& option) {
  const std::string key = json_key(name);
  require(key);
  option = static_cast<std::size_t>(whole(key, Option::any));
}

std::uint64_t OptionsReader::whole(const std::string& key, double most) {
  const bool large = most > static_cast<double>(any_index) && most != Option::any;
  return integer(key, 0, large ? static_cast<std::uint64_t>(most) : any_index);
}

JsonValue OptionsReader::array(const std::string& key, std::string_view expected) {
  const JsonValue value = require(key);
  if (!value.is_array()) fail(key, expected, value);
  return value;
}

std::size_t OptionsReader::name_in(const std::string& key, JsonValue value, EnumNames known,
                                   std::string_view others) const {
  std::string list;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (value.is_string() && value.string() == known[i]) return i;
    list.append(list.empty() ? "" : ", ").append(known[i]);
  }
  fail(key, {"one of {}{}", {list, others}}, value);
}

std::uint32_t OptionsReader::number_in(const std::string& key, JsonValue value,
                                       const char* expected) const {
  if (!value.is_whole() || value.whole() > any_index) fail(key, expected, value);
  return static_cast<std::uint32_t>(value.whole());
}

std::vector<float> OptionsReader::values_of(const std::string& path, JsonValue value,
                                            std::vector<std::size_t>& shape) {
  OptionsReader reader(value, path, values_);
  reader("shape", shape, {.items = "sizes"});
  std::size_t offset = 0;
  reader.required("offset", offset);
  reader.finish();
  std::uint64_t count = 1;
  for (const std::size_t extent : shape) count = saturating_product({count, extent});
  if (offset > values_.size() || count > values_.size() - offset) {
    JsonObject(value, source).fail(path, "a range of the given numbers", value);
  }
  const std::span<const float> numbers = values_.subspan(offset, static_cast<std::size_t>(count));
  return {numbers.begin(), numbers.end()};
}

void OptionsReader::read(EarlyStopping& option, Limits) {
  const JsonValue value = require(key_);
  if (!value.is_string()) {
    option = boolean(key_) ? EarlyStopping::yes : EarlyStopping::no;
    return;
  }
  if (value.string() != "never") fail(key_, "true, false or \"never\"", value);
  option = EarlyStopping::never;
}

void OptionsReader::read(std::array<std::size_t, 2>& option, Limits limits) {
  std::vector<std::size_t> numbers;
  read(numbers, limits);
  if (numbers.size() != option.size()) fail(key_, limits.items, require(key_));
  std::ranges::copy(numbers, option.begin());
}

void OptionsReader::read(std::vector<std::string>& option, Limits) {
  const JsonValue texts = array(key_);
  option.clear();
  for (JsonEntries entry(texts); entry.next();) {
    if (!entry.value().is_string() || option.emplace_back(entry.value().string()).empty()) {
      fail(key_, "an array of nonempty strings", texts);
    }
  }
}

void OptionsReader::read(std::vector<float>& option, Limits) {
  std::vector<std::size_t> shape;
  option = values_of(key_, require(key_), shape);
}

void OptionsReader::read(std::vector<HeadIndex>& option, Limits) {
  static constexpr std::array names = {"encoder", "decoder", "cross"};
  for (JsonEntries entry(array(key_)); entry.next();) {
    OptionsReader head(entry.value(), indexed(key_, option.size()), values_);
    const std::string name = head.string("attention");
    const auto site = std::ranges::find(names, name);
    if (site == names.end()) {
      head.fail("attention", "\"encoder\", \"decoder\" or \"cross\"", head.require("attention"));
    }
    HeadIndex& index = option.emplace_back();
    index.attention = static_cast<AttentionSite>(site - names.begin());
    head.required("layer", index.layer);
    head.required("head", index.head);
    head.finish();
  }
}

void OptionsReader::read(std::vector<Patch>& option, Limits) {
  for (JsonEntries entry(array(key_)); entry.next();) {
    const std::string path = indexed(key_, option.size());
    OptionsReader reader(entry.value(), path, values_);
    Patch& patch = option.emplace_back();
    patch.name = reader.string("name");
    reader("tokens", patch.tokens, {.items = "whole numbers"});
    reader("heads", patch.heads, {.items = "whole numbers"});
    reader("keys", patch.keys, {.items = "whole numbers"});
    const auto read = [&](const char* field) {
      patch.value = values_of(path + "." + field, reader.require(field), patch.shape);
    };
    const bool adds = reader.find("add"), removes = !adds && reader.find("remove");
    if (adds || removes) {
      patch.kind = adds ? PatchKind::add : PatchKind::remove;
      read(adds ? "add" : "remove");
      reader("scale", patch.scale);
      reader("from", patch.from);
    } else {
      read("value");
    }
    reader.finish();
  }
}

void expect_beams(std::size_t beams) {
  expect_between("beams", 1, max_beams, static_cast<double>(beams));
}

void expect_head(const char* option, std::size_t layer, std::size_t head,
                 const StackConfig& stack) {
  if (layer < stack.layers.size() && head < stack.n_heads()) return;
  refuse_option(option, {"expected layers below {} and heads below {}, got layer {}, head {}",
                         {stack.layers.size(), stack.n_heads(), layer, head}});
}

void expect_mask(std::size_t tokens, std::span<const std::size_t> positions) {
  std::vector<bool> masked(tokens, false);
  for (const std::size_t position : positions) {
    if (position >= tokens) {
      refuse_option("mask_tokens", {"expected positions below {}, got {}", {tokens, position}});
    }
    masked[position] = true;
  }
  if (!positions.empty() && std::ranges::find(masked, false) == masked.end()) {
    refuse_option("mask_tokens", "expected at least one token to stay, got all of them");
  }
}

std::vector<Patch> with_ablations(std::vector<Patch> patches, const std::vector<HeadIndex>& heads) {
  for (const HeadIndex& head : heads) patches.push_back(ablation(head));
  return patches;
}

}  // namespace glassformer
