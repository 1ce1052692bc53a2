#pragma once

#include <cstddef>
#include <optional>

#include "base/option.hpp"

namespace glassformer {

/// How the next token is chosen: options of a call, and settings of a folder's
/// generation_config.json with the same names.
struct SamplingSettings {
  std::optional<float> temperature = {};
  std::optional<std::size_t> top_k = {};
  std::optional<float> top_p = {}, min_p = {}, typical_p = {};
  std::optional<float> repetition_penalty = {}, encoder_repetition_penalty = {};
  std::optional<std::size_t> no_repeat_ngram_size = {};

  bool operator==(const SamplingSettings&) const = default;
};

template <class Visit>
void fields(Visit& visit, SamplingSettings& settings) {
  visit("temperature", settings.temperature,
        {.help = "Divide the logits by this: above 1 for more surprising texts, below 1 for safer "
                 "ones. 0: do not sample.",
         .absent = "as the model's files say, or 1",
         .least = 0,
         .most = 1000});
  visit("top_k", settings.top_k,
        {.help = "Sample from the K most probable tokens. 0: from all.",
         .absent = "as the model's files say"});
  visit("top_p", settings.top_p,
        {.help = "Sample from the smallest set of tokens whose probabilities sum to P.",
         .absent = "as the model's files say, or 1",
         .least = 0,
         .most = 1});
  visit("min_p", settings.min_p,
        {.help = "Sample from the tokens that are at least P times as probable as the most "
                 "probable one (Nguyen et al. 2024).",
         .absent = "as the model's files say, or 0",
         .least = 0,
         .most = 1});
  visit("typical_p", settings.typical_p,
        {.help = "Sample from the tokens whose log-probability is nearest to the negative entropy, "
                 "until their probabilities sum to P (Meister et al. 2022).",
         .absent = "as the model's files say, or 1",
         .least = 0,
         .most = 1});
  visit("repetition_penalty", settings.repetition_penalty,
        {.help = "Above 1: tokens that the text already contains become less probable (Keskar et "
                 "al. 2019).",
         .absent = "as the model's files say, or 1",
         .least = 0.001,
         .most = 1000});
  visit("encoder_repetition_penalty", settings.encoder_repetition_penalty,
        {.help = "Above 1: tokens of the given text become more probable.",
         .absent = "as the model's files say, or 1",
         .least = 0.001,
         .most = 1000});
  visit("no_repeat_ngram_size", settings.no_repeat_ngram_size,
        {.help = "No n-gram of this size occurs twice in the text, prompt included. 0: any may.",
         .absent = "as the model's files say, or 0"});
}

/// Gives settings that are not set the values of others.
inline void complete(SamplingSettings& settings, const SamplingSettings& others) {
  const auto one = [](auto& value, const auto& other) {
    if (!value) value = other;
  };
  one(settings.temperature, others.temperature);
  one(settings.top_k, others.top_k);
  one(settings.top_p, others.top_p);
  one(settings.min_p, others.min_p);
  one(settings.typical_p, others.typical_p);
  one(settings.repetition_penalty, others.repetition_penalty);
  one(settings.encoder_repetition_penalty, others.encoder_repetition_penalty);
  one(settings.no_repeat_ngram_size, others.no_repeat_ngram_size);
}

}  // namespace glassformer
