#include "tasks/explain/requests/methods.hpp"

#include <algorithm>
#include <array>

#include "tasks/options.hpp"

namespace glassformer {
namespace {

constexpr PartSet no = not_explained;

// Text, picture, translation, next token, states.
constexpr ExplanationMethod methods[] = {
    {.name = "rollout",
     .help = "Attention through all layers, half of each being the token's own state (Abnar and "
             "Zuidema 2020, attention rollout).",
     .options = {0, 0, set_of<Beams>, 0, no},
     .scores = true},
    {.name = "value_norms",
     .help = "Attention times the size of the vectors that it moves (Kobayashi et al. 2020).",
     .options = {0, 0, no, 0, no},
     .scores = true},
    {.name = "value_zeroing",
     .help = "How much each token's output of a layer turns away if another token's value vector "
             "is zero, multiplied through the layers (Mohebbi et al. 2023). Needs compute f32.",
     .options = {0, 0, chosen_translation, chosen_answer, no},
     .scores = true},
    {.name = "lens",
     .help =
         "What each layer would answer, if no layer followed (nostalgebraist 2020, logit lens).",
     .options = {0, 0, set_of<Beams, LensWords>, set_of<LensWords>, no}},
    {.name = "decoder_lens",
     .help = "The translation as decoded from each layer of the encoder (Langedijk et al. 2023).",
     .options = {no, no, set_of<Beams>, no, no}},
    {.name = "direct_logit_attribution",
     .help = "The explained number as an exact sum of what embeddings, heads and feed-forward "
             "networks add, with the scales of norms frozen (Elhage et al. 2021).",
     .options = {set_of<ExplainedLabel, ColumnEffects, AskedLoadings>,
                 set_of<ExplainedLabel, ColumnEffects, AskedLoadings>,
                 chosen_translation | set_of<ColumnEffects, AskedLoadings>,
                 set_of<ComparedTokens, ColumnEffects, AskedLoadings>, no},
     .scores = true},
    {.name = "score",
     .help = "Why a head looks there: the score of a query and a key as an exact sum over what "
             "their rows are made of, embeddings, earlier heads and feed-forward networks, with "
             "the scales of norms frozen (Elhage et al. 2021). Needs compute f32 and softmax "
             "attention.",
     .options = {chosen_score | set_of<ExplainedLabel>, chosen_score | set_of<ExplainedLabel>,
                 chosen_score | chosen_translation, chosen_score | chosen_answer, chosen_score}},
    {.name = "activation_patching",
     .help = "How the answer to a text changes if a vector is replaced by that "
             "of a second text, for every layer and token (Meng et al. 2022). The answer of a "
             "model that writes is the first token in which its outputs for both texts differ.",
     .options = {set_of<ExplainedLabel, PatchedSite, ChosenHead, ShownProgress>, no,
                 set_of<Beams, ChosenSentence, Prefix, ComparedTokens, ShownProgress>,
                 set_of<ComparedTokens, ShownProgress>, no}},
    {.name = "faithfulness",
     .help = "How the number changes as words, or tokens before a next token, are deleted and "
             "inserted in the order of their scores, beside random orders (Petsiuk et al. 2018).",
     .options = {set_of<ExplainedLabel, TestedScores, RandomSeed>,
                 set_of<ExplainedLabel, TestedScores, RandomSeed>,
                 chosen_translation | set_of<TestedScores, RandomSeed>,
                 chosen_answer | set_of<TestedScores, RandomSeed>, no}},
    {.name = "edges",
     .help = "The number without some attention edges. Needs compute f32.",
     .options = {set_of<ExplainedLabel, CutEdges>, set_of<ExplainedLabel, CutEdges>, no, no, no}},
    {.name = "circuit",
     .help = "A small set of heads and edges that keeps the answer (Conmy et al. 2023); of two "
             "texts of equally many tokens, the edges of the model's graph that carry the "
             "difference between their answers (Hanna et al. 2024, EAP-IG). Needs compute f32.",
     .options = {set_of<ExplainedLabel, CircuitShare, ChosenEdges, RandomSeed>,
                 set_of<CircuitShare>,
                 chosen_translation | set_of<CircuitShare, ChosenEdges, RandomSeed>,
                 chosen_answer | set_of<CircuitShare, ChosenEdges, RandomSeed>, no}},
    {.name = "features",
     .help = "The features of the model's dictionaries that are active for each token (Cunningham "
             "et al. 2023; Dunefsky et al. 2024). Needs dictionaries and compute f32.",
     .options = {0, 0, set_of<Beams, ChosenSentence, ChosenPosition, Prefix>,
                 set_of<Beams, ChosenPosition, Prefix>, 0},
     .dictionaries = true},
    {.name = "attribution_graph",
     .help = "Why a token comes next, as a graph: what excites features of feed-forward blocks and "
             "the answer, with attention weights and the scales of norms as constants (Ameisen et "
             "al. 2025). Needs dictionaries of transcoders and compute f32.",
     .options = {no, no, chosen_translation | set_of<ChosenGraph>,
                 chosen_answer | set_of<ChosenGraph>, no},
     .gradients = true,
     .dictionaries = true},
    {.name = "gradient_times_input",
     .help = "The product of each token's embedding and the gradient of the explained number with "
             "respect to it (Shrikumar et al. 2017).",
     .options = {set_of<ExplainedLabel>, set_of<ExplainedLabel>, chosen_translation, chosen_answer,
                 no},
     .scores = true,
     .gradients = true},
    {.name = "integrated_gradients",
     .help =
         "The product of each token's embedding and the mean gradient along the straight line from "
         "a baseline, by default zeros, to the embeddings (Sundararajan et al. 2017). The line "
         "has 64 points; if the gap is larger than 2 %, it is computed again with twice as "
         "many, up to 256.",
     .options = {set_of<ExplainedLabel>, set_of<ExplainedLabel>,
                 chosen_translation | set_of<BaselineToken>, chosen_answer | set_of<BaselineToken>,
                 no},
     .scores = true,
     .gradients = true},
    {.name = "relevance",
     .help = "Attention weights times their gradients, positive parts only, multiplied through the "
             "layers (Chefer et al. 2021). Not for linear attention.",
     .options = {set_of<ExplainedLabel>, set_of<ExplainedLabel>, chosen_translation, chosen_answer,
                 no},
     .scores = true,
     .gradients = true},
    {.name = "attn_lrp",
     .help = "How much of the explained number is passed back to each token's embedding, by a rule "
             "for each kind of layer (Achtibat et al. 2024, AttnLRP). Not for linear attention.",
     .options = {set_of<ExplainedLabel>, set_of<ExplainedLabel>, chosen_translation, chosen_answer,
                 no},
     .scores = true,
     .gradients = true},
    {.name = "cp_lrp",
     .help = "How much of the explained number is passed back to each token's embedding, by a rule "
             "for each kind of layer, with attention weights and gates as constants (Ali et al. "
             "2022, CP-LRP). Not for linear attention.",
     .options = {set_of<ExplainedLabel>, set_of<ExplainedLabel>, chosen_translation, chosen_answer,
                 no},
     .scores = true,
     .gradients = true},
    {.name = "gradients",
     .help = "The gradients of the explained number with respect to tensors.",
     .options = {no, no, chosen_translation | set_of<GradientTensors>,
                 chosen_answer | set_of<GradientTensors>, no},
     .gradients = true},
};

template <class Is>
std::string names_of(const Is& is) {
  std::string list;
  for (const ExplanationMethod& method : methods) {
    if (is(method)) list.append(list.empty() ? "" : ", ").append(method.name);
  }
  return list;
}

// Visits options and notes their names.
struct Names {
  std::vector<std::string>& names;

