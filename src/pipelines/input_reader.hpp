#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "checkpoints/model_config.hpp"
#include "text/model_input.hpp"

namespace glassformer {

/// A text, or two, as an encoder reads them.
struct EncoderInput : ModelInput {
  bool pair = false;     ///< it is two texts
  bool clipped = false;  ///< there was more than the model takes

  /// Of two texts, whether each token is of the second; of one, nothing.
  std::vector<bool> second() const;
};

/// What stands around a model's texts: the prefix and suffix that its configuration names, or what
/// the tokenizer puts there. Throws `invalid_config` where one of them is not a piece.
TokenTemplate template_of(const ModelConfig& config, const Tokenizer& tokenizer);

/// Turns texts into what an encoder reads: their tokens, within the model's limit, and the special
/// ones around them.
class InputReader {
 public:
  /// The longest text, in bytes. It is read word by word, and no more of it is kept than the model
  /// takes.
  static constexpr std::size_t max_text_bytes = 16 << 20;

  /// The tokenizer outlives this. Throws `invalid_config` where a prefix or suffix token is not a
  /// piece or leaves no room, `invalid_tokenizer` where the vocabulary of a model of ours is too
  /// large.
  InputReader(const ModelConfig& config, const Tokenizer& tokenizer);

  /// A text over the limit is clipped as the configuration says. Throws `empty_input` for a text
  /// without tokens, `too_large` for one of over max_text_bytes, `invalid_tokenizer` for a token
  /// that is kept and has no row in the model's table.
  EncoderInput read(std::string_view text) const;

  /// Of two texts over the limit, the longer one is clipped at its end, token by token. Throws what
  /// the other one does, and `unsupported` for a model that has no form for two texts.
  EncoderInput read_pair(std::string_view first, std::string_view second) const;

  /// What stands around one text, and around two.
  const TokenTemplate& around() const { return around_; }
  std::size_t max_tokens() const { return max_tokens_; }

  /// Two texts' tokens, or parts of them, in their places. Throws `invalid_tokenizer` for a token
  /// without a row in the model's table.
  EncoderInput join(std::span<const Token> first, std::span<const Token> second) const;

 private:
  const Tokenizer& tokenizer_;
  TokenTemplate around_;
  std::size_t rows_;  // of the table of embeddings
  std::size_t max_tokens_;
  Clip clip_;
};

}  // namespace glassformer
