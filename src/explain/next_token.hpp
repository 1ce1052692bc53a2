#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/runner.hpp"
#include "models/whole_pass.hpp"

namespace glassformer {

/// The tokens that a decoder reads before it writes the next one.
struct DecodedText {
  std::span<const std::int32_t> ids;         ///< [T] including a translator's start token
  const Seq2Seq::Encoded* source = nullptr;  ///< one encoded text; null: there is no encoder

  /// Returns the number of tokens that the decoder and the encoder read.
  std::size_t tokens() const { return ids.size() + (source ? source->sources.tokens() : 0); }
  /// Returns a pass over the text once for each list of masked tokens, those of the source after
  /// those of the decoder, which computes the next token's logits, [B, V].
  WholePass pass(std::span<const std::vector<std::size_t>> masked) const;
};

/// Runs a pass over texts such as this: through the encoder, if there is one. Returns the logits.
View run_pass(const WriterRunner& model, const DecodedText& text, const WholePass& pass, Run& run);

/// The result of reading these tokens.
struct NextTokenRun {
  std::vector<float> logits;             ///< [V] of the next token
  std::vector<TracedTensor> trace = {};  ///< the requested tensors, with one row per token
  AttentionMap attention = {};           ///< [L, H, T, T], if requested
};

/// Reads the tokens, at most as many as the decoder has positions. Only the decoder's tensors can
/// be traced, not logits. If there is a source, the model must be a Seq2Seq.
NextTokenRun run_to_next_token(const WriterRunner& model, const DecodedText& text,
                               const TraceRequest& request);

}  // namespace glassformer
