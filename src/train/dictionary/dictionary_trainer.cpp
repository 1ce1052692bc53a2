#include "train/dictionary/dictionary_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/error.hpp"
#include "kernels/learning.hpp"

namespace glassformer {
namespace {

constexpr std::size_t block_rows = 128;  // whose pre-activations are in memory at once
constexpr std::size_t most_revived =
    512;  // dead features that a row's error is explained by, at most
constexpr float revival_weight = 1.0f / 32.0f;  // of AuxK
constexpr float smallest_scale = 1e-6f;
constexpr float first_scale = 0.1f;  // of what the first features read

float dot(std::span<const float> a, std::span<const float> b) {
  return learning_kernels().dot(a.data(), b.data(), a.size());
}

void add(std::span<const float> x, std::span<float> sum, float factor) {
  kernels().add_scaled(sum.data(), x.data(), x.size(), factor);
}

// Σ ‖y - mean y‖² of rows [N, D].
double total_variance(std::span<const float> y, std::size_t width) {
  const std::size_t count = y.size() / width;
  std::vector<double> mean(width);
  double squares = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    mean[i % width] += double{y[i]};
    squares += double{y[i]} * double{y[i]};
  }
  for (const double sum : mean) squares -= sum * sum / static_cast<double>(count);
  return squares;
}

}  // namespace

// A dictionary that learns from rows x' = (x - mean) / scale and y', likewise.
class DictionaryTrainer::Learned {
 public:
  Learned(Dictionary& dictionary, std::uint64_t seed, std::uint64_t dead_after)
      : dictionary_(dictionary),
        width_(dictionary.config().d_model),
        count_(dictionary.config().features),
        seed_(seed),
        dead_after_(static_cast<float>(dead_after)),
        mean_x_(width_),
        mean_y_(width_),
        scales_{1, 1, 1},
        silent_(count_) {
    for (const NamedParameter& parameter : dictionary.parameters()) {
      set_values(parameter, std::vector<float>(element_count(parameter.shape)), 0);
    }
    parameters_ = std::make_unique<LearnedParameters>(dictionary.parameters());
    optimizer_ = std::make_unique<Optimizer>(*parameters_, OptimizerOptions{.decay = 0});
    gradients_ = std::make_unique<ParameterGradients>(parameters_->make_gradients());
  }

  // Sets the means and scales, and the first values: each feature reads what is special about a
  // row, and writes in the direction that the model wrote then.
  void start(std::span<const float> x, std::span<const float> y) {
    const std::size_t rows = x.size() / width_;
    scale_rows(x, mean_x_, scales_[0]);
    scale_rows(y, mean_y_, scales_[1]);
    SplitMix64 random(seed_);
    const auto parts = parameters_->parts();
    std::vector<float> from(width_), to(width_);
    for (std::size_t f = 0; f < count_; ++f) {
      const auto row = static_cast<std::size_t>(random.next() % rows);
      normalize(x.subspan(row * width_, width_), mean_x_, scales_[0], from);
      normalize(y.subspan(row * width_, width_), mean_y_, scales_[1], to);
      for (float& each : from) each += random.uniform() - 0.5f;
      for (float& each : to) each += random.uniform() - 0.5f;
      const float long_from = std::max(std::sqrt(dot(from, from)), smallest_scale);
      const float long_to = std::max(std::sqrt(dot(to, to)), smallest_scale);
      std::ranges::transform(from, parts[0].value.begin() + offset(f),
                             [&](float each) { return first_scale * each / long_from; });
      std::ranges::transform(to, parts[2].value.begin() + offset(f),
                             [&](float each) { return each / long_to; });
    }
    parameters_->pack();
  }

