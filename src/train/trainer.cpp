#include "train/trainer.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "kernels/learning.hpp"
#include "weights/floats.hpp"

namespace glassformer {

// The memory in which the gradients of one shard are computed.
class Trainer::Worker {
 public:
  Worker(const LearnedParameters& parameters, float dropout)
      : gradients(parameters.make_gradients()), tape_(session_.arena) {
    tape_.dropout = dropout;
  }

  // Computes the loss of a shard. With `learns`, sets the gradients.
  LossSum run(const Model& model, const Objective& objective, const CrossEntropy& loss,
              const Shard& shard, bool learns) {
    SplitMix64 random = shard.random;
    const auto lesson = objective.lesson(shard.examples, learns ? &random : nullptr);
    Run run(session_);
    if (!learns) {
      session_.arena.clear();
      const View logits = lesson->pass(model, run);
      return loss(const_view(logits), lesson->targets);
    }
    gradients.set_to_zero();
    tape_.start(&gradients);
    tape_.random = random.fork();
    run.record(tape_);
    const View logits = lesson->pass(model, run);
    tape_.turn();
    const LossSum sum = loss.backward(const_view(logits), lesson->targets, shard.weight,
                                      tape_.gradient(const_view(logits)));
    tape_.rewind();
    return sum;
  }

  // Forgets what was computed from the weights.
  void forget() { session_.forget_tables(); }

  ParameterGradients gradients;

