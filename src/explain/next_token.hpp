#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/language_model.hpp"

namespace glassformer {

/// A decoder alone that has read a text of T tokens.
struct NextTokenRun {
  std::vector<float> logits;             ///< [V] of what comes next
  std::vector<TracedTensor> trace = {};  ///< what was asked for, a row for each token
  AttentionMap attention = {};           ///< [L, H, T, T], if asked for
};

/// Reads these tokens, at most as many as the decoder has positions for. Its logits are not among
/// what can be traced.
NextTokenRun run_to_next_token(LanguageModel& model, std::span<const std::int32_t> ids,
                               const TraceRequest& request);

}  // namespace glassformer
