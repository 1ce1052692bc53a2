#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "api/encoder_options.hpp"
#include "api/tasks/image.hpp"
#include "image/picture.hpp"
#include "run/attention_map.hpp"
#include "run/trace/traced_tensor.hpp"

namespace glassformer {

/// Options of a ZeroShotImageClassifier's calls for pictures.
struct MatchOptions {
  EncoderOptions encoder = {};           ///< of the picture; see ImageOptions
  std::vector<std::string> labels = {};  ///< different ones
  /// The text for a label, with the label in place of the first "{}".
  std::string hypothesis_template = "This is a photo of {}.";
  bool interpolate = false;                             ///< see ImageOptions
  std::optional<std::array<std::size_t, 2>> size = {};  ///< see ImageOptions
};

template <class Visit>
void fields(Visit& visit, MatchOptions& options) {
  fields(visit, options.encoder);
  visit("gradients", options.encoder.gradients, about_gradients);
  visit("labels", options.labels,
        {.help = "The labels to choose from, each a different one.",
         .items = "labels",
         .apart = true});
  visit("hypothesis_template", options.hypothesis_template,
        {.help = "The text for a label, with the label in place of {}."});
  visit("interpolate", options.interpolate, about_interpolate);
  visit("size", options.size, about_size);
}

/// A picture of T rows, compared with the texts of C labels; see ImageClassification. Without
/// labels, only the vector.
struct ImageMatch {
  std::string label;
  float score = 0;
  std::vector<float> scores, logits;  ///< [C]
  std::vector<float> embedding;
  PatchGrid grid;
  PictureRegion region;
  std::optional<AttentionMap> attention;  ///< [L, H, T, T], if requested
  std::vector<TracedTensor> trace;        ///< the requested tensors, in the order of the run
  /// Of the best label's logit minus the mean of all, or minus the other of two; in the order of
  /// the run.
  std::vector<TracedTensor> gradients;
};

template <class Visit>
void fields(Visit& visit, ImageMatch& result, std::span<const std::string> labels) {
  if (!labels.empty()) {
    visit("label", result.label, {.help = "The label with the highest score.", .with = "labels"});
    visit("score", result.score, {.help = "The score of that label.", .with = "labels"});
    visit.scores(labels, result.scores, result.logits, {},
                 {.help = "Each label, in the given order. Scores are probabilities that sum to 1; "
                          "a logit is the similarity of the label's text and the picture, times "
                          "the model's scale.",
                  .with = "labels"});
  }
  visit.vector("embedding", std::move(result.embedding),
               {.help = "The picture's vector, of length 1. Its dot product with the vector of a "
                        "text is their similarity."});
  visit("grid", result.grid, about_grid);
  visit("region", result.region, about_region);
  visit.attention({.encoder = &result.attention});
  visit.trace(std::move(result.trace));
  visit.gradients(std::move(result.gradients));
}

}  // namespace glassformer
