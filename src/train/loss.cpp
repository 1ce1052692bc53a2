#include "train/loss.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/kernels.hpp"

namespace glassformer {

LossSum& LossSum::operator+=(const LossSum& other) {
  loss += other.loss;
  count += other.count;
  correct += other.correct;
  return *this;
}

LossSum CrossEntropy::operator()(const ConstView& logits,
                                 const std::vector<Target>& targets) const {
  LossSum sum;
  for (const Target& target : targets) sum += add(logits, target, 0, nullptr);
  return sum;
}

LossSum CrossEntropy::backward(const ConstView& logits, const std::vector<Target>& targets,
                               float weight, View gradient) const {
  LossSum sum;
  for (const Target& target : targets) {
    sum += add(logits, target, weight, &gradient(target.row, 0));
  }
  return sum;
}

// The loss is log Σ e^z - Σ t z, and its gradient softmax(z) - t, as the shares t sum to 1.
LossSum CrossEntropy::add(const ConstView& logits, const Target& target, float weight,
                          float* gradient) const {
  const std::size_t classes = logits.shape(1);
  const float* const row = &logits(target.row, 0);
  const auto best = static_cast<std::size_t>(std::max_element(row, row + classes) - row);
  const bool hard = target.shares.empty();
  const std::size_t label = hard
                                ? static_cast<std::size_t>(target.label)
                                : static_cast<std::size_t>(std::ranges::max_element(target.shares) -
                                                           target.shares.begin());
  const float kept = 1 - smoothing_, spread = smoothing_ / static_cast<float>(classes);

  double explained = 0;  // Σ t z
  if (hard) {
    explained = double{kept} * double{row[label]};
  } else {
    for (std::size_t c = 0; c < classes; ++c) {
      explained += double{kept} * double{target.shares[c]} * double{row[c]};
    }
  }
  if (smoothing_ > 0) explained += double{spread} * std::accumulate(row, row + classes, 0.0);
  const double loss = double{writing_kernels().log_sum_exp(row, classes)} - explained;
  if (gradient) {
    std::copy_n(row, classes, gradient);
    const float sum = kernels().exponentials(gradient, classes, 1.0f);
    kernels().scale(gradient, gradient, classes, weight / sum);
    if (smoothing_ > 0) {
      for (std::size_t c = 0; c < classes; ++c) gradient[c] -= weight * spread;
    }
    if (hard) {
      gradient[label] -= weight * kept;
    } else {
      kernels().add_scaled(gradient, target.shares.data(), classes, -weight * kept);
    }
  }
  return {.loss = loss, .count = 1, .correct = best == label ? std::size_t{1} : 0};
}

}  // namespace glassformer
