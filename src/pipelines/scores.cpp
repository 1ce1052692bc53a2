#include "pipelines/scores.hpp"

#include <cmath>
#include <string>

#include "error.hpp"
#include "kernels/kernels.hpp"

namespace glassformer {
namespace {

void expect_finite(std::span<const float> logits) {
  for (const float logit : logits) {
    if (std::isfinite(logit)) continue;
    throw Error(ErrorCode::non_finite, "logits: expected finite numbers, got " +
                                           std::string(std::isnan(logit) ? "NaN" : "infinity") +
                                           ": the model's weights lead out of the range of floats");
  }
}

void softmax(std::span<float> logits) {
  const float sum = kernels().exponentials(logits.data(), logits.size(), 1.0f);
  kernels().scale(logits.data(), logits.data(), logits.size(), 1.0f / sum);
}

}  // namespace

Scoring scoring_of(std::string_view problem_type, std::size_t labels) {
  if (problem_type == "regression") return Scoring::raw;
  const bool several = problem_type == "multi_label_classification";
  if (!several && !problem_type.empty() && problem_type != "single_label_classification") {
    throw Error(ErrorCode::invalid_config,
                "config.json: problem_type: expected \"regression\", "
                "\"single_label_classification\" or \"multi_label_classification\", got \"" +
                    std::string(problem_type) + '"');
  }
  return several || labels == 1 ? Scoring::sigmoid : Scoring::softmax;
}

void to_scores(Scoring scoring, std::span<float> logits) {
  expect_finite(logits);
  if (scoring == Scoring::softmax) softmax(logits);
  if (scoring == Scoring::sigmoid) {
    for (float& logit : logits) {
      float pair[] = {logit, 0.0f};  // e^x / (e^x + e^0)
      softmax(pair);
      logit = pair[0];
    }
  }
}

}  // namespace glassformer
