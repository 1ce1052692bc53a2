#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "train/dictionary/dictionary_runs.hpp"

namespace glassformer {

/// A place in a text where a feature is active.
struct FeaturePlace {
  std::uint32_t text = 0, token = 0;  ///< numbers in DictionaryReport::texts, and in that text
  float activation = 0;
};

struct FeatureFacts {
  double density = 0;       ///< the share of tokens that excite it
  float largest = 0;        ///< activation
  std::int32_t token = -1;  ///< on which it is active most often; -1: never active, or pictures
  double share = 0;         ///< of its active tokens that are that token
  /// The three places that excite it most, then those at a tenth, three, five, seven and nine
  /// tenths of all, from the strongest.
  std::vector<FeaturePlace> places;
};

/// How good a dictionary is, on texts that it did not learn from.
struct DictionaryFacts {
  double explained_variance = 0;  ///< 1 - Σ‖y - ŷ‖² / Σ‖y - mean y‖²
  double loss_replaced = 0;       ///< of the model, with ŷ in place of y
  double loss_ablated = 0;        ///< with the mean of y
  double loss_recovered = 0;      ///< 0 with the mean of y, 1 with y
  double dead = 0;                ///< the share of features that no token excites
  double features_per_token = 0;
  /// The share of the other features more than half of whose active tokens are the same token.
  double single_token = 0;
  std::vector<FeatureFacts> features;
};

struct DictionaryReport {
  std::size_t tokens = 0;  ///< that were measured
  double loss = 0;         ///< of the model as it is
  DictionaryFacts all;     ///< of all dictionaries at once; without features
  std::vector<DictionaryFacts> dictionaries;
  std::vector<std::vector<std::int32_t>> texts;  ///< that features quote, as tokens
};

/// Measures dictionaries on examples, as many as have 65,536 tokens, and finds places where their
/// features are active in others, `quoted`, as many as have 131,072.
DictionaryReport report_on(const Model& model, const Objective& objective,
                           const DictionarySet& dictionaries, std::span<const Example> examples,
                           std::span<const Example> quoted, Pool& pool);

}  // namespace glassformer