 private:
  Session session_;
  Tape tape_;
};

Trainer::Trainer(const Model& model, std::vector<NamedParameter> parameters,
                 const Objective& objective, std::span<const Example> examples,
                 const TrainerOptions& options)
    : Learner(examples, options.seed, options.fingerprint),
      model_(model),
      objective_(objective),
      options_(options),
      parameters_(std::move(parameters)),
      optimizer_(parameters_, options.optimizer, pool_),
      gradients_(parameters_.make_gradients()) {
  pool_.resize(options.threads);
  for (std::size_t i = 0; i < pool_.threads(); ++i) {
    workers_.push_back(std::make_unique<Worker>(parameters_, options.dropout));
  }
  for (const LearnedParameters::Part& part : parameters_.parts()) {
    if (options.averaging > 0) average_.emplace_back(part.value.begin(), part.value.end());
  }
}

Trainer::~Trainer() = default;

std::vector<Trainer::Shard> Trainer::cut(std::span<const Example* const> batch,
                                         SplitMix64* random) const {
  std::vector<Shard> shards;
  for (std::vector<const Example*>& examples : cut_into_shards(batch, options_.shard_tokens)) {
    shards.push_back({std::move(examples), random ? random->fork() : SplitMix64(0), 0});
  }
  return shards;
}

namespace {

// Calls exchange(bytes) for the memory of a loss and of all gradients.
template <class Exchange>
void each_part(LossSum& sum, ParameterGradients& gradients, const Exchange& exchange) {
  exchange(std::as_writable_bytes(std::span(&sum, 1)));
  for (std::size_t slot = 1; slot <= gradients.size(); ++slot) {
    exchange(std::as_writable_bytes(gradients.of(slot)));
  }
}

}  // namespace

// Computes as many shards at a time as there are threads, then adds their gradients in their order.
// Shard i belongs to process i modulo their number. The sum over the shards before it comes from
// the process of shard i - 1; so all sums have the same order with any number of processes.
LossSum Trainer::run(const std::vector<Shard>& shards, ParameterGradients* gradients) {
  const CrossEntropy loss(gradients ? options_.smoothing : 0.0f);
  Processes* const others = has_processes && gradients ? options_.processes : nullptr;
  const std::size_t rank = others ? others->rank() : 0, count = others ? others->count() : 1;
  const std::size_t own = (shards.size() + count - 1 - rank) / count;
  std::vector<LossSum> sums(workers_.size());
  LossSum sum;
  for (std::size_t first = 0; first < own; first += workers_.size()) {
    const auto shard_of = [&](std::size_t worker) { return rank + (first + worker) * count; };
    const std::size_t working = std::min(workers_.size(), own - first);
    pool_.each(working, [&](std::size_t worker, std::size_t) {
      sums[worker] = workers_[worker]->run(model_, objective_, loss, shards[shard_of(worker)],
                                           gradients != nullptr);
    });
    for (std::size_t worker = 0; worker < working; ++worker) {
      const std::size_t i = shard_of(worker);
      if (count > 1 && i > 0) {
        each_part(sum, *gradients, [&](auto bytes) { others->receive(bytes, (i - 1) % count); });
      }
      sum += sums[worker];
      if (gradients) gradients->add(workers_[worker]->gradients, pool_);
      if (count > 1 && i + 1 < shards.size()) {
        each_part(sum, *gradients, [&](auto bytes) { others->send(bytes, (i + 1) % count); });
      }
    }
  }
  if (count > 1) {
    const std::size_t last = (shards.size() - 1) % count;
    each_part(sum, *gradients, [&](auto bytes) { others->broadcast(bytes, last); });
  }
  return sum;
}

StepResult Trainer::step(double progress) {
  const TrainingProgress before = this->progress();
  SplitMix64 random(options_.seed + 0x5851f42d4c957f2du * (before.step + 1));
  const std::vector<const Example*> batch = next_batch(options_.batch_tokens);
  std::vector<Shard> shards = cut(batch, &random);
  StepResult result;
  float targets = 0;
  for (const Example* const example : batch) {
    result.tokens += example->tokens();
    targets += objective_.weight(*example);
  }
  for (Shard& shard : shards) shard.weight = 1.0f / targets;

  gradients_.set_to_zero();
  result.loss = run(shards, &gradients_);
  result.rate = options_.schedule.at(progress);
  if (std::isfinite(result.loss.loss)) {
    result.gradient_norm = optimizer_.step(gradients_, result.rate);
  }
  if (!std::isfinite(result.loss.loss) || !std::isfinite(result.gradient_norm)) {
    fail_step(before);
  }
  for (const auto& worker : workers_) worker->forget();
  count_step(result.tokens);
  update_average();
  return result;
}

namespace {

// Returns the part of a parameter's name that says where it is: its layer or, outside the layers,
// its matrix or norm.
std::string place_of(const std::string& name) {
  constexpr std::string_view layers = ".layers.";
  const std::size_t at = name.find(layers);
  return name.substr(
      0, at == std::string::npos ? name.rfind('.') : name.find('.', at + layers.size()));
}

}  // namespace

std::vector<GradientNorm> Trainer::gradient_norms() {
  std::vector<GradientNorm> norms;
  for (const LearnedParameters::Part& part : parameters_.parts()) {
    const std::string place = place_of(part.name);
    if (norms.empty() || norms.back().name != place) norms.push_back({place, 0});
    const std::span<const float> gradient = part.of(gradients_);
    norms.back().norm += learning_kernels().dot(gradient.data(), gradient.data(), gradient.size());
  }
  for (GradientNorm& each : norms) each.norm = std::sqrt(each.norm);
  return norms;
}

void Trainer::update_average() {
  if (average_.empty()) return;
  const auto n = static_cast<float>(progress().step);
  const float kept = std::min(options_.averaging, n / (n + 10));
  pool_.each(average_.size(), [&](std::size_t i, std::size_t) {
    AlignedBuffer& average = average_[i];
    kernels().scale(average.data(), average.data(), average.size(), kept);
    kernels().add_scaled(average.data(), parameters_.parts()[i].value.data(), average.size(),
                         1 - kept);
  });
}

void Trainer::with_average(const std::function<void()>& visit) {
  const auto swap = [this] {
    for (std::size_t i = 0; i < average_.size(); ++i) {
      std::ranges::swap_ranges(average_[i], parameters_.parts()[i].value);
    }
    parameters_.pack();
    for (const auto& worker : workers_) worker->forget();
  };
  swap();
  try {
    visit();
  } catch (...) {
    swap();
    throw;
  }
  swap();
}

LossSum Trainer::evaluate(std::span<const Example> examples) {
  std::vector<const Example*> all;
  for (const Example& example : examples) all.push_back(&example);
  LossSum sum;
  with_average([&] { sum = run(cut(all, nullptr), nullptr); });
  return sum;
}

std::vector<Learner::Stored> Trainer::stored() {
  std::vector<Stored> stored;
  add_stored(parameters_, optimizer_, stored);
  for (std::size_t i = 0; i < average_.size(); ++i) {
    const LearnedParameters::Part& part = parameters_.parts()[i];
    stored.push_back({"average/" + part.name, part.shape, average_[i]});
  }
  return stored;
}

void Trainer::restored() {
  optimizer_.set_steps(progress().step);
  parameters_.pack();
  for (const auto& worker : workers_) worker->forget();
}

}  // namespace glassformer
