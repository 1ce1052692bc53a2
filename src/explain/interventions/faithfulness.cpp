#include "explain/interventions/faithfulness.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/heap_sort.hpp"
#include "base/shuffle.hpp"
#include "base/split_mix.hpp"
#include "explain/spread.hpp"
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

double softmax_of(std::size_t label, const float* logits, std::size_t labels) {
  return std::exp(
      static_cast<double>(logits[label] - writing_kernels().log_sum_exp(logits, labels)));
}

class ClassifierRuns final : public MaskedRuns {
 public:
  // Runs the text once.
  ClassifierRuns(const EncoderRunner& model, const FaithfulnessTest::Subject& subject)
      : model_(model), text_(subject.text), probability_(subject.probability) {
    if (model->head_config().kind != HeadKind::sequence_classes) {
      throw_error(ErrorCode::unsupported, "faithfulness: expected a model that classifies texts");
    }
    const Tensor logits = run_input(model, text_, {}).logits;
    expect_finite({logits.data(), logits.size()});
    const std::size_t labels = logits.shape(1);
    contrast_ = contrast_for(subject.label.value_or(largest({logits.data(), labels})), labels);
    whole_ = answer_of(logits.data());
  }

  std::size_t tokens() const override { return text_.tokens(); }
  Answer whole() const override { return whole_; }

  std::vector<Answer> operator()(std::span<const std::vector<std::size_t>> masked) const override {
    const Tensor logits =
        text_.is_picture() ? run<Pictures>(masked).logits : run<Batch>(masked).logits;
    expect_finite({logits.data(), logits.size()});
    std::vector<Answer> answers;
    for (std::size_t i = 0; i < masked.size(); ++i) answers.push_back(answer_of(&logits(i, 0)));
    return answers;
  }

 private:
  template <class AnyBatch>
  EncoderModel::Output run(std::span<const std::vector<std::size_t>> masked) const {
    AnyBatch batch;
    for (const std::vector<std::size_t>& tokens : masked) text_.add_to(batch, tokens);
    return model_(batch, {});
  }

  Answer answer_of(const float* logits) const {
    return {contrast_.of(logits), probability_of(logits)};
  }

  double probability_of(const float* logits) const {
    const float logit = logits[contrast_.label];
    switch (probability_) {
      case Probability::softmax:
        return softmax_of(contrast_.label, logits, contrast_.weights.size());
      case Probability::sigmoid:
        return 1 / (1 + std::exp(-static_cast<double>(logit)));
      case Probability::none:
        break;
    }
    return static_cast<double>(logit);
  }

  EncoderRunner model_;
  ExplainedText text_;
  Probability probability_;
  Contrast contrast_;
  Answer whole_;
};

class NextTokenRuns final : public MaskedRuns {
 public:
  NextTokenRuns(const WriterRunner& model, const DecodedText& text, Contrast contrast)
      : model_(model), text_(text), contrast_(std::move(contrast)) {}

  std::size_t tokens() const override { return text_.tokens(); }
  Answer whole() const override {
    const std::vector<std::size_t> none;
    return (*this)(std::span(&none, 1)).front();
  }

  std::vector<Answer> operator()(std::span<const std::vector<std::size_t>> masked) const override {
    const WholePass pass = text_.pass(masked);
    model_.session.arena.clear();
    Run run(model_.session, nullptr);
    const View logits = run_pass(model_, text_, pass, run);
    std::vector<Answer> answers;
    for (std::size_t i = 0; i < masked.size(); ++i) {
      const float* const row = &logits(i, 0);
      answers.push_back({contrast_.of(row), softmax_of(contrast_.label, row, logits.shape(1))});
    }
    return answers;
  }

 private:
  WriterRunner model_;
  DecodedText text_;
  Contrast contrast_;
};

}  // namespace

std::unique_ptr<const MaskedRuns> masked_runs(const WriterRunner& model, const DecodedText& text,
                                              Contrast contrast) {
  return std::make_unique<NextTokenRuns>(model, text, std::move(contrast));
}

