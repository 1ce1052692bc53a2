#pragma once

#include <cstdint>
#include <vector>

#include "models/dictionary/dictionary.hpp"
#include "models/language_model.hpp"

namespace glassformer {

/// Tokens whose logits a feature of a decoder raises and lowers most.
struct PromotedTokens {
  std::vector<std::int32_t> most, least;  ///< the strongest first
};

/// Returns, for each feature, the tokens with the largest and the smallest W_uᵀ (γ ⊙ w_d), where γ
/// is the scale of the final norm and w_d what the feature writes, less its mean (RMSNorm: as it
/// is): the direct way from the feature to the logits. `ids`: the tokens that count. Returns
/// nothing for a stack whose stream is not a sum.
std::vector<PromotedTokens> promoted_tokens(const LanguageModel& model,
                                            const Dictionary& dictionary,
                                            std::vector<std::int32_t> ids, std::size_t most,
                                            Session& session);

}  // namespace glassformer
