#include "text/token_template.hpp"

#include <limits>
#include <map>
#include <utility>

namespace glassformer {
namespace {

using PartKind = TemplatePart::Kind;
constexpr std::uint64_t max_id = std::numeric_limits<std::int32_t>::max();

std::int32_t read_id(const Component& component, const JsonValue& value, const char* key) {
  if (!value.is_whole() || value.whole() > max_id) component.fail(key, "a token id", value);
  return static_cast<std::int32_t>(value.whole());
}

// Reads a special token such as ["[SEP]", 102].
std::int32_t read_pair(Component& component, const char* key) {
  const JsonValue& value = component.require(key);
  std::int32_t id = -1;
  std::size_t count = 0;
  if (value.is_array()) {
    for_each_element(value, [&](const JsonValue& element) {
      if (++count == 2) id = read_id(component, element, key);
    });
  }
  if (count != 2) component.fail(key, "a token and its id", value);
  return id;
}

using SpecialIds = std::map<std::string, std::vector<std::int32_t>>;

SpecialIds read_special_tokens(Component& component) {
  const JsonValue& specials = component.require("special_tokens");
  if (!specials.is_object()) component.fail("special_tokens", "an object", specials);
  SpecialIds ids;
  for_each_field(specials, [&](std::string_view name, const JsonValue& value) {
    JsonObject special(value, tokenizer_json, component.path() + ": special_tokens");
    special.string("id");
    if (const JsonValue& tokens = special.require("tokens"); !tokens.is_array()) {
      special.fail("tokens", "an array", tokens);
    }
    const JsonValue& list = special.require("ids");
    if (!list.is_array()) special.fail("ids", "an array", list);
    for_each_element(list, [&](const JsonValue& id) {
      ids[std::string(name)].push_back(read_id(component, id, "special_tokens"));
    });
    special.finish();
  });
  return ids;
}

std::vector<TemplatePart> read_parts(Component& component, const char* key,
                                     const SpecialIds& specials) {
  const JsonValue& array = component.require(key);
  if (!array.is_array()) component.fail(key, "an array", array);
  std::vector<TemplatePart> parts;
  for_each_element(array, [&](const JsonValue& element) {
    const std::string path = component.path() + ": " + key;
    JsonObject part(element, tokenizer_json, path);
    const bool special = part.find("SpecialToken") != nullptr;
    JsonObject fields(part.require(special ? "SpecialToken" : "Sequence"), tokenizer_json, path);
    part.finish();
    const std::string id = fields.string("id");
    const auto type = static_cast<std::int32_t>(fields.integer("type_id", 0, max_id));
    fields.finish();
    if (special) {
      const auto found = specials.find(id);
      if (found == specials.end()) {
        fields.fail("id", {"expected one of special_tokens, got {}", {describe(id)}});
      }
      for (const std::int32_t each : found->second)
        parts.push_back({PartKind::special, each, type});
    } else if (id == "A" || (id == "B" && std::string_view(key) == "pair")) {
      parts.push_back({id == "A" ? PartKind::first_text : PartKind::second_text, 0, type});
    } else {
      fields.fail("id", {"expected \"A\" or, for a pair, \"B\", got {}", {describe(id)}});
    }
  });
  return parts;
}

// Except for ByteLevel and Sequence, the fields decide, not the type's name. "RobertaProcessing"
// without one of its flags is therefore treated as BERT's.
std::string type_of(const JsonValue& json, std::string_view path) {
  JsonObject fields(json, tokenizer_json, path);
  const auto has = [&](const char* key) { return present(fields.find(key)) != nullptr; };
  const auto has_flag = [&](const char* key) {
    const JsonValue* value = fields.find(key);
    return value && value->type() == JsonValue::Type::boolean;
  };
  if (has("sep") && has("cls")) {
    const bool trims = has_flag("trim_offsets") && has_flag("add_prefix_space");
    return trims ? "RobertaProcessing" : "BertProcessing";
  }
  if (has("single") && has("pair") && has("special_tokens")) return "TemplateProcessing";
  return fields.string("type");
}

void read(const JsonValue& json, std::string_view path, PostProcessor& result) {
  Component component(json, path, type_of(json, path));
  const std::string& type = component.type();
  component.find("type");
  const auto read_trimming = [&] {
    result.trim_offsets = component.boolean("trim_offsets");
    result.has_prefix = component.boolean("add_prefix_space");
  };
  if (type == "Sequence") {
    component.each("processors", [&](const JsonValue& element, std::string_view inner) {
      read(element, inner, result);
    });
  } else if (type == "TemplateProcessing") {
    const SpecialIds specials = read_special_tokens(component);
    result.around.single = read_parts(component, "single", specials);
    result.around.pair = read_parts(component, "pair", specials);
  } else if (type == "BertProcessing") {
    component.find("trim_offsets");
    component.find("add_prefix_space");
    result.around = surrounded(read_pair(component, "cls"), read_pair(component, "sep"),
                               Separator::once_with_types);
  } else if (type == "RobertaProcessing") {
    read_trimming();
    result.around =
        surrounded(read_pair(component, "cls"), read_pair(component, "sep"), Separator::twice);
  } else if (type == "ByteLevel") {
    read_trimming();
    component.boolean_unless_absent("use_regex", true);  // only relevant to the pre-tokenizer
  } else {
    component.refuse_type(
        "one of BertProcessing, ByteLevel, RobertaProcessing, Sequence, TemplateProcessing");
  }
  component.finish();
}

}  // namespace

TokenTemplate surrounded(std::int32_t first, std::int32_t last, Separator separator) {
  const bool twice = separator != Separator::once_with_types;
  const std::int32_t type = separator == Separator::twice ? 0 : 1;
  TokenTemplate result;
  result.single = {
      {PartKind::special, first, 0}, {PartKind::first_text, 0, 0}, {PartKind::special, last, 0}};
  result.pair = result.single;
  if (twice) result.pair.push_back({PartKind::special, last, 0});
  result.pair.push_back({PartKind::second_text, 0, type});
  result.pair.push_back({PartKind::special, last, type});
  return result;
}

PostProcessor read_post_processor(const JsonValue& json, std::string_view path) {
  PostProcessor result;
  read(json, path, result);
  return result;
}

}  // namespace glassformer