float Faithfulness::random_mean() const { return spread_of(random).mean; }

float Faithfulness::random_deviation() const { return spread_of(random).deviation; }

FaithfulnessTest::FaithfulnessTest(const EncoderRunner& model, Subject subject, std::size_t orders,
                                   std::uint32_t seed)
    : FaithfulnessTest(std::make_unique<ClassifierRuns>(model, subject), std::move(subject.ranking),
                       orders, seed) {}

FaithfulnessTest::FaithfulnessTest(std::unique_ptr<const MaskedRuns> runs, Ranking ranking,
                                   std::size_t orders, std::uint32_t seed)
    : masked_runs_(std::move(runs)), ranking_(std::move(ranking)) {
  const std::size_t parts = ranking_.parts.size();
  if (parts < 2) {
    throw_error(
        ErrorCode::invalid_option,
        {"text: expected at least two words, so that some can be left out, got {}", {parts}});
  }
  full_ = masked_runs_->whole();

  counts_ = points(parts);
  for (const std::size_t percent : share_percents) {
    share_counts_.push_back(std::max<std::size_t>(1, (parts * percent + 50) / 100));
  }
  for (std::size_t part = 0; part < parts; ++part) {  // each part is left out alone
    std::vector<bool> removed(parts);
    removed[part] = true;
    runs_.push_back({std::move(removed)});
  }
  plan(order_of(ranking_.scores), true);
  SplitMix64 random(seed);
  for (std::size_t i = 0; i < orders; ++i) {
    std::vector<std::size_t> order(parts);
    std::iota(order.begin(), order.end(), std::size_t{0});
    shuffle(order, random);
    plan(order, false);
  }
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
  for (std::size_t part = 0; part < ranking_.parts.size(); ++part) {
    result_.losses.push_back(static_cast<float>(full_.number - runs_[part].answer.number));
  }
  plan(order_of(result_.losses), true);
}

std::vector<std::size_t> FaithfulnessTest::masked_in(const Run& run) const {
  std::vector<std::size_t> masked;
  for (std::size_t part = 0; part < ranking_.parts.size(); ++part) {
    const std::vector<std::size_t>& members = ranking_.parts[part];
    if (run.removed[part]) masked.insert(masked.end(), members.begin(), members.end());
  }
  return masked;
}

bool FaithfulnessTest::step(std::size_t tokens) {
  if (next_ == runs_.size()) return false;
  const std::size_t most = std::max<std::size_t>(tokens / masked_runs_->tokens(), 1);
  const std::span<Run> now = std::span(runs_).subspan(next_, std::min(most, runs_.size() - next_));
  std::vector<std::vector<std::size_t>> masked;
  for (const Run& run : now) masked.push_back(masked_in(run));
  const std::vector<MaskedRuns::Answer> answers = (*masked_runs_)(masked);
  for (std::size_t i = 0; i < now.size(); ++i) now[i].answer = answers[i];
  next_ += now.size();
  if (!knows_losses_ && next_ >= ranking_.parts.size()) plan_leave_one_out();
  return next_ < runs_.size();
}

OrderTest FaithfulnessTest::read(std::size_t first, bool shares) const {
  OrderTest test;
  const Run* run = runs_.data() + first;
  for (std::size_t i = 0; i < counts_.size(); ++i, run += 2) {
    test.deletion.push_back(static_cast<float>(run[0].answer.number));
    test.insertion.push_back(static_cast<float>(run[1].answer.number));
  }
  test.score = spread_of(test.insertion).mean - spread_of(test.deletion).mean;
  for (std::size_t i = 0; shares && i < share_counts_.size(); ++i, run += 2) {
    test.comprehensiveness.push_back(
        static_cast<float>(full_.probability - run[0].answer.probability));
    test.sufficiency.push_back(static_cast<float>(full_.probability - run[1].answer.probability));
  }
  return test;
}

Faithfulness FaithfulnessTest::take() {
  result_.tokens = std::move(ranking_.tokens);
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
