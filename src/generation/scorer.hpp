#pragma once

#include <span>

#include "models/seq2seq.hpp"

namespace glassformer {

/// What a search asks of a model: which token comes next.
class NextTokenScorer {
 public:
  virtual ~NextTokenScorer() = default;

  /// Feeds one token per extension; they become the next nodes, counted from 0 in the order of all
  /// calls. Returns the logits [R, V] of the tokens after them, valid until the next call.
  virtual ConstView<2> feed(std::span<const Extension> extensions) = 0;
};

/// A decoding of the encoder-decoder model.
class Seq2SeqScorer final : public NextTokenScorer {
 public:
  Seq2SeqScorer(Seq2Seq& model, DecodingState state) : model_(model), state_(std::move(state)) {}

  ConstView<2> feed(std::span<const Extension> extensions) override {
    const View<2> hidden = model_.decode(state_, extensions);
    return const_view(model_.project(const_view(hidden)));
  }

  const DecodingState& state() const { return state_; }

 private:
  Seq2Seq& model_;
  DecodingState state_;
};

}  // namespace glassformer
