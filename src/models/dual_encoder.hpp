#pragma once

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

  EncoderModel pictures, texts;

 private:
  Parameter logit_scale_;  // [1] the logarithm of the factor
};

}  // namespace glassformer
