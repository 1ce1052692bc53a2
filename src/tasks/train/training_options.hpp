#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/option.hpp"
#include "train/optimizer.hpp"
#include "train/processes.hpp"
#include "train/schedule.hpp"

namespace glassformer {

/// The most tokens of a step.
inline constexpr double most_step_tokens = 1 << 24;

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
  std::optional<std::size_t> shard_tokens = {};   ///< tokens that a thread reads at once
  std::optional<std::size_t> vocabulary = {};     ///< pieces of a new tokenizer
  bool lower_case = true;                         ///< of a new tokenizer
  std::optional<float> held_out = {};             ///< share of the examples that measure progress
  std::optional<std::string> from = {}, to = {};  ///< languages, as for translation
  std::uint64_t seed = 1;
  std::size_t threads = 1;
  Processes* processes = nullptr;  ///< see TrainerOptions
};

/// Visits the options that do not depend on the program that trains.
template <class Visit>
void fields(Visit& visit, TrainingOptions& options) {
  visit("rate", options.rate,
        {.help = "The highest learning rate.",
         .absent = "as usual for the model and the data",
         .least = 0,
         .most = 1});
  visit("warm_up", options.warm_up,
        {.help = "Share of the steps in which the learning rate rises.", .least = 0, .most = 1});
  visit("decay", options.decay, {.help = "How the learning rate falls after that."});
  visit("optimizer", options.optimizer,
        {.help = "How steps follow from gradients.", .absent = "as usual for the model"});
  visit("weight_decay", options.weight_decay,
        {.help = "How much of the weights a step at learning rate 1 takes away.",
         .least = 0,
         .most = 1});
  visit("dropout", options.dropout,
        {.help = "Share of numbers that are set to zero at random.", .least = 0, .most = 0.9});
  visit("smoothing", options.smoothing,
        {.help = "Label smoothing: the share of probability that all labels get alike.",
         .least = 0,
         .most = 0.9});
  visit("averaging", options.averaging,
        {.help = "Decay of the mean of the weights, which is what is evaluated and saved. 0: the "
                 "last weights.",
         .least = 0,
         .most = 1});
  visit("dropped_tokens", options.dropped_tokens,
        {.help = "Share of a text's tokens that are left out at random.", .least = 0, .most = 0.9});
  visit("distortion", options.distortion,
        {.help = "Strength of random distortions of pictures. 0: none.", .least = 0, .most = 4});
  visit("batch_tokens", options.batch_tokens,
        {.help = "The number of tokens of a step.",
         .absent = "as usual for the data",
         .least = 1,
         .most = most_step_tokens});
  visit("shard_tokens", options.shard_tokens,
        {.help = "The number of tokens that a thread reads at once.",
         .absent = "as memory allows",
         .least = 1,
         .most = most_step_tokens});
  visit("vocabulary", options.vocabulary,
        {.help = "The number of pieces of a new tokenizer.",
         .absent = "as usual for the data",
         .least = 1,
         .most = 10'000'000});
  visit("lower_case", options.lower_case,
        {.help = "Whether a new tokenizer reads all letters as lower case."});
  visit("held_out", options.held_out,
        {.help = "Share of the examples that is not learned from, but measures progress.",
         .absent = "as usual for the data",
         .least = 0,
         .most = 0.9});
  visit("from", options.from,
        {.help = "The language of the texts, such as en or eng_Latn, for a translator of many "
                 "languages.",
         .absent = "as the model's files say"});
  visit("to", options.to,
        {.help = "The language of their translations.", .absent = "as the model's files say"});
  visit("seed", options.seed,
        {.help = "The same seed gives the same model, up to rounding.",
         .least = 0,
         .most = Option::most_whole});
}

template <>
inline constexpr std::array enum_names<Lessons>{"classes",    "token-classes", "masked",
                                                "next-token", "translation",   "pictures"};

}  // namespace glassformer
