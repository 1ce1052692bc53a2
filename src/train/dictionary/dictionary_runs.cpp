#include "train/dictionary/dictionary_runs.hpp"

#include <algorithm>

#include "train/learner.hpp"

namespace glassformer {

DictionaryRuns::DictionaryRuns(const Model& model, const Objective& objective,
                               const DictionarySet& dictionaries, std::size_t shard_tokens,
                               Pool& pool)
    : model_(model),
      objective_(objective),
      dictionaries_(dictionaries),
      shard_tokens_(shard_tokens),
      pool_(pool) {
  for (std::size_t i = 0; i < pool.threads(); ++i) sessions_.push_back(std::make_unique<Session>());
}

DictionaryRuns::~DictionaryRuns() = default;

void DictionaryRuns::operator()(std::span<const Example* const> examples,
                                const DictionaryTracer::Replace& replace,
                                const std::function<void(const Shard&)>& take) {
  const auto shards = cut_into_shards(examples, shard_tokens_);
  const CrossEntropy loss(0);
  struct Done {
    std::unique_ptr<Lesson> lesson;
    std::unique_ptr<DictionaryTracer> seen;
    LossSum loss;
  };
  for (std::size_t first = 0; first < shards.size(); first += sessions_.size()) {
    std::vector<Done> done(std::min(sessions_.size(), shards.size() - first));
    pool_.each(done.size(), [&](std::size_t i, std::size_t thread) {
      Session& session = *sessions_[thread];
      session.arena.clear();
      Done& to = done[i];
      to.lesson = objective_.lesson(shards[first + i], nullptr);
      to.seen = std::make_unique<DictionaryTracer>(dictionaries_);
      if (replace) to.seen->replace(replace);
      Run run(session, to.seen.get());
      const View logits = to.lesson->pass(model_, run);
      to.loss = loss(const_view(logits), to.lesson->targets);
    });
    for (const Done& each : done) take({*each.lesson, *each.seen, each.loss});
  }
}

std::vector<const Example*> some_of(std::span<const Example> examples, std::size_t most) {
  std::vector<const Example*> some;
  std::size_t tokens = 0;
  for (const Example& example : examples) {
    if (tokens >= most) break;
    some.push_back(&example);
    tokens += example.tokens();
  }
  return some;
}

const Batch& batch_of(const DictionaryConfig& config, const WholePass& pass) {
  return config.in_decoder() ? pass.targets() : pass.sources();
}

}  // namespace glassformer
