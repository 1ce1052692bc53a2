#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/option.hpp"
#include "kernels/pool.hpp"
#include "models/dictionary/dictionary.hpp"
#include "train/optimizer.hpp"
#include "train/processes.hpp"
#include "train/schedule.hpp"

namespace glassformer {

/// The most tokens of a step, and the most epochs.
inline constexpr double most_step_tokens = 1 << 24;
inline constexpr double most_epochs = 0x1p32;

/// The things that a model can learn.
enum class Lessons {
  classes,        ///< the label of each text
  token_classes,  ///< the label of each word
  masked,         ///< hidden words of texts
  next_token,     ///< texts, each token from those before it
  translation,    ///< the translation of each text
  pictures,       ///< the label of each picture
  dictionary,     ///< features of the numbers inside a model that has learned
};

/// How a model is trained. What is not set follows from the model and the data.
struct TrainingOptions {
  std::optional<Lessons> lessons = {};
  std::optional<std::size_t> epochs = {};
  std::optional<float> rate = {};
  float warm_up = 0.05f;
  Decay decay = Decay::linear;
  std::optional<OptimizerKind> optimizer = {};
  float weight_decay = 0.01f;
  float dropout = 0.1f;
  float smoothing = 0.1f;
  float averaging = 0.998f;
  float drop_tokens = 0;
  float distortion = 1;
  std::optional<std::size_t> batch_tokens = {};
  std::optional<std::size_t> shard_tokens = {};
  std::optional<std::size_t> vocabulary = {};
  bool keep_case = false;
  std::optional<float> held_out = {};
  std::optional<std::string> from = {}, to = {};
  std::optional<DictionaryKind> kind = {};
  std::optional<std::string> at = {};
  std::optional<std::size_t> features = {}, active = {};
  std::uint64_t seed = 1;
  std::size_t threads = 1;
  Processes* processes = nullptr;  ///< see TrainerOptions
};

template <class Visit>
void fields(Visit& visit, TrainingOptions& options) {
  visit("lessons", options.lessons,
        {.help = "What to learn.", .absent = "by the task of the model", .apart = true});
  visit("epochs", options.epochs,
        {.help = "How often to read every example.",
         .absent = "10",
         .least = 1,
         .most = most_epochs,
         .apart = true});
  visit("rate", options.rate,
        {.help = "The highest learning rate.",
         .absent = "0.002 for a new model, 0.0002 for one from a folder",
         .least = 1e-8,
         .most = 1});
  visit("warm_up", options.warm_up,
        {.help = "The share of the training in which the learning rate rises from 0.",
         .least = 0,
         .most = 1});
  visit("decay", options.decay, {.help = "How the learning rate falls after the warm-up."});
  visit("optimizer", options.optimizer,
        {.help = "AdamW, or Muon for the matrices of layers and AdamW for the other parameters.",
         .absent = "adamw"});
  visit("weight_decay", options.weight_decay,
        {.help = "The decay of weights, per step and times the learning rate.",
         .least = 0,
         .most = 1});
  visit("dropout", options.dropout,
        {.help = "The share of activations that are set to zero at random.",
         .least = 0,
         .most = 0.9});
  visit("smoothing", options.smoothing, {.help = "Label smoothing.", .least = 0, .most = 0.9});
  visit(
      "averaging", options.averaging,
      {.help = "The decay of the moving average of the weights. The average answers, is evaluated "
               "and saved. 0 disables it.",
       .least = 0,
       .most = 1});
  visit("drop_tokens", options.drop_tokens,
        {.help = "For labels of texts: the share of a text's tokens that are left out at random.",
         .least = 0,
         .most = 0.9});
  visit("distortion", options.distortion,
        {.help = "For pictures: how strongly they are turned, slanted, scaled and moved at random. "
                 "0 disables it.",
         .least = 0,
         .most = 4});
  visit("batch_tokens", options.batch_tokens,
        {.help = "The number of tokens, or patches of pictures, per step.",
         .absent = "1024 to 8192, by the data",
         .least = 1,
         .most = most_step_tokens});
  visit(
      "shard_tokens", options.shard_tokens,
      {.help = "The number of a step's tokens that a thread reads at once. More need more memory.",
       .absent = "256 to 1024, by `batch_tokens`",
       .least = 1,
       .most = most_step_tokens});
  visit("vocabulary", options.vocabulary,
        {.help = "The number of pieces of a new tokenizer.",
         .absent = "1000 to 8000, by the data",
         .least = 1,
         .most = 10'000'000});
  visit("keep_case", options.keep_case,
        {.help = "A new tokenizer distinguishes capital letters. Otherwise it converts texts to "
                 "lower case."});
  visit("held_out", options.held_out,
        {.help = "The share of the examples that are not learned from but measure progress.",
         .absent = "0.05, at most 2000 examples",
         .least = 0,
         .most = 0.9});
  visit("from", options.from,
        {.help = "The language of the texts, such as en or eng_Latn, for a translator of many "
                 "languages.",
         .absent = "as the model's files say",
         .apart = true});
  visit("to", options.to,
        {.help = "The language of their translations.",
         .absent = "as the model's files say",
         .apart = true});
  visit("kind", options.kind,
        {.help = "For dictionaries: a transcoder computes a feed-forward block with features, a "
                 "sparse autoencoder (sae) describes the residual stream after a layer.",
         .absent = "transcoder",
         .apart = true});
  visit("at", options.at,
        {.help = "For dictionaries: the layers that get one each, such as decoder.layers.2. * "
                 "stands for all numbers.",
         .absent = "all layers of the decoder or, without one, of the encoder",
         .apart = true});
  visit("features", options.features,
        {.help = "For dictionaries: the number of features of each.",
         .absent = "six times the width of the model",
         .least = 1,
         .most = 1 << 20,
         .apart = true});
  visit("active", options.active,
        {.help = "For dictionaries: how many features are active for a token, at most.",
         .absent = "16",
         .least = 1,
         .most = 1 << 20,
         .apart = true});
  visit("seed", options.seed,
        {.help = "The seed of all random numbers. The same seed gives the same weights.",
         .least = 0,
         .most = Option::most_whole});
  visit("threads", options.threads,
        {.help = "The number of threads that learn, each with memory of its own.",
         .least = 1,
         .most = Pool::most,
         .apart = true});
}

template <>
inline constexpr std::array enum_names<Lessons>{
    "classes", "token-classes", "masked", "next-token", "translation", "pictures", "dictionary"};

}  // namespace glassformer
