#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "families/config/model_config.hpp"
#include "run/sequences.hpp"
#include "text/model_input.hpp"

namespace glassformer {

/// One text, or two, or a picture, as an encoder reads them.
struct EncoderInput : ModelInput {
  bool pair = false;     ///< there are two texts
  bool clipped = false;  ///< tokens over the model's limit were dropped
  /// The tokens whose logits are needed, of a head with an output per token; empty: all.
  std::vector<std::size_t> rows = {};
  std::size_t begin = 0;  ///< for a window: the number of its text's tokens before it
  /// For a picture. Its rows then take the place of tokens: they have kinds, but no ids.
  Pixels pixels = {};

  /// For two texts: whether each token belongs to the second one. Empty for a single text.
  std::vector<bool> second() const;
};

/// Returns the tokens of the text that these windows cover, special ones included.
std::vector<Token> joined_tokens(std::span<const EncoderInput> windows,
                                 std::span<const TemplatePart> around);

/// Returns the template around a model's texts: that of the tokenizer, or the prefix and suffix
/// from the configuration. Throws `invalid_config` if one of these is not a piece.
TokenTemplate template_of(const ModelConfig& config, const Tokenizer& tokenizer);

/// Turns texts into the input of an encoder: their tokens, within the model's limit, with special
/// tokens around them.
class InputReader {
 public:
  /// The maximum size of a text, in bytes. A text is read word by word, and tokens over the model's
  /// limit are dropped.
  static constexpr std::size_t max_text_bytes = 16 << 20;

  /// The tokenizer must outlive this. Throws `invalid_config` if a prefix or suffix token is not a
  /// piece or if these tokens leave no space for a text, and `invalid_tokenizer` if the vocabulary
  /// of one of our own models is too large.
  InputReader(const ModelConfig& config, const Tokenizer& tokenizer);

  /// Reads one text. A text over the limit is clipped as the configuration says. Throws
  /// `empty_input` for a text without tokens, `too_large` for a text over max_text_bytes, and
  /// `invalid_tokenizer` for a token that is kept and has no row in the model's table.
  EncoderInput read(std::string_view text) const;

  /// Reads two texts. If they are over the limit together, tokens of the longer one are dropped,
  /// one at a time: from its end or, if the configuration says so, from its beginning. Throws the
  /// errors of read(), and `unsupported` if the model has no template for two texts.
  EncoderInput read_pair(std::string_view first, std::string_view second) const;

  /// Reads all of a text, in windows of at most max_tokens() tokens, in the order of the text; one
  /// window if it fits. Each window but the first begins with the last `overlap` tokens of the one
  /// before. If the model reads the end of a long text, the first window may be shorter than the
  /// others. `overlap` must be less than window_room(). Throws the errors of read().
  std::vector<EncoderInput> read_windows(std::string_view text, std::size_t overlap) const;

  /// Returns the number of tokens of a text that fit in a window, without special ones.
  std::size_t window_room() const;
  /// Returns the number of tokens that two windows share: `stride`, or the default. Throws
  /// `invalid_option` if `stride` is not less than window_room().
  std::size_t overlap_of(std::optional<std::size_t> stride) const;

  /// The special tokens around one text, and around two.
  const TokenTemplate& around() const { return around_; }
  std::size_t max_tokens() const { return max_tokens_; }

  /// Puts the tokens of two texts, or parts of them, into the template. Throws `invalid_tokenizer`
  /// for a token without a row in the model's table.
  EncoderInput join(std::span<const Token> first, std::span<const Token> second) const;

 private:
  const Tokenizer& tokenizer_;
  TokenTemplate around_;
  std::size_t rows_;  // of the table of embeddings
  std::size_t max_tokens_;
  Clip clip_;
};

}  // namespace glassformer