  // Computes the errors of rows and, if it learns, their gradients: sums of squares, in scaled
  // numbers.
  struct Result {
    double error = 0, variance = 0;
    bool finite = true;
  };
  Result learn(std::span<const float> x, std::span<const float> y, bool learns) {
    const std::size_t rows = x.size() / width_;
    gradients_->set_to_zero();
    Result result;
    std::vector<std::uint32_t> dead;
    for (std::size_t f = 0; learns && f < count_; ++f) {
      if (silent_[f] > dead_after_) dead.push_back(static_cast<std::uint32_t>(f));
    }
    fired_.assign(count_, false);
    AlignedBuffer from(block_rows * width_), to(block_rows * width_), pre(block_rows * count_);
    for (std::size_t first = 0; first < rows; first += block_rows) {
      const std::size_t count = std::min(block_rows, rows - first);
      for (std::size_t i = 0; i < count; ++i) {
        normalize(x.subspan((first + i) * width_, width_), mean_x_, scales_[0],
                  std::span(from).subspan(i * width_, width_));
        normalize(y.subspan((first + i) * width_, width_), mean_y_, scales_[1],
                  std::span(to).subspan(i * width_, width_));
      }
      dictionary_.read(const_view(from.data(), {count, width_}), view(pre.data(), {count, count_}),
                       session_);
      for (std::size_t i = 0; i < count; ++i) {
        const Row row = {std::span(from).subspan(i * width_, width_),
                         std::span(to).subspan(i * width_, width_),
                         std::span(pre).subspan(i * count_, count_)};
        result.error += learn_row(row, rows, dead, learns);
      }
    }
    result.variance = total_variance_of(y);
    if (!learns) return result;
    scales_[2] = static_cast<float>(result.error / std::max(result.variance, 1e-12));
    for (std::size_t f = 0; f < count_; ++f) {
      silent_[f] = fired_[f] ? 0 : silent_[f] + static_cast<float>(rows);
    }
    result.finite = std::isfinite(result.error);
    for (const LearnedParameters::Part& part : parameters_->parts()) {
      const auto gradient = part.of(*gradients_);
      result.finite = result.finite && std::isfinite(dot(gradient, gradient));
    }
    return result;
  }

  // Takes a step. Returns the norm of the gradients.
  float step(float rate) {
    const auto parts = parameters_->parts();
    const std::span<float> decoder = parts[2].value, of_decoder = parts[2].of(*gradients_);
    for (std::size_t f = 0; f < count_; ++f) {  // what would only make a column longer
      const auto column = decoder.subspan(f * width_, width_);
      const auto gradient = of_decoder.subspan(f * width_, width_);
      add(column, gradient, -dot(column, gradient));
    }
    const float norm = optimizer_->step(*gradients_, rate);
    for (std::size_t f = 0; f < count_; ++f) {
      const auto column = decoder.subspan(f * width_, width_);
      kernels().scale(column.data(), column.data(), width_, 1 / std::sqrt(dot(column, column)));
    }
    return norm;
  }

  // Sets another dictionary to what this has learned, for rows as they are.
  void copy_to(Dictionary& to) const {
    const auto parts = parameters_->parts();
    const std::vector<NamedParameter> parameters = to.parameters();
    const float read = scales_[1] / scales_[0];
    std::vector<float> encoder(parts[0].value.begin(), parts[0].value.end()), bias(count_);
    for (float& each : encoder) each *= read;
    for (std::size_t f = 0; f < count_; ++f) {
      bias[f] = scales_[1] * parts[1].value[f] -
                dot(std::span<const float>(encoder).subspan(f * width_, width_), mean_x_);
    }
    std::vector<float> shift(width_);
    for (std::size_t c = 0; c < width_; ++c) {
      shift[c] = scales_[1] * parts[3].value[c] + mean_y_[c];
    }
    set_values(parameters[0], encoder, 0);
    set_values(parameters[1], bias, 0);
    set_values(parameters[2], parts[2].value, 0);
    set_values(parameters[3], shift, 0);
  }

  void add_all_stored(std::vector<Stored>& stored) {
    const std::string& name = dictionary_.config().writes;
    add_stored(*parameters_, *optimizer_, stored);
    stored.push_back({"mean/" + name + ".x", {width_}, mean_x_});
    stored.push_back({"mean/" + name + ".y", {width_}, mean_y_});
    stored.push_back({"scales/" + name, {scales_.size()}, scales_});
    stored.push_back({"silent/" + name, {count_}, silent_});
  }
  void restored(std::uint64_t steps) {
    optimizer_->set_steps(steps);
    parameters_->pack();
  }

  std::size_t numbers() const { return parameters_->count(); }

