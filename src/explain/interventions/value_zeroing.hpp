#pragma once

#include <vector>

#include "explain/explained_text.hpp"
#include "explain/next_token.hpp"
#include "explain/results.hpp"

namespace glassformer {

/// Value zeroing (Mohebbi et al. 2023, "Quantifying Context Mixing in Transformers"). In one layer
/// after the other, the value vectors of one token become zero in all heads: the score of token j
/// for token i is 1 - cos(i's output of the layer, the same with j's zeros). Each row is divided by
/// its sum; a row of zeros becomes that of the identity. The layers are multiplied without adding
/// the identity as rollout does, because outputs contain the residual connection.
class ValueZeroing {
 public:
  /// `stream`: of a run on the text. Throws `unsupported` for a model in integers, whose values
  /// cannot be replaced. The model must outlive this.
  ValueZeroing(const EncoderRunner& model, const ExplainedText& text, Stream stream);

  /// Zeroes some tokens of a layer, which run side by side, together up to `tokens` of them but at
  /// least one. Returns false when all layers are done.
  bool step(std::size_t tokens = 512);

  /// Returns all but the scores.
  ZeroedValues take();

 private:
  // Fills column `first` … of a layer with the changes.
  void zero(std::size_t first, std::size_t count);

  EncoderRunner model_;
  std::vector<std::size_t> positions_;  // of the text, or empty
  Stream stream_;
  std::size_t layer_ = 0, next_ = 0;
  AttentionMap changes_;
};

/// The same for a next token. A decoder's rows receive from their own tokens and, of a model with
/// an encoder, from the encoder's last states, whose values its cross-attentions read: columns of
/// both are divided by the sum of a row together. The encoder's part is then led back through the
/// encoder's own layers. This is our extension: the paper has no decoders.
class NextValueZeroing {
 public:
  /// Throws `unsupported` for a model in integers. What the text refers to
  /// and the model must outlive this.
  NextValueZeroing(const WriterRunner& model, const DecodedText& text);

  /// As ValueZeroing. Throws `unsupported` for a decoder with recurrent units.
  bool step(std::size_t tokens = 512);

  /// Returns all: layers [L, 1, T, T + S] of the decoder, matrix [T, T + S], scores [T + S].
  ZeroedValues take();

 private:
  // A stack, and what its layers do.
  struct Part {
    bool encoder;
    Stream stream;
    AttentionMap changes;  // [L, 1, T, T], or [L, 1, T, T + S]
  };
  void zero(Part& part, std::size_t count);

  WriterRunner model_;
  DecodedText text_;
  std::vector<Part> parts_;  // the encoder first
  std::size_t part_ = 0, layer_ = 0, next_ = 0;
};

}  // namespace glassformer
