#include "cli/schema.hpp"

#include <array>
#include <concepts>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
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
#include "base/strings/decimal.hpp"
#include "tasks/explain/explanation.hpp"
#include "tasks/explain/feature_explanation.hpp"
#include "tasks/explain/requests/methods.hpp"
#include "tasks/explain/requests/request.hpp"
#include "tasks/explain/score_explanation.hpp"
#include "tasks/options.hpp"
#include "tasks/result_writer.hpp"
#include "tasks/task_facts.hpp"
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
  static Json type_of(const CircuitPair&) { return reference("CircuitPair"); }
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
    } else if constexpr (std::same_as<Value, float>) {
      return Json::parse(shortest_decimal(value));
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

// What JavaScript and Python call a result, and what it is.
template <class Result>
struct ResultName {
  const char *name, *help;
};

// All results, in the order of the documentation.
constexpr std::tuple results = {
    ResultName<InputToken>{"Token", "A token that a model read: a row of the attention weights."},
    ResultName<OutputToken>{
        "OutputToken", "A token that a model wrote. Its place is in the whole text that it wrote."},
    ResultName<LabelScore>{
        "LabelScore",
        "A label of a model, or one that a picture was compared with, and its score."},
    ResultName<Classification>{"Classification", "The labels of a text."},
    ResultName<Entity>{"Entity", "An entity of a text, such as the name of a person."},
    ResultName<TokenClassification>{"TokenClassification", "The entities of a text."},
    ResultName<Answer>{"Answer", "The answer to a question."},
    ResultName<FilledToken>{"FilledToken", "A token that may stand at the place of a mask."},
    ResultName<FilledMask>{"FilledMask", "A mask of a text."},
    ResultName<FilledText>{"FilledText", "The tokens for the masks of a text."},
    ResultName<Embedded>{"Embedding", "The vector of a text."},
    ResultName<PatchGrid>{"PatchGrid", "The rows of a picture's attention weights."},
    ResultName<PictureRegion>{"PictureRegion", "A part of a picture."},
    ResultName<ImageClassification>{"ImageClassification", "The labels of a picture."},
    ResultName<ImageMatch>{"ImageMatch", "A picture, compared with labels, or only its vector."},
    ResultName<OutputText>{"Hypothesis", "A text that a model wrote."},
    ResultName<Generation>{"Generation", "A continuation of a text, or an answer to it."},
    ResultName<NextToken>{"NextToken", "A token that may come next."},
    ResultName<Prediction>{"Prediction", "The tokens that may follow a text."},
    ResultName<TextRange>{"TextRange", "A part of a text."},
    ResultName<AlignmentLink>{
        "AlignmentLink", "A word of a translation, and the word from which it was translated."},
    ResultName<SearchNode>{"Candidate", "A token that a search considered."},
    ResultName<SentenceTranslation>{"SentenceTranslation", "The translation of a sentence."},
    ResultName<Translation>{"Translation", "The translation of a text."},
    ResultName<EncodedText>{"Encoding", "A text, or two, as tokens."}};

// All parts of explanations.
constexpr std::tuple explained_parts = {
    ResultName<Guess>{"Guess", "A token that may come next."},
    ResultName<Rollout>{"Rollout", "Attention through all layers."},
    ResultName<ScoredNorms>{"ValueNorms", "Attention times the size of the vectors that it moves."},
    ResultName<ZeroedValues>{"ValueZeroing", "What the values of tokens count for others."},
    ResultName<ScoredLens::Layer>{"LensLayer", "The answer that a classifier would give."},
    ResultName<ScoredLens>{"Lens", "What each layer would answer."},
    ResultName<LogitAttribution>{"LogitAttribution", "The explained number as an exact sum."},
    ResultName<NextLogitAttribution>{"NextLogitAttribution",
                                     "The lead of a token over another as an exact sum."},
    ResultName<PatchingCell>{"PatchingCell", "A column of a table of activation patching."},
    ResultName<PatchingResult>{"ActivationPatching", "The table of activation patching."},
    ResultName<NextPatchingResult>{
        "NextActivationPatching",
        "The table of two texts that a model continues or translates, whose number is the lead of "
        "`token` over `against`. The tokens and rows are those of the decoder that continues the "
        "texts, or of the encoder that reads them."},
    ResultName<OrderTest>{"OrderTest", "The test of an order of words."},
    ResultName<RandomOrders>{"RandomOrders", "The scores of random orders."},
    ResultName<WordFaithfulness>{"Faithfulness", "How the number changes without words."},
    ResultName<AttentionEdge>{
        "AttentionEdge",
        "An attention edge: in this layer and head, the weight of a key for a query."},
    ResultName<CutEffects>{"EdgeEffects", "The number without edges."},
    ResultName<CircuitHead>{"CircuitHead", "A head of a circuit."},
    ResultName<Circuit>{"Circuit", "A small set of heads and edges that keeps the answer."},
    ResultName<EdgeCircuit::Edge>{"CircuitEdge", "An edge of a model's graph, and its score."},
    ResultName<EdgeCircuit::Numbers>{
        "CircuitNumbers", "The explained number of two texts, and what a circuit keeps of it."},
    ResultName<EdgeCircuit::Point>{"CircuitPoint", "Circuits of one size."},
    ResultName<PairCircuit>{"EdgeCircuit",
                            "The edges that carry the difference between two texts."},
    ResultName<ActiveFeature>{"ActiveFeature", "A feature that is active."},
    ResultName<TextFeatures>{"TextFeatures", "The features of one dictionary in a text."},
    ResultName<AttributionGraph::Node>{"GraphNode", "A node of an attribution graph."},
    ResultName<AttributionGraph::Edge>{"GraphEdge", "An edge of an attribution graph."},
    ResultName<AttributionGraph::Check>{"GraphCheck", "A test of an edge on the model."},
    ResultName<AttributionGraph>{"AttributionGraph", "Why a token comes next, by features."},
    ResultName<ScorePart>{"ScorePart", "A part of a score of an attention."},
    ResultName<ScoreAttribution>{"ScoreAttribution", "A score of an attention as exact sums."},
    ResultName<GradientScores>{"GradientScores",
                               "The product of each token's embedding and its gradient."},
    ResultName<IntegratedGradients>{"IntegratedGradients", "The result of integrated gradients."},
    ResultName<Relevance>{"Relevance", "Attention weights times their gradients."},
    ResultName<PropagatedRelevance>{"PropagatedRelevance",
                                    "What rules for each kind of layer pass back to each token."},
    ResultName<NextLens>{"NextLens", "The next tokens that each layer would choose."},
    ResultName<NamedToken>{"NamedToken", "A token of a translation or answer."},
    ResultName<NamedTokens>{"NamedTokens", "An answer, of which a token is explained."},
    ResultName<LayerReading>{"LayerReading", "The translation that was read from one layer."},
    ResultName<ExplainedSentence>{"ExplainedSentence", "A sentence and its translation."}};

template <class Result, class... Names>
constexpr bool among(const std::tuple<Names...>&) {
  return (std::same_as<ResultName<Result>, Names> || ...);
}

template <class Result>
Json result_reference() {
  if constexpr (among<Result>(explained_parts)) {
    return {
        {"$ref", std::string("#/explained/") + std::get<ResultName<Result>>(explained_parts).name}};
  } else {
    return {{"$ref", std::string("#/results/") + std::get<ResultName<Result>>(results).name}};
  }
}

// Visits the fields of a result, and describes each as a property. Tensors have a `shape`.
class ResultDescriber {
 public:
  template <class Value>
  void operator()(const char* name, const Value& value, const ResultField& about = {}) {
    constexpr bool optional = requires { value.has_value(); };
    add(name, type_of(value), about, optional);
  }
  template <class Elements, class VisitElement>
  void each(const char* name, const Elements& elements, const VisitElement&,
            const ResultField& about) {
    add(name, type_of(elements), about);
  }
  void scores(std::span<const std::string>, std::span<const float>, std::span<const float>,
              std::span<const std::size_t> = {}, const ResultField& about = {}) {
    add("scores", list_of(result_reference<LabelScore>()), about);
  }
  void attention(const ResultWriter::Maps& maps) {
    Json stacks = Json::array();
    if (maps.encoder) stacks.push_back("encoder");
    if (maps.decoder) stacks.push_back("decoder");
    if (maps.cross) stacks.push_back("cross");
    properties_["attention"] = {
        {"type", "attention"}, {"stacks", std::move(stacks)}, {"with", "attention"}};
  }
  void trace(std::vector<TracedTensor>&&) {
    properties_["trace"] = {{"type", "tensors"}, {"with", "trace"}};
  }
  void gradients(std::vector<TracedTensor>&&) {
    properties_["gradients"] = {{"type", "tensors"}, {"with", "gradients"}};
  }
  void tensor(const TracedTensor& tensor, const ResultField& about) {
    add(tensor.name.c_str(), {{"type", "tensor"}}, about);
  }
  void vector(const char* name, const std::vector<float>&, const ResultField& about) {
    add(name, {{"type", "vector"}}, about);
  }
  void table(const char* name, std::size_t, const std::vector<float>&, const ResultField& about) {
    add(name, {{"type", "table"}}, about);
  }

  Json take() { return std::move(properties_); }

 private:
  void add(const char* name, Json property, const ResultField& about, bool optional = false) {
    if (about.help[0] != 0) property["description"] = about.help;
    if (about.with[0] != 0) property["with"] = about.with;
    if (about.most != 0) property["maximum"] = about.most;
    if (optional || about.omitted || about.with[0] != 0) property["optional"] = true;
    properties_[name] = std::move(property);
  }

  template <class Value>
  static Json type_of(const Value& value) {
    if constexpr (requires { value.has_value(); }) {
      return type_of(typename Value::value_type());
    } else if constexpr (std::same_as<Value, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::integral<Value>) {
      return {{"type", "integer"}};
    } else if constexpr (std::floating_point<Value>) {
      return {{"type", "number"}};
    } else if constexpr (std::convertible_to<Value, std::string_view>) {
      return {{"type", "string"}};
    } else if constexpr (std::ranges::range<Value>) {
      using Element = std::ranges::range_value_t<Value>;
      Json item = type_of(Element());
      if constexpr (requires(const Element& element) { element.has_value(); }) {
        item["nullable"] = true;
      }
      return list_of(std::move(item));
    } else {
      return result_reference<Value>();
    }
  }

  Json properties_ = Json::object();
};

template <class Result>
Json described_result(const ResultName<Result>& about) {
  static const std::array<std::string, 1> labels = {"a label"};
  ResultDescriber describer;
  Result result = {};
  if constexpr (std::same_as<Result, SentenceTranslation>) result.cross.emplace();
  if constexpr (requires { fields(describer, result, labels); }) {
    fields(describer, result, labels);
  } else if constexpr (requires { fields(describer, std::as_const(result)); }) {
    fields(describer, std::as_const(result));
  } else {
    fields(describer, result);
  }
  return {{"type", "object"}, {"description", about.help}, {"properties", describer.take()}};
}

template <class... Results>
Json described_results(const std::tuple<ResultName<Results>...>& all) {
  Json described = Json::object();
  const auto describe = [&](const auto& about) { described[about.name] = described_result(about); };
  std::apply([&](const auto&... each) { (describe(each), ...); }, all);
  return described;
}

template <class Options>
Json described() {
  Describer describer;
  Options options;
  fields(describer, options);
  return describer.take();
}

// Returns the words of a list with spaces between them.
std::vector<std::string> words_of(const char* list) {
  std::istringstream stream(list);
  return {std::istream_iterator<std::string>(stream), {}};
}

Json tasks() {
  Json list = Json::array();
  for (const TaskFacts& task : all_tasks()) {
    Json facts = {{"name", task.name},
                  {"class", task.class_name},
                  {"command", task.command},
                  {"description", task.help},
                  {"load", words_of(task.load)}};
    if (task.opens[0] != 0) facts["opens"] = task.opens;
    if (task.reads) facts["reads"] = true;
    if (task.stepwise) facts["stepwise"] = true;
    list.push_back(std::move(facts));
  }
  return list;
}

// Returns the methods of explanation, with their options by what they explain.
Json explanations() {
  static constexpr std::array answers = {"text", "picture", "translation", "next_token", "states"};
  Json list = Json::array();
  for (const ExplanationMethod& method : explanation_methods()) {
    Json of = Json::object();
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto answer = static_cast<Answered>(i);
      if (method.explains(answer)) of[answers[i]] = option_names(method, answer);
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
  Json explain = {{"type", "object"}, {"properties", {}}};
  Describer about_method;
  about_method("method", std::string(),
               {.help = "How to explain the answer: see below.", .apart = true});
  explain["properties"].update(about_method.take()["properties"]);
  explain["properties"].update(described<ExplainOptions>()["properties"]);
  options["ExplainOptions"] = std::move(explain);
  return Json({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "Options and results of Glassformer's calls"},
               {"$defs", options},
               {"results", described_results(results)},
               {"explained", described_results(explained_parts)},
               {"tasks", tasks()},
               {"explanations", explanations()}})
      .dump(2);
}

}  // namespace glassformer
