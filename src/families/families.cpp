#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "base/limits.hpp"
#include "families/linked.hpp"

namespace glassformer {

const Family& find_family(std::string_view model_type, bool own_code) {
  std::string known;
  for (const Family* family : linked_families.families) {
    for (const Family::Type& type : family->model_types) {
      if (type.name == model_type) return *family;
      known.append(known.empty() ? "\"" : ", \"").append(type.name).append("\"");
    }
  }
  if (!all_linked()) throw NotLinked();
  throw_error(ErrorCode::unsupported,
              {"config.json: model_type: expected one of {}, got {}; a model of another "
               "architecture cannot be read, whatever its file format{}",
               {known, describe(model_type),
                own_code ? "; Python code of its own (auto_map) is not run here" : ""}});
}

std::string_view usual_tokenizer_class(std::string_view config_json) {
  constexpr JsonSource source{config_limit.code, config_limit.name};
  const JsonValue json = parse_json(config_json, source);
  JsonObject object(json, source, {}, HubConfig::most_fields);
  const JsonValue* model_type = object.find("model_type");
  if (!model_type || !model_type->is_string()) return {};
  for (const Family* family : linked_families.families) {
    for (const Family::Type& type : family->model_types) {
      if (type.name == model_type->string()) return type.tokenizer_class;
    }
  }
  return {};
}

const Family* find_container(ModelFiles& files, FolderFiles& found) {
  for (const Family* family : linked_families.containers) {
    if (auto theirs = family->container->find(files)) {
      found = std::move(*theirs);
      return family;
    }
  }
  return nullptr;
}

}  // namespace glassformer
