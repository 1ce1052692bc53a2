#include "cli/schema.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <vector>

#include "api/tasks/answer.hpp"
#include "api/tasks/classify.hpp"
#include "api/tasks/embed.hpp"
#include "api/tasks/fill.hpp"
#include "api/tasks/generate.hpp"
#include "api/tasks/image.hpp"
#include "api/tasks/match.hpp"
#include "api/tasks/tag.hpp"
#include "api/tasks/tokenize.hpp"
#include "api/tasks/translate.hpp"
#include "tasks/options.hpp"
#include "tasks/train/training_options.hpp"

namespace glassformer {
namespace {

using Json = nlohmann::ordered_json;

Json reference(const char* name) { return {{"$ref", std::string("#/$defs/") + name}}; }

Json list_of(Json item) { return {{"type", "array"}, {"items", std::move(item)}}; }

// Visits the fields of a struct that has its defaults, and describes each as a property.
class Describer {
 public:
  template <class Value>
  void operator()(const char* name, const Value& usual, const Option& about = {}) {
    Json property = type_of(usual);
    if (about.help[0] != 0) property["description"] = about.help;
    if (about.least != -Option::any) limit(property, "minimum", about.least);
    if (about.most != Option::any) limit(property, "maximum", about.most);
    if (Json value = value_of(usual); !value.is_null()) property["default"] = std::move(value);
    if (about.absent[0] != 0) property["absent"] = about.absent;
    if (about.adds) property["adds"] = true;
    if (about.apart) property["apart"] = true;
    properties_[name] = std::move(property);
  }

  Json take() { return {{"type", "object"}, {"properties", std::move(properties_)}}; }

 private:
  static void limit(Json& property, const char* key, double value) {
    if (property["type"] == "integer") {
      property[key] = static_cast<std::int64_t>(value);
    } else {
      property[key] = value;
    }
  }

  static Json type_of(bool) { return {{"type", "boolean"}}; }
  static Json type_of(float) { return {{"type", "number"}}; }
  static Json type_of(const std::string&) { return {{"type", "string"}}; }
  template <std::integral Number>
  static Json type_of(Number) {
    return {{"type", "integer"}, {"minimum", 0}};
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  static Json type_of(Enum) { return {{"enum", enum_names<Enum>}}; }
  static Json type_of(EarlyStopping) { return {{"enum", {false, true, "never"}}}; }
  static Json type_of(const HeadIndex&) { return reference("Head"); }
  static Json type_of(const Patch&) { return reference("Patch"); }
  static Json type_of(const AlignmentOptions&) {
    return {{"anyOf", {{{"type", "boolean"}}, reference("AlignmentOptions")}}};
  }
  static Json type_of(const std::array<std::size_t, 2>&) {
    Json type = list_of(type_of(std::size_t{0}));
    type["minItems"] = type["maxItems"] = 2;
    return type;
  }
  template <class Value>
  static Json type_of(const std::vector<Value>&) {
    return list_of(type_of(Value()));
  }
  static Json type_of(const std::vector<TokenPooling>&) {
    const Json one = type_of(TokenPooling());
    return {{"anyOf", {one, list_of(one)}}};
  }
  template <class Value>
  static Json type_of(const std::optional<Value>&) {
    return type_of(Value());
  }

  // Returns the default; null if it has none, or an empty one.
  template <class Value>
  static Json value_of(const Value& value) {
    if constexpr (std::is_enum_v<Value>) {
      return name_of(value);
    } else if constexpr (std::is_arithmetic_v<Value>) {
      return value;
    } else if constexpr (std::same_as<Value, std::string> ||
                         std::same_as<Value, std::vector<std::string>>) {
      return value.empty() ? Json() : Json(value);
    } else {
      return nullptr;
    }
  }

  Json properties_ = Json::object();
};

template <class Options>
Json described() {
  Describer describer;
  Options options;
  fields(describer, options);
  return describer.take();
}

}  // namespace

std::string options_schema() {
  Json options = Json::object();
  options["EncoderOptions"] = described<EncoderOptions>();
  options["ClassifyOptions"] = described<ClassifyOptions>();
  options["TokenClassifyOptions"] = described<TokenClassifyOptions>();
  options["AnswerOptions"] = described<AnswerOptions>();
  options["FillOptions"] = described<FillOptions>();
  options["EmbedOptions"] = described<EmbedOptions>();
  options["ImageOptions"] = described<ImageOptions>();
  options["MatchOptions"] = described<MatchOptions>();
  options["TaskPromptOptions"] = described<TaskPromptOptions>();
  options["SampleOptions"] = described<SampleOptions>();
  options["GenerateOptions"] = described<GenerateOptions>();
  options["NextOptions"] = described<NextOptions>();
  options["TranslateOptions"] = described<TranslateOptions>();
  options["AlignmentOptions"] = described<AlignmentOptions>();
  options["EncodeOptions"] = described<EncodeOptions>();
  options["TrainingOptions"] = described<TrainingOptions>();
  return Json({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "Options of Glassformer's calls"},
               {"$defs", options}})
      .dump(2);
}

}  // namespace glassformer
