#pragma once

#include <memory>
#include <vector>

#include "explain/dictionaries/text_features.hpp"
#include "tasks/explain/traced_subject.hpp"

// The features of dictionaries that are active in a text or a picture, for every task.

namespace glassformer {

struct FeatureExplanation : SubjectFacts {
  std::vector<TextFeatures> dictionaries = {};
};

template <class Visit>
void fields(Visit& visit, const ActiveFeature& feature) {
  visit("feature", feature.feature, {.help = "Its number in the dictionary."});
  visit("activation", feature.activation);
}

template <class Visit>
void fields(Visit& visit, const TextFeatures& of) {
  visit("name", of.name, {.help = "The tensor that the dictionary writes."});
  visit("kind", name_of(of.kind), {.help = "\"transcoder\" or \"sae\"."});
  visit("rowTokens", of.tokens, {.help = "The text of each row's token; of a picture, none."});
  visit("rows", of.rows, {.help = "The active features of each row, the strongest first."});
  visit("error", of.error,
        {.help = "Of each row, the share of the squared length that the features leave."});
}

template <class Visit>
void fields(Visit& visit, FeatureExplanation& result) {
  visit("dictionaries", result.dictionaries, {.help = "One for each dictionary."});
}

/// Starts listing features, of any task; see methods.hpp. Throws `invalid_option` if the pipeline
/// has no dictionaries, and `unsupported` for arithmetic in integers.
std::unique_ptr<TypedJob<FeatureExplanation>> begin_feature_explanation(
    Pipeline& pipeline, const TaskInputs& inputs, const ExplainRequest& request);

}  // namespace glassformer
