#pragma once

namespace glassformer {

/// When a search ends before its length limit, once `beams` hypotheses have ended: `early_stopping`
/// of the transformers library.
enum class EarlyStopping {
  no,     ///< when no growing hypothesis has a better score at its current length
  yes,    ///< at once
  never,  ///< as no, but with the score at the maximum length if length_penalty is above 0
};

}  // namespace glassformer
