#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/pool.hpp"
#include "models/dictionary/dictionary_tracer.hpp"
#include "models/model.hpp"
#include "train/example.hpp"
#include "train/loss.hpp"
#include "train/objective.hpp"

namespace glassformer {

/// Runs a model over examples while dictionaries look on, as many shards at a time as there are
/// threads.
class DictionaryRuns {
 public:
  /// All must outlive this.
  DictionaryRuns(const Model& model, const Objective& objective, const DictionarySet& dictionaries,
                 std::size_t shard_tokens, Pool& pool);
  ~DictionaryRuns();

  /// A run over some of the examples.
  struct Shard {
    const Lesson& lesson;
    const DictionaryTracer& seen;
    LossSum loss;  ///< of the model, with what was replaced
  };
  /// Calls take(shard) for all examples, in their order, on this thread. `replace` may be empty; it
  /// is called on all threads.
  void operator()(std::span<const Example* const> examples,
                  const DictionaryTracer::Replace& replace,
                  const std::function<void(const Shard&)>& take);

 private:
  const Model& model_;
  const Objective& objective_;
  const DictionarySet& dictionaries_;
  std::size_t shard_tokens_;
  Pool& pool_;
  std::vector<std::unique_ptr<Session>> sessions_;  // of each thread
};

/// The tokens on which dictionaries are measured, at most.
inline constexpr std::size_t most_measured = 65'536;

/// Returns the first examples, as many as have this many tokens.
std::vector<const Example*> some_of(std::span<const Example> examples, std::size_t most);

/// Returns the batch of the sequences whose rows a dictionary reads; without any for a model of
/// pictures.
const Batch& batch_of(const DictionaryConfig& config, const WholePass& pass);

}  // namespace glassformer
