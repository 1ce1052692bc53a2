#pragma once

#include <cstddef>
#include <string_view>

#include "base/result_field.hpp"

namespace glassformer {

/// A label of a model, or one that a picture was compared with, and its score.
struct LabelScore {
  std::size_t id;
  std::string_view label;
  float score, logit;
};

template <class Visit>
void fields(Visit& visit, const LabelScore& label) {
  visit("id", label.id,
        {.help = "Its index in the labels of the model, or in the given ones. Two labels may have "
                 "one name."});
  visit("label", label.label, {.help = "Its name."});
  visit("score", label.score, {.help = "Its probability, or the model's estimate of a quantity."});
  visit("logit", label.logit, {.help = "The number from which the score is computed."});
}

inline constexpr ResultField about_label = {.help = "The label with the highest score."};
inline constexpr ResultField about_label_score = {.help = "The score of that label."};
inline constexpr ResultField about_scores = {
    .help =
        "Each label, in the order of the model's labels. Scores are probabilities that sum to 1; "
        "or, if several labels can apply at once or there is only one, a probability for each; or, "
        "if the model estimates a quantity, the logits. Logits of several windows are their mean "
        "or maximum."};

inline constexpr ResultField about_contributions = {
    .help =
        "For each label, one number per row of the attention weights, in logit units. Together "
        "with the classifier's bias they sum to the label's logit.",
    .with = "contributions"};

}  // namespace glassformer
