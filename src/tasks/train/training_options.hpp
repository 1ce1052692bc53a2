#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "train/optimizer.hpp"
#include "train/processes.hpp"
#include "train/schedule.hpp"

namespace glassformer {

/// The things that a model can learn.
enum class Lessons {
  classes,        ///< the label of each text
  token_classes,  ///< the label of each word
  masked,         ///< hidden words of texts
  next_token,     ///< texts, each token from those before it
  translation,    ///< the translation of each text
  pictures,       ///< the label of each picture
};

/// How a model is trained. What is not set follows from the model and the data.
struct TrainingOptions {
  std::optional<Lessons> lessons = {};
  std::optional<std::size_t> epochs = {};  ///< how often every example is read
  std::optional<float> rate = {};          ///< the highest learning rate
  float warm_up = 0.05f;
  Decay decay = Decay::linear;
  std::optional<OptimizerKind> optimizer = {};
  float weight_decay = 0.01f;
  float dropout = 0.1f;
  float smoothing = 0.1f;
  float averaging = 0.998f;
  float dropped_tokens = 0;  ///< share of a text's tokens that are left out at random
  float distortion = 1;      ///< strength of random distortions of pictures; 0: none
  std::optional<std::size_t> batch_tokens = {};
  std::optional<std::size_t> shard_tokens = {};  ///< tokens that a thread reads at once
  std::optional<std::size_t> vocabulary = {};    ///< pieces of a new tokenizer
  bool lower_case = true;                        ///< of a new tokenizer
  std::optional<float> held_out = {};            ///< share of the examples that measure progress
  std::uint64_t seed = 1;
  std::size_t threads = 1;
  Processes* processes = nullptr;  ///< see TrainerOptions
};

/// Visits the options that do not depend on the program that trains.
template <class Visit>
void fields(Visit& visit, TrainingOptions& options) {
  visit("rate", options.rate);
  visit("warmUp", options.warm_up);
  visit("decay", options.decay);
  visit("optimizer", options.optimizer);
  visit("weightDecay", options.weight_decay);
  visit("dropout", options.dropout);
  visit("smoothing", options.smoothing);
  visit("averaging", options.averaging);
  visit("droppedTokens", options.dropped_tokens);
  visit("distortion", options.distortion);
  visit("batchTokens", options.batch_tokens, 1);
  visit("shardTokens", options.shard_tokens, 1);
  visit("vocabulary", options.vocabulary, 1);
  visit("lowerCase", options.lower_case);
  visit("heldOut", options.held_out);
  std::optional<std::uint64_t> seed;
  visit.seed("seed", seed);
  if (seed) options.seed = *seed;
}

template <>
inline constexpr std::array enum_names<Lessons>{"classes",    "token-classes", "masked",
                                                "next-token", "translation",   "pictures"};

}  // namespace glassformer
