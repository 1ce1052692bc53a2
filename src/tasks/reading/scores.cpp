#include "tasks/reading/scores.hpp"

#include <cmath>
#include <string>

#include "base/error.hpp"
#include "kernels/kernels.hpp"

namespace glassformer {
namespace {

void expect_finite_logits(std::span<const float> logits) {
  for (const float logit : logits) {
    if (std::isfinite(logit)) continue;
    throw_error(ErrorCode::non_finite, {"logits: expected finite numbers, got {}: the model's "
                                        "activations exceed the range of floats",
                                        {std::isnan(logit) ? "NaN" : "infinity"}});
  }
}

void softmax(std::span<float> logits) {
  const float sum = kernels().exponentials(logits.data(), logits.size(), 1.0f);
  kernels().scale(logits.data(), logits.data(), logits.size(), 1.0f / sum);
}

}  // namespace

void to_scores(Scoring scoring, std::span<float> logits) {
  expect_finite_logits(logits);
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
