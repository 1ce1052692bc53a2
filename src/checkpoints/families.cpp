#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "checkpoints/family.hpp"
#include "io/limits.hpp"
#include "linked.hpp"

namespace glassformer {

// The registry: a new family is a file beside this one, and a name here.
extern const Family bert, distilbert, roberta, gpt2, marian, t5, bergamot;

namespace {

constexpr std::array readers = {&bert, &distilbert, &roberta};
constexpr std::array writers = {&gpt2, &marian, &t5};
constexpr std::array containers = {&bergamot};  // they write

using Families = std::span<const Family* const>;

std::array<Families, 2> linked() {
  return {links_readers() ? Families(readers) : Families(),
          links_writers() ? Families(writers) : Families()};
}

// A field that is a text, of a file that is a JSON object; else nothing.
std::string text_in(const FolderFile& file, std::string_view name, const char* key) {
  const std::optional<std::string_view> text = file(name);
  if (!text) return {};
  const JsonSource source{ErrorCode::invalid_config, name};
  const JsonValue json = parse_json(*text, source);
  JsonObject object(json, source, {}, HubConfig::most_fields);
  const JsonValue* value = object.find(key);
  return value && value->is_string() ? value->string() : std::string();
}

// Whether a class, "GPT2TokenizerFast", begins with a type, "gpt2", whatever its capitals and
// hyphens.
bool is_of(std::string_view tokenizer_class, std::string_view model_type) {
  std::size_t at = 0;
  for (const char letter : model_type) {
    if (letter == '-') continue;
    if (at == tokenizer_class.size() || (tokenizer_class[at] | 32) != (letter | 32)) return false;
    ++at;
  }
  return true;
}

}  // namespace

const Family& find_family(std::string_view model_type, bool own_code) {
  std::string known;
  for (const Families families : linked()) {
    for (const Family* family : families) {
      if (std::ranges::find(family->model_types, model_type) != family->model_types.end()) {
        return *family;
      }
      for (const std::string_view type : family->model_types) {
        known.append(known.empty() ? "\"" : ", \"").append(type).append("\"");
      }
    }
  }
  expect_linked(false);
  expect_linked(true);
  throw_error(ErrorCode::unsupported,
              {"config.json: model_type: expected one of {}, got {}; a model of another "
               "architecture cannot be read, whatever its file format{}",
               {known, describe(model_type),
                own_code ? "; Python code of its own (auto_map) is not run here" : ""}});
}

Surroundings surroundings_in(const FolderFile& file) {
  const std::string model_type = text_in(file, config_limit.name, "model_type");
  const std::string tokenizer_class =
      model_type.empty() ? text_in(file, "tokenizer_config.json", "tokenizer_class") : "";
  for (const Families families : linked()) {
    for (const Family* family : families) {
      for (const std::string_view type : family->model_types) {
        if (model_type != type && (tokenizer_class.empty() || !is_of(tokenizer_class, type))) {
          continue;
        }
        return surroundings_of(*family);
      }
    }
  }
  return Surroundings::unknown;
}

const Family* find_container(ModelFiles& files, FolderFiles& found) {
  if (!links_writers()) return nullptr;
  for (const Family* family : containers) {
    if (auto theirs = family->container->find(files)) {
      found = std::move(*theirs);
      return family;
    }
  }
  return nullptr;
}

}  // namespace glassformer
