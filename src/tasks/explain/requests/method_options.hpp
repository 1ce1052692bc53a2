#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/output.hpp"
#include "api/tasks/explain.hpp"
#include "api/tasks/image.hpp"
#include "api/tasks/match.hpp"
#include "api/tasks/translate.hpp"
#include "explain/circuits/circuit.hpp"
#include "explain/patching/activation_patching.hpp"
#include "run/tape.hpp"
#include "tasks/limits.hpp"
#include "tasks/options.hpp"

// The options of explanations. Methods share most of them, so each option, or group that belongs
// together, is a part; a method has a set of parts.

namespace glassformer {

template <>
inline constexpr std::array enum_names<PatchingSite::Kind>{
    "residual", "attention", "feed_forward", "head", "query", "key", "value"};
template <>
inline constexpr std::array enum_names<Cut>{"scores", "weights"};
template <>
inline constexpr std::array enum_names<CircuitMetric>{"logit_difference", "log_probability",
                                                      "divergence"};
template <>
inline constexpr std::array enum_names<Ablation>{"corrupt", "mean", "zero"};

template <class Visit>
void fields(Visit& visit, AttentionEdge& edge) {
  visit.required("layer", edge.layer);
  visit.required("head", edge.head);
  visit.required("query", edge.query);
  visit.required("key", edge.key);
}

struct ExplainedLabel {
  std::optional<std::string> label = {};
};
template <class Visit>
void fields(Visit& visit, ExplainedLabel& part) {
  visit("label", part.label,
        {.help = "The label to explain: its name, or its number.", .absent = "the model's answer"});
}

struct ColumnEffects {
  bool effects = false;
};
template <class Visit>
void fields(Visit& visit, ColumnEffects& part) {
  visit("effects", part.effects,
        {.help = "Also measure how much the number falls without each column or, of a score, each "
                 "part."});
}

struct PatchedSite {
  PatchingSite::Kind site = PatchingSite::Kind::residual;
};
template <class Visit>
void fields(Visit& visit, PatchedSite& part) {
  visit("site", part.site,
        {.help = "Which vectors are taken from the second text. The residual stream is that "
                 "between layers."});
}

struct ChosenHead {
  std::optional<std::size_t> head = {};
};
template <class Visit>
void fields(Visit& visit, ChosenHead& part) {
  visit("head", part.head,
        {.help = "Which head, counted from 0. For activation_patching: if `site` is head."});
}

struct AskedLoadings {
  bool loadings = false;
};
template <class Visit>
void fields(Visit& visit, AskedLoadings& part) {
  visit("loadings", part.loadings,
        {.help = "Also tell, for each head, which parts make it look where it looks, and which it "
                 "carries on. Needs compute f32."});
}

struct ChosenScore {
  std::string attention = {};
  std::optional<std::size_t> query = {}, key = {};
  std::optional<std::size_t> rival = {};
  bool contrast = false, cells = false, reads = false, everywhere = false;
};
template <class Visit>
void fields(Visit& visit, ChosenScore& part) {
  visit("attention", part.attention,
        {.help = "The name of an attention, such as encoder.layers.1.self_attn or "
                 "decoder.layers.0.encoder_attn."});
  visit("query", part.query, {.help = "The row that asks, counted from 0."});
  visit("key", part.key, {.help = "The row that is looked at, counted from 0."});
  visit("contrast", part.contrast,
        {.help = "Also split how far the score is above the mean of the scores of all keys, by "
                 "their weights: softmax sees only differences."});
  visit("rival", part.rival,
        {.help = "Compare with the score of this key instead. Implies `contrast`."});
  visit("cells", part.cells,
        {.help = "Also the parts of query and key at once: a table of all their products."});
  visit("reads", part.reads, {.help = "Also split the parts of heads by the tokens they read."});
  visit(
      "everywhere", part.everywhere,
      {.help = "With `effects`: take a part out of all rows, not only that of the query or key."});
}

struct ShownProgress {
  bool on_progress = false;
};
template <class Visit>
void fields(Visit& visit, ShownProgress& part) {
  visit("on_progress", part.on_progress,
        {.help = "Called with the table before it is complete. First, all changes are estimates: "
                 "gradients times differences of vectors (Nanda 2023, attribution patching).",
         .apart = true});
}

struct TestedScores {
  std::string of = "rollout";
  std::optional<std::vector<float>> scores = {};
  std::size_t orders = 20;
};
template <class Visit>
void fields(Visit& visit, TestedScores& part) {
  visit("of", part.of, {.help = "The method whose scores are tested."});
  visit("scores", part.scores,
        {.help = "Scores to test instead of a method's, one for each token."});
  visit("orders", part.orders,
        {.help = "How many random orders to compare with.", .least = 0, .most = 1000});
}

struct RandomSeed {
  std::uint32_t seed = 1;
};
template <class Visit>
void fields(Visit& visit, RandomSeed& part) {
  visit("seed", part.seed, {.help = "The seed of the random orders or circuits."});
}

struct CutEdges {
  std::optional<std::vector<AttentionEdge>> edges = {};
  Cut cut = Cut::scores;
};
template <class Visit>
void fields(Visit& visit, CutEdges& part) {
  visit("edges", part.edges, {.help = "The edges to cut: the weights of a key for a query."});
  visit("cut", part.cut,
        {.help = "Where edges are cut: scores before the softmax, so that the other edges get "
                 "their share; or weights, after it."});
}

struct CircuitShare {
  float least = 0.8f;
};
template <class Visit>
void fields(Visit& visit, CircuitShare& part) {
  visit("least", part.least,
        {.help = "How near to the full number the circuit stays: between this share of it and 2 "
                 "minus this share."});
}

/// Two texts that a circuit is found for, too.
struct CircuitPair {
  std::string text = {}, pair = {};
  std::optional<std::size_t> token = {}, against = {};
};
template <class Visit>
void fields(Visit& visit, CircuitPair& of) {
  visit("text", of.text);
  visit("pair", of.pair);
  visit("token", of.token, {.least = 0, .most = 0x7fffffff});
  visit("against", of.against, {.least = 0, .most = 0x7fffffff});
}

struct ChosenEdges {
  std::vector<CircuitPair> more_pairs = {};
  CircuitMetric metric = CircuitMetric::logit_difference;
  Ablation ablation = Ablation::corrupt;
  std::size_t steps = 5;
  std::optional<std::size_t> edge_count = {};
  std::vector<std::string> cut_edges = {};
  std::size_t random_circuits = 5;
};
template <class Visit>
void fields(Visit& visit, ChosenEdges& part) {
  visit("more_pairs", part.more_pairs,
        {.help = "Further pairs of texts, each with its own token and against. The circuit is one "
                 "for all of them: scores and numbers are means.",
         .absent = "none"});
  visit("metric", part.metric,
        {.help = "The number that the circuit should keep: the difference of the two tokens' "
                 "logits, the log-probability of the token, or minus the divergence from the "
                 "first text's probabilities."});
  visit("ablation", part.ablation,
        {.help = "What is carried outside the circuit: what the second text has there, its mean "
                 "over its tokens, or zeros."});
  visit("steps", part.steps,
        {.help = "The points between both texts at which gradients are computed; 0: those of the "
                 "first text.",
         .least = 0,
         .most = 1000});
  visit("edge_count", part.edge_count,
        {.help = "How many edges the circuit has, those with the largest scores.",
         .absent = "the fewest of 1, 2, 5, 10, 20, 50 and 100 % that stay within `least`",
         .least = 1});
  visit("cut_edges", part.cut_edges,
        {.help = "Edges of the whole graph to cut, each as \"FROM>TO\". Then nothing is searched, "
                 "and the "
                 "kept number is that without them.",
         .absent = "none",
         .items = "edges"});
  visit(
      "random_circuits", part.random_circuits,
      {.help = "How many random circuits of each size to compare with.", .least = 0, .most = 1000});
}

struct ChosenGraph {
  std::size_t feature_count = 256;
  float node_share = 0.8f, edge_share = 0.95f;
  std::size_t checked_edges = 10;
};
template <class Visit>
void fields(Visit& visit, ChosenGraph& part) {
  visit("feature_count", part.feature_count,
        {.help = "How many features are explained by others at most, those with the most influence "
                 "on the answer. The rest counts as errors.",
         .least = 1,
         .most = 1 << 16});
  visit("node_share", part.node_share,
        {.help = "The share of the influence that features and errors of the graph keep.",
         .least = 0,
         .most = 1});
  visit("edge_share", part.edge_share,
        {.help = "The share of the influence that edges keep.", .least = 0, .most = 1});
  visit("checked_edges", part.checked_edges,
        {.help = "How many edges from features are tested: the feature is set to zero in the "
                 "model.",
         .least = 0,
         .most = 1000});
}

struct LensWords {
  std::size_t words = usual_lens_words;
};
template <class Visit>
void fields(Visit& visit, LensWords& part) {
  visit("words", part.words,
        {.help = "How many next tokens of each layer, the most probable ones.",
         .least = 1,
         .most = most_lens_words});
}

struct Beams {
  std::optional<std::size_t> beams = {};
};
template <class Visit>
void fields(Visit& visit, Beams& part) {
  visit("beams", part.beams,
        {.help = "The number of hypotheses of the beam search, for a model with an encoder.",
         .absent = "1",
         .least = 1,
         .most = max_beams});
}

struct ChosenSentence {
  std::size_t sentence = 0;
};
template <class Visit>
void fields(Visit& visit, ChosenSentence& part) {
  visit("sentence", part.sentence, {.help = "Which sentence of the translation, counted from 0."});
}

struct ChosenPosition {
  std::optional<std::size_t> position = {};
};
template <class Visit>
void fields(Visit& visit, ChosenPosition& part) {
  visit("position", part.position,
        {.help = "Which token of the translation or answer, counted from 0.",
         .absent = "0, or the token after `prefix`"});
}

struct Prefix {
  std::vector<std::int32_t> prefix = {};
};
template <class Visit>
void fields(Visit& visit, Prefix& part) {
  visit("prefix", part.prefix,
        {.help = "Ids of tokens that the translation or answer begins with.",
         .absent = "none; with two texts, those that both translations begin with",
         .items = "ids"});
}

struct ComparedTokens {
  std::optional<std::size_t> token = {}, against = {};
};
template <class Visit>
void fields(Visit& visit, ComparedTokens& part) {
  visit("token", part.token,
        {.help = "The id of the token to explain.",
         .absent = "the token that the translation or answer has there, or the most probable; with "
                   "two texts, that of the second's",
         .least = 0,
         .most = 0x7fffffff});
  visit("against", part.against,
        {.help = "The id of the token to compare it with: the explained number is the difference "
                 "of their logits.",
         .absent = "the most probable other one; with two texts, that of the first's",
         .least = 0,
         .most = 0x7fffffff});
}

struct BaselineToken {
  std::optional<std::size_t> baseline_token = {};
};
template <class Visit>
void fields(Visit& visit, BaselineToken& part) {
  visit(
      "baseline_token", part.baseline_token,
      {.help = "The id of the token whose embedding all others begin with. A model with RMS norms "
               "needs it: they remove the length of an embedding, so on the way from zeros almost "
               "all changes near zero, and the gap is large.",
       .absent = "zeros"});
}

struct GradientTensors {
  std::vector<std::string> names = {};
  std::vector<Patch> patches = {};
};
template <class Visit>
void fields(Visit& visit, GradientTensors& part) {
  visit("names", part.names,
        {.help = "Names of tensors; \"*\" stands for any characters except dots."});
  visit("patch", part.patches,
        {.help = "As in other calls, but not of scores and weights. The gradients are those of the "
                 "patched run."});
}

// What all methods need of a kind of model.

struct Languages {
  std::optional<std::string> from = {}, to = {};
};
template <class Visit>
void fields(Visit& visit, Languages& part) {
  language_fields(visit, part);
}

struct PictureSize {
  bool interpolate = false;
  std::optional<std::array<std::size_t, 2>> size = {};
};
template <class Visit>
void fields(Visit& visit, PictureSize& part) {
  visit("interpolate", part.interpolate, about_interpolate);
  visit("size", part.size, about_size);
}

struct MatchedLabels {
  std::vector<std::string> labels = {};
  std::string hypothesis_template = MatchOptions().hypothesis_template;
};
template <class Visit>
void fields(Visit& visit, MatchedLabels& part) {
  visit("labels", part.labels,
        {.help = "The labels to choose from, for a model that compares pictures with texts.",
         .items = "labels",
         .apart = true});
  visit("hypothesis_template", part.hypothesis_template,
        {.help = "The text for a label, with the label in place of {}."});
}

/// A set of parts: a bit for each.
using PartSet = std::uint32_t;

/// The options of all methods for all models. A method has some of the parts.
template <class... Parts>
struct Joined : Parts... {
  template <class Part>
  static constexpr PartSet bit() {
    constexpr std::array found = {std::same_as<Part, Parts>...};
    return PartSet{1} << (std::ranges::find(found, true) - found.begin());
  }
};
using ExplainOptions =
    Joined<ExplainedLabel, ColumnEffects, AskedLoadings, ChosenScore, PatchedSite, ChosenHead,
           ShownProgress, TestedScores, RandomSeed, CutEdges, CircuitShare, ChosenEdges,
           ChosenGraph, LensWords, Beams, ChosenSentence, ChosenPosition, Prefix, ComparedTokens,
           BaselineToken, GradientTensors, Languages, PictureSize, MatchedLabels>;

/// The set of some parts.
template <class... Parts>
inline constexpr PartSet set_of = (PartSet{0} | ... | ExplainOptions::bit<Parts>());
inline constexpr PartSet chosen_answer = set_of<Beams, ChosenPosition, Prefix, ComparedTokens>;
inline constexpr PartSet chosen_score = set_of<ChosenScore, ChosenHead, ColumnEffects>;
inline constexpr PartSet chosen_translation = chosen_answer | set_of<ChosenSentence>;

/// Visits the options of some parts.
template <class Visit, class... Parts>
void part_fields(Visit& visit, Joined<Parts...>& options, PartSet parts) {
  ((parts & set_of<Parts> ? fields(visit, static_cast<Parts&>(options)) : void()), ...);
}
/// Visits all options.
template <class Visit>
void fields(Visit& visit, ExplainOptions& options) {
  part_fields(visit, options, ~PartSet{0});
}

}  // namespace glassformer
