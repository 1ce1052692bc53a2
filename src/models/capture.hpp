#pragma once

#include <cstddef>
#include <vector>

namespace glassformer {

/// The three attentions of the figure: the encoder's, the decoder's own, and the decoder's over the
/// encoder's output.
enum class AttentionSite { encoder, decoder, cross };

/// One attention head.
struct HeadIndex {
  std::size_t layer, head;
  AttentionSite attention = AttentionSite::encoder;
};

/// What a caller wants to see of a forward pass, and which heads it wants silenced. It travels as
/// an argument; what was captured comes back as a result. Capture changes no number of the answer.
struct InspectionRequest {
  bool capture = false;        ///< keep every attention weight
  bool contributions = false;  ///< keep what each token adds to the logits
  std::vector<HeadIndex> ablate = {};
};

}  // namespace glassformer
