#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explain/readings/score_attribution.hpp"
#include "tasks/explain/traced_subject.hpp"

// Explains a score of an attention, for every task.

namespace glassformer {

/// Why a head looks there.
struct ScoreExplanation : SubjectFacts {
  std::string attention = {};
  std::size_t head = 0, query = 0, key = 0;
  /// The texts of the rows that ask, and of those that are looked at; empty for a picture.
  std::vector<std::string> query_tokens = {}, key_tokens = {};
  /// The answer whose change is measured, with effects. Without them, it has no label or token.
  std::optional<double> value = {};
  ScoreAttribution attribution = {};
};

template <class Visit>
void fields(Visit& visit, ScorePart& part) {
  std::optional<float> contrast, weight = part.weight, effect = part.effect;
  if (part.contrast) contrast = single(*part.contrast);
  visit("name", part.name,
        {.help = "As in direct_logit_attribution, such as \"layers.0.self_attn.head.3\"; or "
                 "\"distance\": what is added for the distance of query and key."});
  visit("sum", single(part.sum), {.help = "Its part of `score`."});
  visit("contrast", contrast, {.help = "Its part of `lead`.", .omitted = true});
  visit("reads", part.reads,
        {.help = "Of a head: `sum` by the tokens that it read.", .omitted = true});
  visit("contrastReads", part.contrast_reads,
        {.help = "The same for `contrast`.", .omitted = true});
  visit("weight", weight, {.help = "The weight without this part.", .omitted = true});
  visit("effect", effect,
        {.help = "How much `value` falls without this part, in this head alone.", .omitted = true});
}

template <class Visit>
void fields(Visit& visit, ScoreAttribution& result) {
  std::optional<float> lead;
  if (result.lead) lead = single(*result.lead);
  const std::vector<std::size_t> shape = {result.queries.size(), result.keys.size()};
  visit("score", single(result.score), {.help = "The score before the softmax."});
  visit("weight", result.weight, {.help = "The weight that it gives."});
  visit("lead", lead,
        {.help = "The score minus the mean of the scores of all keys, by their weights; or minus "
                 "that of `rival`.",
         .omitted = true});
  visit.each("queries", result.queries, [&](ScorePart& part) { fields(visit, part); },
             {.help = "What the query's row asks with. The sums add up to `score`."});
  visit.each("keys", result.keys, [&](ScorePart& part) { fields(visit, part); },
             {.help = "What the key's row answers with. The sums add up to `score`."});
  const std::size_t cells = shape[0] * shape[1];
  if (result.cells.size() == cells) {
    visit.tensor({"cells", shape, std::move(result.cells)},
                 {.help = "[queries, keys] The parts of both at once.", .omitted = true});
  }
  if (result.contrast_cells.size() == cells) {
    visit.tensor({"contrastCells", shape, std::move(result.contrast_cells)},
                 {.help = "The same for `lead`.", .omitted = true});
  }
}

/// Starts explanations of a score, of any task that reads or writes texts or pictures; see
/// methods.hpp. With effects, they are measured one step each.
///
/// Throws `invalid_option`, naming the option, for a place that does not exist or is masked, and
/// `unsupported` for an attention without scores and for arithmetic in integers.
std::unique_ptr<TypedJob<ScoreExplanation>> begin_score_explanation(Pipeline& pipeline,
                                                                    const TaskInputs& inputs,
                                                                    const ExplainRequest& request);

}  // namespace glassformer
