#pragma once

#include <cstdint>
#include <span>

#include "models/encoder_model.hpp"
#include "models/seq2seq.hpp"

namespace glassformer {

/// A model and the session in which it runs. Both must outlive this.
struct EncoderRunner {
  const EncoderModel& model;
  Session& session;

  EncoderModel::Output operator()(const Batch& batch, const TraceRequest& request,
                                  std::span<const std::size_t> rows = {}) const {
    return model(batch, request, session, rows);
  }
  EncoderModel::Output operator()(const Pictures& pictures, const TraceRequest& request) const {
    return model(pictures, request, session);
  }
  Tensor resume(const Sequences& sequences, std::size_t first, const ConstView& states,
                Tracer* tracer = nullptr) const {
    return model.resume(sequences, first, states, session, tracer);
  }
  Tensor block(const Sequences& sequences, std::size_t layer, const ConstView& states,
               Tracer* tracer = nullptr) const {
    return model.block(sequences, layer, states, session, tracer);
  }
  const EncoderModel* operator->() const { return &model; }
};

/// The same for a model that writes.
struct WriterRunner {
  const LanguageModel& model;
  Session& session;

  /// Starts decoding these encoded sources, or, if `sources` is null, one text without an encoder.
  DecodingState begin(const Seq2Seq::Encoded* sources, const DecodingLimits& limits,
                      const TraceRequest& request) const {
    if (!sources) return model.begin(1, limits, request, session);
    return translator().begin(*sources, limits, request, session);
  }
  /// Decodes these tokens, many at once: node i is token i. `more` tokens may follow. If the
  /// request touches logits, it computes those of every token.
  DecodingState read(const Seq2Seq::Encoded* sources, std::span<const std::int32_t> ids,
                     const TraceRequest& request, std::size_t more = 0) const;
  /// Returns the model with its encoder. It must have one.
  const Seq2Seq& translator() const { return static_cast<const Seq2Seq&>(model); }
  const LanguageModel* operator->() const { return &model; }
};

}  // namespace glassformer
