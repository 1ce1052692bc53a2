#pragma once

#include <memory>
#include <span>
#include <vector>

#include "models/encoder_model.hpp"

namespace glassformer {

/// Returns the architecture of a dual encoder's part that reads pictures: its vectors are
/// projected and have length 1.
Architecture picture_part(const Architecture& architecture);
/// Does the same for the part that reads texts.
Architecture text_part(const Architecture& architecture);

/// Two encoders, of pictures and of texts, whose vectors have the same size and can be compared
/// (Radford et al. 2021, "Learning Transferable Visual Models From Natural Language Supervision",
/// figure 3).
class DualEncoder {
 public:
  /// The architecture must have a text_encoder.
  DualEncoder(const Architecture& architecture, Compute compute);

  /// Returns every parameter by its checkpoint name. Those of the part that reads texts begin with
  /// "text.".
  std::vector<NamedParameter> parameters();

  /// Returns the factor by which the cosine of two vectors is multiplied for their logit.
  float scale() const;

  /// Returns a classifier of pictures by their similarity with texts, whose vectors have length 1:
  /// a logit is the cosine of both vectors times scale(). It shares the encoder of `pictures`.
  std::unique_ptr<EncoderModel> classifier(std::span<const std::vector<float>> vectors) const;

  EncoderModel pictures, texts;

 private:
  Parameter logit_scale_;  // [1] the logarithm of the factor
};

}  // namespace glassformer
