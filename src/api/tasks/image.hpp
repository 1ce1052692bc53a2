#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "api/encoder_options.hpp"
#include "image/picture.hpp"
#include "run/attention_map.hpp"
#include "run/trace/traced_tensor.hpp"

namespace glassformer {

/// Options of an ImageClassifier's calls.
struct ImageOptions {
  /// The tokens that `mask_tokens` and patches refer to are the rows of the attention: first the
  /// special ones, then the patches row by row.
  EncoderOptions encoder = {};
  /// How many labels to return, those with the highest scores. Default: all, in the order of the
  /// model.
  std::optional<std::size_t> top_k = {};
  /// Accept a picture that has, after its preparation, another size than the model's: the model's
  /// learned positions are interpolated. Without this, such a picture is refused.
  bool interpolate = false;
  /// Resize pictures to this height and width instead of what the model's folder says, without
  /// cropping. Other sizes than the model's need `interpolate`.
  std::optional<std::array<std::size_t, 2>> size = {};
};

inline constexpr Option about_interpolate = {
    .help =
        "Accept a picture that has, after its preparation, another size than the model's: "
        "learned positions are interpolated. Without this, such a picture is refused."};
inline constexpr Option about_size = {
    .help =
        "Resize pictures to this height and width instead of what the model's folder says, "
        "without cropping. Other sizes than the model's need interpolation.",
    .items = "a height and a width"};

template <class Visit>
void fields(Visit& visit, ImageOptions& options) {
  fields(visit, options.encoder);
  visit("gradients", options.encoder.gradients, about_gradients);
  visit("contributions", options.encoder.contributions,
        {.help = "Return what each row of patches adds to each label's logit.", .adds = true});
  visit("top_k", options.top_k,
        {.help = "How many labels to return, those with the highest scores.",
         .absent = "all",
         .least = 1});
  visit("interpolate", options.interpolate, about_interpolate);
  visit("size", options.size, about_size);
}

/// The rows of a picture's attention.
struct PatchGrid {
  std::size_t rows = 0, columns = 0;      ///< of patches
  std::vector<std::string> special = {};  ///< the rows before the patches: "[CLS]", "[DIST]"

  /// Returns the number of rows of the attention.
  std::size_t tokens() const { return special.size() + rows * columns; }
};

/// The labels of a picture of T rows: the special ones, then the patches row by row. The model has
/// L layers with H heads, and C labels.
struct ImageClassification {
  std::string label;  ///< the label with the highest score
  float score;        ///< score of that label
  /// [C] in the order of ImageClassifier::labels: probabilities that sum to 1. If several labels
  /// may apply at once: a separate probability for each. If the model estimates a quantity: the
  /// logits.
  std::vector<float> scores;
  std::vector<float> logits;      ///< [C] the logits behind the scores
  std::vector<std::size_t> best;  ///< with `top_k`: the labels with the highest scores, best first
  PatchGrid grid;
  PictureRegion region;                   ///< the part of the picture that the grid covers
  std::optional<AttentionMap> attention;  ///< [L, H, T, T], if requested
  std::vector<TracedTensor> trace;        ///< the requested tensors, in the order of the run
  std::vector<TracedTensor> gradients;    ///< of the answer, in the order of the run
  std::vector<float> contributions;       ///< [T, C]; empty if not requested
};

}  // namespace glassformer