  template <class Value>
  void operator()(const char* name, const Value&, const Option&) {
    names.emplace_back(name);
  }
};

}  // namespace

std::span<const ExplanationMethod> explanation_methods() { return methods; }

const ExplanationMethod* find_method(std::string_view name) {
  const auto found = std::ranges::find(methods, name, &ExplanationMethod::name);
  return found == std::ranges::end(methods) ? nullptr : found;
}

std::string list_score_methods() {
  return names_of([](const ExplanationMethod& method) { return method.scores; });
}

std::vector<std::string> option_names(PartSet parts) {
  std::vector<std::string> names;
  Names visit = {names};
  ExplainOptions options;
  part_fields(visit, options, parts);
  return names;
}

std::vector<std::string> option_names(const ExplanationMethod& method, Answered answer) {
  if (!method.explains(answer)) return {};
  return option_names(method.options_for(answer));
}

const ExplanationMethod& expect_method(const std::string& name, Answered answer) {
  if (name.empty()) refuse_option("method", "missing");
  const auto is = [&](const ExplanationMethod& method) { return method.explains(answer); };
  const ExplanationMethod* const method = find_method(name);
  if (method && is(*method)) return *method;
  if (method) {
    constexpr std::array subjects = {"a text's label", "a picture's label", "a translation",
                                     "the next token of a model that writes",
                                     "what this model computes"};
    refuse_option("method", {"expected one of {} for {}, got {}, which is for other tasks",
                             {names_of(is), subjects[static_cast<std::size_t>(answer)], name}});
  }
  refuse_option("method", {"expected one of {}, got {}", {names_of(is), describe(name)}});
}

}  // namespace glassformer
