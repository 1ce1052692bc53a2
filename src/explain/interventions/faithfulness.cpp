#include "explain/interventions/faithfulness.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/heap_sort.hpp"
#include "base/split_mix.hpp"
#include "kernels/kernels.hpp"

namespace glassformer {
namespace {

constexpr std::size_t most_points = 40, quantiles = 20;
constexpr std::size_t share_percents[] = {5, 10, 20, 50};

// Returns the numbers of parts at which curves have points: 1 … n - 1, or quantiles of that.
std::vector<std::size_t> points(std::size_t parts) {
  std::vector<std::size_t> counts;
  if (parts <= most_points) {
    for (std::size_t k = 1; k < parts; ++k) counts.push_back(k);
  } else {
    for (std::size_t q = 1; q <= quantiles; ++q) {
      counts.push_back((q * parts + quantiles / 2) / (quantiles + 1));
    }
  }
  return counts;
}

std::vector<std::size_t> order_of(std::span<const float> scores) {
  return sorted_order(scores.size(),
                      [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
}

float mean(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);
  return values.empty() ? 0.0f : static_cast<float>(sum / static_cast<double>(values.size()));
}

}  // namespace

float Faithfulness::random_mean() const { return mean(random); }

float Faithfulness::random_deviation() const {
  if (random.size() < 2) return 0.0f;
  const double middle = static_cast<double>(random_mean());
  double squares = 0;
  for (const float score : random) {
    squares += (static_cast<double>(score) - middle) * (static_cast<double>(score) - middle);
  }
  return static_cast<float>(std::sqrt(squares / static_cast<double>(random.size() - 1)));
}

FaithfulnessTest::FaithfulnessTest(const EncoderRunner& model, Subject subject, std::size_t orders,
                                   std::uint32_t seed)
    : model_(model), subject_(std::move(subject)) {
  const std::size_t parts = subject_.parts.size();
  if (model->head_config().kind != HeadKind::sequence_classes) {
    throw_error(ErrorCode::unsupported, "faithfulness: expected a model that classifies texts");
  }
  if (parts < 2) {
    throw_error(
        ErrorCode::invalid_option,
        {"text: expected at least two words, so that some can be left out, got {}", {parts}});
  }
  const Tensor logits = run_input(model, subject_.text, {}).logits;
  expect_finite({logits.data(), logits.size()});
  const std::size_t labels = logits.shape(1);
  const std::size_t label = subject_.label.value_or(largest({logits.data(), labels}));
  contrast_ = contrast_for(label, labels);
  full_ = {{}, contrast_.of(logits.data()), probability_of(logits.data())};

  counts_ = points(parts);
  for (const std::size_t percent : share_percents) {
    share_counts_.push_back(std::max<std::size_t>(1, (parts * percent + 50) / 100));
  }
  for (std::size_t part = 0; part < parts; ++part) {  // each part is left out alone
    std::vector<bool> removed(parts);
    removed[part] = true;
    runs_.push_back({std::move(removed)});
  }
  plan(order_of(subject_.scores), true);
  SplitMix64 random(seed);
  for (std::size_t i = 0; i < orders; ++i) {
    std::vector<std::size_t> order(parts);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t k = parts; k > 1; --k) std::swap(order[k - 1], order[random.next() % k]);
    plan(order, false);
  }
}

double FaithfulnessTest::probability_of(const float* logits) const {
  const std::size_t labels = contrast_.weights.size();
  const float logit = logits[contrast_.label];
  switch (subject_.probability) {
    case Probability::softmax:
      return std::exp(static_cast<double>(logit - writing_kernels().log_sum_exp(logits, labels)));
    case Probability::sigmoid:
      return 1 / (1 + std::exp(-static_cast<double>(logit)));
    case Probability::none:
      break;
  }
  return static_cast<double>(logit);
}

// Plans the runs of an order: for each count, one without that many of its first parts and one with
// only these; then, if `shares`, the same for the share counts.
void FaithfulnessTest::plan(const std::vector<std::size_t>& order, bool shares) {
  const std::size_t parts = order.size();
  orders_.push_back(runs_.size());
  const auto add = [&](std::size_t count) {
    std::vector<bool> without(parts), alone(parts, true);
    for (std::size_t k = 0; k < count; ++k) {
      without[order[k]] = true;
      alone[order[k]] = false;
    }
    runs_.push_back({std::move(without)});
    runs_.push_back({std::move(alone)});
  };
  for (const std::size_t count : counts_) add(count);
  for (std::size_t i = 0; shares && i < share_counts_.size(); ++i) add(share_counts_[i]);
}

void FaithfulnessTest::plan_leave_one_out() {
  knows_losses_ = true;
  for (std::size_t part = 0; part < subject_.parts.size(); ++part) {
    result_.losses.push_back(static_cast<float>(full_.number - runs_[part].number));
  }
  plan(order_of(result_.losses), true);
}

// Adds the next runs to a batch of texts or pictures, up to this many tokens.
template <class AnyBatch>
AnyBatch FaithfulnessTest::next_runs(std::size_t tokens) {
  AnyBatch batch;
  std::vector<std::size_t> masked;
  for (; next_ < runs_.size(); ++next_) {
    if (batch.size() > 0 && batch.tokens() + subject_.text.tokens() > tokens) break;
    masked.clear();
    for (std::size_t part = 0; part < subject_.parts.size(); ++part) {
      const std::vector<std::size_t>& members = subject_.parts[part];
      if (runs_[next_].removed[part]) masked.insert(masked.end(), members.begin(), members.end());
    }
    subject_.text.add_to(batch, masked);
  }
  return batch;
}

bool FaithfulnessTest::step(std::size_t tokens) {
  if (next_ == runs_.size()) return false;
  const std::size_t first = next_;
  const Tensor logits = subject_.text.is_picture() ? model_(next_runs<Pictures>(tokens), {}).logits
                                                   : model_(next_runs<Batch>(tokens), {}).logits;
  expect_finite({logits.data(), logits.size()});
  for (std::size_t i = first; i < next_; ++i) {
    runs_[i].number = contrast_.of(&logits(i - first, 0));
    runs_[i].probability = probability_of(&logits(i - first, 0));
  }
  if (!knows_losses_ && next_ >= subject_.parts.size()) plan_leave_one_out();
  return next_ < runs_.size();
}

OrderTest FaithfulnessTest::read(std::size_t first, bool shares) const {
  OrderTest test;
  const Run* run = runs_.data() + first;
  for (std::size_t i = 0; i < counts_.size(); ++i, run += 2) {
    test.deletion.push_back(static_cast<float>(run[0].number));
    test.insertion.push_back(static_cast<float>(run[1].number));
  }
  test.score = mean(test.insertion) - mean(test.deletion);
  for (std::size_t i = 0; shares && i < share_counts_.size(); ++i, run += 2) {
    test.comprehensiveness.push_back(static_cast<float>(full_.probability - run[0].probability));
    test.sufficiency.push_back(static_cast<float>(full_.probability - run[1].probability));
  }
  return test;
}

Faithfulness FaithfulnessTest::take() {
  result_.counts = counts_;
  result_.full = static_cast<float>(full_.number);
  result_.scores = read(orders_.front(), true);
  result_.leave_one_out = read(orders_.back(), true);
  for (std::size_t i = 1; i + 1 < orders_.size(); ++i) {
    result_.random.push_back(read(orders_[i], false).score);
  }
  return std::move(result_);
}

}  // namespace glassformer
