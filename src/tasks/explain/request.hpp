#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/tasks/explain.hpp"
#include "explain/interventions/transplant.hpp"
#include "run/tape.hpp"
#include "tasks/options.hpp"

namespace glassformer {

template <>
inline constexpr std::array enum_names<TransplantSite::Kind>{
    "residual", "attention", "feed_forward", "head", "query", "key", "value"};
template <>
inline constexpr std::array enum_names<Cut>{"scores", "weights"};

/// The options of an explanation. `method` is required. The method and the task determine which
/// other options are allowed; see begin_explanation.
struct ExplainRequest {
  std::string method = {};
  std::optional<std::string> label = {};
  std::optional<bool> effects = {};
  std::optional<TransplantSite::Kind> site = {};
  std::optional<std::size_t> head = {};
  std::optional<bool> shows_progress = {};
  std::optional<std::string> of = {};
  std::optional<std::vector<float>> scores = {};
  std::optional<std::size_t> orders = {}, seed = {};
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

template <class Visit>
void fields(Visit& visit, ExplainRequest& request) {
  visit("method", request.method);
  visit("label", request.label);
  visit("effects", request.effects);
  visit("site", request.site);
  visit("head", request.head);
  visit("on_progress", request.shows_progress);
  visit("of", request.of);
  visit("scores", request.scores);
  visit("orders", request.orders);
  visit("seed", request.seed);
  visit("edges", request.edges);
  visit("cut", request.cut);
  visit("least", request.least);
  visit("from", request.from);
  visit("to", request.to);
  visit("beams", request.beams);
  visit("words", request.words);
  visit("sentence", request.sentence);
  visit("position", request.position);
  visit("prefix", request.prefix, {.items = "ids"});
  visit("token", request.token);
  visit("against", request.against);
  visit("interpolate", request.interpolate);
  visit("size", request.size, {.items = "a height and a width"});
  visit("labels", request.labels);
  visit("hypothesis_template", request.hypothesis_template);
}

/// Throws `invalid_option` unless the request's method is one of these.
void expect_method(const ExplainRequest& request, std::initializer_list<std::string_view> methods);
/// Throws `invalid_option` if the request has other options than these.
void expect_only(const ExplainRequest& request, std::initializer_list<std::string_view> options);
/// Returns a whole number of the request. Throws `invalid_option` unless it is in this range.
std::size_t number_of(const char* option, const std::optional<std::size_t>& number,
                      std::size_t least, std::size_t most, std::size_t absent);
/// Throws `invalid_option` unless the number, which selects `what`, is below `end`.
void expect_below(const char* option, const char* what, std::size_t number, std::size_t end);
/// Returns the options token, against and effects.
NextLedgerOptions next_ledger_options(const ExplainRequest& request);

}  // namespace glassformer