 private:
  struct Row {
    std::span<const float> x, y, pre;
  };

  std::ptrdiff_t offset(std::size_t feature) const {
    return static_cast<std::ptrdiff_t>(feature * width_);
  }

  double total_variance_of(std::span<const float> y) const {
    return total_variance(y, width_) / (double{scales_[1]} * double{scales_[1]});
  }

  // The mean of rows, and the root of their mean variance per number.
  void scale_rows(std::span<const float> rows, std::span<float> mean, float& scale) const {
    const std::size_t count = rows.size() / width_;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      mean[i % width_] += rows[i] / static_cast<float>(count);
    }
    const double variance = total_variance(rows, width_) / static_cast<double>(rows.size());
    scale = std::max(static_cast<float>(std::sqrt(std::max(variance, 0.0))), smallest_scale);
  }

  static void normalize(std::span<const float> row, std::span<const float> mean, float scale,
                        std::span<float> to) {
    for (std::size_t c = 0; c < row.size(); ++c) to[c] = (row[c] - mean[c]) / scale;
  }

  // Adds the gradients of features that write `error` less than they should.
  void lead_back(std::span<const ActiveFeature> features, std::span<const float> error,
                 std::span<const float> x, float weight) {
    const auto parts = parameters_->parts();
    const std::span<float> of_encoder = parts[0].of(*gradients_),
                           of_bias = parts[1].of(*gradients_),
                           of_decoder = parts[2].of(*gradients_);
    for (const ActiveFeature& each : features) {
      const std::size_t at = each.feature * width_;
      const float of_activation = weight * dot(error, dictionary_.direction(each.feature));
      add(error, of_decoder.subspan(at, width_), weight * each.activation);
      add(x, of_encoder.subspan(at, width_), of_activation);
      of_bias[each.feature] += of_activation;
    }
  }

  // Returns the squared error of a row.
  double learn_row(const Row& row, std::size_t rows, std::span<const std::uint32_t> dead,
                   bool learns) {
    error_.resize(width_);
    const std::vector<ActiveFeature> active = dictionary_.active(row.pre);
    dictionary_.write(active, error_);
    add(row.y, error_, -1);
    const double squares = double{dot(error_, error_)};
    if (!learns) return squares;
    const float weight = 2.0f / static_cast<float>(rows * width_);
    for (const ActiveFeature& each : active) fired_[each.feature] = true;
    lead_back(active, error_, row.x, weight);
    add(error_, parameters_->parts()[3].of(*gradients_), weight);
    if (!dead.empty()) revive(row, weight, dead);
    return squares;
  }

  // AuxK: the dead features that the row excites most predict what the others left.
  void revive(const Row& row, float weight, std::span<const std::uint32_t> dead) {
    std::vector<ActiveFeature> chosen;
    for (const std::uint32_t f : dead) chosen.push_back({f, row.pre[f]});
    // About half as many as there are numbers: more would share the error, and stay weak.
    const std::size_t most = std::clamp<std::size_t>(width_ / 2, 1, most_revived);
    if (chosen.size() > most) {
      std::ranges::nth_element(chosen, chosen.begin() + static_cast<std::ptrdiff_t>(most),
                               std::greater(), &ActiveFeature::activation);
      chosen.resize(most);
    }
    std::erase_if(chosen, [](const ActiveFeature& each) { return each.activation <= 0; });
    std::vector<float> left = error_;  // ŷ - y: predicted with the opposite sign
    for (const ActiveFeature& each : chosen) {
      add(dictionary_.direction(each.feature), left, each.activation);
    }
    lead_back(chosen, left, row.x, weight * revival_weight / std::max(scales_[2], 0.01f));
  }

  Dictionary& dictionary_;
  std::size_t width_, count_;
  std::uint64_t seed_;
  float dead_after_;
  std::vector<float> mean_x_, mean_y_;
  std::vector<float> scales_;  // of x and y, and the share of the variance that was left
  std::vector<float> silent_;  // [F] tokens since a feature was active
  std::vector<bool> fired_;
  std::vector<float> error_;
  Session session_;
  std::unique_ptr<LearnedParameters> parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<ParameterGradients> gradients_;
};

