#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/runner.hpp"

namespace glassformer {

/// What a decoder reads before it writes the next token.
struct DecodedText {
  std::span<const std::int32_t> ids;         ///< [T] a translator's start token is among them
  const Seq2Seq::Encoded* source = nullptr;  ///< of one text, behind an encoder; null: it is alone
};

/// A decoder that has read them.
struct NextTokenRun {
  std::vector<float> logits;             ///< [V] of what comes next
  std::vector<TracedTensor> trace = {};  ///< what was asked for, a row for each token
  AttentionMap attention = {};           ///< [L, H, T, T], if asked for
};

/// Reads at most as many tokens as the decoder has positions for. What can be traced are the
/// decoder's tensors, without logits. A model that gets a source is a Seq2Seq.
NextTokenRun run_to_next_token(const WriterRunner& model, const DecodedText& text,
                               const TraceRequest& request);

}  // namespace glassformer
