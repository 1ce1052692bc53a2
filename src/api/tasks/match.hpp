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
  std::string label;             ///< the label with the highest score
  float score = 0;               ///< score of that label
  std::vector<float> scores;     ///< [C] probabilities that sum to 1
  std::vector<float> logits;     ///< [C] the cosines of the vectors, times the model's scale
  std::vector<float> embedding;  ///< the vector of the picture, of length 1
  PatchGrid grid;
  PictureRegion region;                   ///< the part of the picture that the grid covers
  std::optional<AttentionMap> attention;  ///< [L, H, T, T], if requested
  std::vector<TracedTensor> trace;        ///< the requested tensors, in the order of the run
  /// Of the best label's logit minus the mean of all, or minus the other of two; in the order of
  /// the run.
  std::vector<TracedTensor> gradients;
};

}  // namespace glassformer
