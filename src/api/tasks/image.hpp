#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/encoder_options.hpp"
#include "api/label_score.hpp"
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
  std::size_t rows = 0, columns = 0;
  std::vector<std::string> special = {};

  /// Returns the number of rows of the attention.
  std::size_t tokens() const { return special.size() + rows * columns; }
};

template <class Visit>
void fields(Visit& visit, const PatchGrid& grid) {
  visit("rows", grid.rows, {.help = "The number of rows of patches."});
  visit("columns", grid.columns, {.help = "The number of patches of a row."});
  visit("special", grid.special,
        {.help = "The names of the rows of attention before the patches: [CLS], [DIST]."});
}

template <class Visit>
void fields(Visit& visit, const PictureRegion& region) {
  visit("left", region.left, {.help = "In pixels of the picture, as the other numbers."});
  visit("top", region.top);
  visit("width", region.width);
  visit("height", region.height);
}

inline constexpr ResultField about_grid = {
    .help = "The rows of the attention weights: the special ones, then the patches, row by row."};
inline constexpr ResultField about_region = {
    .help = "The part of the picture that the patches cover. It may exceed the picture."};

/// The labels of a picture of T rows: the special ones, then the patches row by row. The model has
/// L layers with H heads, and C labels.
struct ImageClassification {
  std::string label;
  float score;
  std::vector<float> scores;      ///< [C] in the order of ImageClassifier::labels
  std::vector<float> logits;      ///< [C]
  std::vector<std::size_t> best;  ///< with `top_k`: the labels with the highest scores, best first
  PatchGrid grid;
  PictureRegion region;
  std::optional<AttentionMap> attention;  ///< [L, H, T, T], if requested
  std::vector<TracedTensor> trace;        ///< the requested tensors, in the order of the run
  std::vector<TracedTensor> gradients;    ///< of the answer, in the order of the run
  std::vector<float> contributions;       ///< [T, C]; empty if not requested
};

template <class Visit>
void fields(Visit& visit, ImageClassification& result, std::span<const std::string> labels) {
  visit("label", result.label, about_label);
  visit("score", result.score, about_label_score);
  visit.scores(labels, result.scores, result.logits, result.best,
               {.help = "Each label, in the order of the model's labels, or with `top_k` the best "
                        "ones, the best first. Scores are as those of texts."});
  visit("grid", result.grid, about_grid);
  visit("region", result.region, about_region);
  visit.table("contributions", labels.size(), std::move(result.contributions), about_contributions);
  visit.attention({.encoder = &result.attention});
  visit.trace(std::move(result.trace));
  visit.gradients(std::move(result.gradients));
}

}  // namespace glassformer
