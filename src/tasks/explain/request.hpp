#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/output.hpp"
#include "api/tasks/explain.hpp"
#include "api/tasks/image.hpp"
#include "explain/interventions/activation_patching.hpp"
#include "run/tape.hpp"
#include "tasks/explain/methods.hpp"
#include "tasks/limits.hpp"
#include "tasks/options.hpp"

namespace glassformer {

template <>
inline constexpr std::array enum_names<PatchingSite::Kind>{
    "residual", "attention", "feed_forward", "head", "query", "key", "value"};
template <>
inline constexpr std::array enum_names<Cut>{"scores", "weights"};

/// The options of an explanation. `method` is required. It determines which other options are
/// allowed; see methods.hpp.
struct ExplainRequest {
  std::string method = {};
  std::optional<std::string> label = {};
  std::optional<bool> effects = {};
  std::optional<PatchingSite::Kind> site = {};
  std::optional<std::size_t> head = {};
  std::optional<bool> shows_progress = {};
  std::optional<std::string> of = {};
  std::optional<std::vector<float>> scores = {};
  std::optional<std::size_t> orders = {};
  std::optional<std::uint32_t> seed = {};
  std::optional<std::vector<AttentionEdge>> edges = {};
  std::optional<Cut> cut = {};
  std::optional<float> least = {};
  std::optional<std::string> from = {}, to = {};
  std::optional<std::size_t> beams = {}, words = {}, sentence = {}, position = {};
  std::optional<std::vector<std::int32_t>> prefix = {};
  std::optional<std::size_t> token = {}, against = {};
  std::optional<bool> interpolate = {};
  std::optional<std::array<std::size_t, 2>> size = {};
  std::optional<std::vector<std::string>> labels = {};
  std::optional<std::string> hypothesis_template = {};
};

template <class Visit>
void fields(Visit& visit, AttentionEdge& edge) {
  visit.required("layer", edge.layer);
  visit.required("head", edge.head);
  visit.required("query", edge.query);
  visit.required("key", edge.key);
}

/// The options that a request has in common with those of explain_next_gradients.hpp: what is
/// explained of what a model writes.
template <class Visit, class Request>
void next_token_fields(Visit& visit, Request& request) {
  visit("from", request.from,
        {.help = "The language of the text, for a translator of many languages.",
         .absent = "as the model's files say"});
  visit("to", request.to,
        {.help = "The language of the translation.", .absent = "as the model's files say"});
  visit("beams", request.beams,
        {.help = "The number of hypotheses of the beam search, for a model with an encoder.",
         .absent = "1",
         .least = 1,
         .most = max_beams});
  visit("sentence", request.sentence,
        {.help = "Which sentence of the translation, counted from 0.", .absent = "0"});
  visit("position", request.position,
        {.help = "Which token of the translation or answer, counted from 0.",
         .absent = "0, or the token after `prefix`"});
  visit("prefix", request.prefix,
        {.help = "Ids of tokens that the translation or answer begins with.",
         .absent = "none; with two texts, those that both translations begin with",
         .items = "ids"});
  visit("token", request.token,
        {.help = "The id of the token to explain.",
         .absent = "the token that the translation or answer has there, or the most probable; with "
                   "two texts, that of the second's",
         .least = 0,
         .most = 0x7fffffff});
  visit("against", request.against,
        {.help = "The id of the token to compare it with: the explained number is the difference "
                 "of their logits.",
         .absent = "the most probable other one; with two texts, that of the first's",
         .least = 0,
         .most = 0x7fffffff});
}

template <class Visit>
void fields(Visit& visit, ExplainRequest& request) {
  visit("method", request.method, {.help = "How to explain the answer: see below.", .apart = true});
  visit("label", request.label,
        {.help = "The label to explain: its name, or its number.", .absent = "the model's answer"});
  visit("effects", request.effects,
        {.help = "Also measure how much the number falls without each column."});
  visit("site", request.site,
        {.help = "Which vectors are taken from the second text. The residual stream is that "
                 "between layers.",
         .absent = "\"residual\""});
  visit("head", request.head, {.help = "Which head, if `site` is head."});
  visit("on_progress", request.shows_progress,
        {.help = "Called with the table before it is complete. First, all changes are estimates: "
                 "gradients times differences of vectors (Nanda 2023, attribution patching).",
         .apart = true});
  visit("of", request.of, {.help = "The method whose scores are tested.", .absent = "\"rollout\""});
  visit("scores", request.scores,
        {.help = "Scores to test instead of a method's, one for each token."});
  visit("orders", request.orders,
        {.help = "How many random orders to compare with.",
         .absent = "20",
         .least = 0,
         .most = 1000});
  visit("seed", request.seed, {.help = "The seed of the random orders.", .absent = "1"});
  visit("edges", request.edges, {.help = "The edges to cut: the weights of a key for a query."});
  visit("cut", request.cut,
        {.help = "Where edges are cut: scores before the softmax, so that the other edges get "
                 "their share; or weights, after it.",
         .absent = "\"scores\""});
  visit("least", request.least,
        {.help = "The share of the number that the circuit keeps.", .absent = "0.8"});
  visit("words", request.words,
        {.help = "How many next tokens of each layer, the most probable ones.",
         .absent = "5",
         .least = 1,
         .most = most_lens_words});
  next_token_fields(visit, request);
  visit("interpolate", request.interpolate, about_interpolate);
  visit("size", request.size, about_size);
  visit("labels", request.labels,
        {.help = "The labels to choose from, for a model that compares pictures with texts.",
         .items = "labels",
         .apart = true});
  visit("hypothesis_template", request.hypothesis_template,
        {.help = "The text for a label, with the label in place of {}.",
         .absent = "\"This is a photo of {}.\""});
}

/// Throws `invalid_option` for a method that does not explain such answers or, if `gradients` is
/// false, needs gradients; for options that it does not have; and for numbers out of their range.
void check_request(const ExplainRequest& request, Answered answer, bool gradients);
/// Throws `invalid_option` unless the number, which selects `what`, is below `end`.
void expect_below(const char* option, const char* what, std::size_t number, std::size_t end);
/// Returns the options token, against and effects of a request whose ranges were checked.
NextAttributionOptions next_attribution_options(const ExplainRequest& request);

}  // namespace glassformer