DictionaryTrainer::DictionaryTrainer(const Model& model, const Objective& objective,
                                     const std::vector<DictionaryConfig>& configs,
                                     std::span<const Example> examples,
                                     const DictionaryTrainerOptions& options)
    : Learner(examples, options.seed, options.fingerprint),
      configs_(configs),
      options_(options),
      dictionaries_(configs),
      runs_(model, objective, dictionaries_, options.shard_tokens, [this]() -> Pool& {
        pool_.resize(options_.threads);
        return pool_;
      }()) {
  for (std::size_t i = 0; i < dictionaries_.size(); ++i) {
    each_.push_back(
        std::make_unique<Learned>(dictionaries_[i], options.seed + i, options.dead_after));
  }
}

DictionaryTrainer::~DictionaryTrainer() = default;

StepResult DictionaryTrainer::step(double progress) {
  const TrainingProgress before = this->progress();
  const std::vector<const Example*> batch = next_batch(options_.batch_tokens);
  StepResult result;
  result.rate = options_.schedule.at(progress);
  std::vector<std::vector<float>> x(each_.size()), y(each_.size());
  runs_(batch, {}, [&](const DictionaryRuns::Shard& shard) {
    for (std::size_t i = 0; i < each_.size(); ++i) {
      const auto &read = shard.seen.read(i), &written = shard.seen.written(i);
      x[i].insert(x[i].end(), read.begin(), read.end());
      y[i].insert(y[i].end(), written.begin(), written.end());
    }
  });
  std::vector<Learned::Result> learned(each_.size());
  std::vector<float> norms(each_.size());
  pool_.each(each_.size(), [&](std::size_t i, std::size_t) {
    if (before.step == 0) each_[i]->start(x[i], y[i]);
    learned[i] = each_[i]->learn(x[i], y[i], true);
  });
  if (!std::ranges::all_of(learned, &Learned::Result::finite)) {
    fail_step(before);
  }
  pool_.each(each_.size(),
             [&](std::size_t i, std::size_t) { norms[i] = each_[i]->step(result.rate); });
  for (const Example* const example : batch) result.tokens += example->tokens();
  for (std::size_t i = 0; i < each_.size(); ++i) {
    result.loss +=
        loss_of(learned[i].error, learned[i].variance, x[i].size() / configs_[i].d_model);
    result.gradient_norm = std::max(result.gradient_norm, norms[i]);
  }
  count_step(result.tokens);
  return result;
}

LossSum DictionaryTrainer::loss_of(double error, double variance, std::size_t rows) {
  const double left = error / std::max(variance, 1e-12);
  const double count = static_cast<double>(rows);
  return {.loss = left * count,
          .count = rows,
          .correct = static_cast<std::size_t>(std::max(1 - left, 0.0) * count)};
}

LossSum DictionaryTrainer::evaluate(std::span<const Example> examples) {
  LossSum sum;
  runs_(some_of(examples, most_measured), {}, [&](const DictionaryRuns::Shard& shard) {
    std::vector<LossSum> sums(each_.size());
    pool_.each(each_.size(), [&](std::size_t i, std::size_t) {
      const auto &x = shard.seen.read(i), &y = shard.seen.written(i);
      const Learned::Result result = each_[i]->learn(x, y, false);
      sums[i] = loss_of(result.error, result.variance, x.size() / configs_[i].d_model);
    });
    for (const LossSum& each : sums) sum += each;
  });
  return sum;
}

std::size_t DictionaryTrainer::count() const {
  std::size_t count = 0;
  for (const auto& each : each_) count += each->numbers();
  return count;
}

std::unique_ptr<DictionarySet> DictionaryTrainer::dictionaries() const {
  auto copies = std::make_unique<DictionarySet>(configs_);
  for (std::size_t i = 0; i < each_.size(); ++i) each_[i]->copy_to((*copies)[i]);
  return copies;
}

std::vector<Learner::Stored> DictionaryTrainer::stored() {
  std::vector<Stored> stored;
  for (const auto& each : each_) each->add_all_stored(stored);
  return stored;
}

void DictionaryTrainer::restored() {
  for (const auto& each : each_) each->restored(progress().step);
}

}  // namespace glassformer
