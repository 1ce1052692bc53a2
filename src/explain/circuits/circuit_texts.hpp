#pragma once

#include <memory>

#include "explain/explained_text.hpp"
#include "explain/next_token.hpp"

namespace glassformer {

/// A clean and a corrupt text of equally many tokens, and the model that reads them.
class CircuitTexts {
 public:
  virtual ~CircuitTexts() = default;

  /// The stacks whose nodes add to a stream; null: there is none.
  virtual const Stack* encoder() const = 0;
  virtual const Stack* decoder() const = 0;
  /// The number of tokens that a stack reads.
  virtual std::size_t tokens(bool encoder) const = 0;
  virtual Session& session() const = 0;
  /// Runs one of the texts. Returns the logits that are explained, in the arena of the session.
  virtual View run(bool corrupt, Run& run) const = 0;

  /// The stack that the answer is read from.
  const Stack& answering() const { return decoder() ? *decoder() : *encoder(); }
};

/// Texts up to a next token, encoded if the model has an encoder. They must outlive the result.
/// Throws `invalid_option` if they have different numbers of tokens, and `unsupported` if the
/// model's arithmetic has no gradients.
std::unique_ptr<CircuitTexts> circuit_texts(const WriterRunner& model, const DecodedText& clean,
                                            const DecodedText& corrupt);
/// Texts that a classifier without a decoder answers. The same errors.
std::unique_ptr<CircuitTexts> circuit_texts(const EncoderRunner& model, const ExplainedText& clean,
                                            const ExplainedText& corrupt);

}  // namespace glassformer
