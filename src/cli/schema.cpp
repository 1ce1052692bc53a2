#include "cli/schema.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
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
#include "tasks/explain/explain_next_gradients.hpp"
#include "tasks/explain/methods.hpp"
#include "tasks/explain/request.hpp"
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
  static Json type_of(const AttentionEdge&) { return reference("AttentionEdge"); }
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

// Returns the methods of explanation, with their options by what they explain.
Json explanations() {
  static constexpr std::array answers = {"text", "picture", "translation", "next_token"};
  Json list = Json::array();
  for (const ExplanationMethod& method : explanation_methods()) {
    Json of = Json::object();
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (!method.options[i]) continue;
      Json& options = of[answers[i]] = Json::array();
      for (const char* const words : {method.options[i], common_options[i]}) {
        std::istringstream stream(words);
        for (std::string word; stream >> word;) options.push_back(word);
      }
    }
    list.push_back({{"name", method.name},
                    {"description", method.help},
                    {"scores", method.scores},
                    {"gradients", method.gradients},
                    {"of", std::move(of)}});
  }
  return list;
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
  Json explain = described<ExplainRequest>();
  const Json by_gradients = described<NextGradientsRequest>();
  for (const auto& [name, property] : by_gradients.at("properties").items()) {
    explain["properties"][name] = property;
  }
  options["ExplainOptions"] = std::move(explain);
  return Json({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "Options of Glassformer's calls"},
               {"$defs", options},
               {"explanations", explanations()}})
      .dump(2);
}

}  // namespace glassformer
