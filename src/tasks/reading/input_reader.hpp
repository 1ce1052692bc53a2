#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "families/config/model_config.hpp"
#include "text/model_input.hpp"

namespace glassformer {

/// A text, or two, as an encoder reads them.
struct EncoderInput : ModelInput {
  bool pair = false;      ///< it is two texts
  bool clipped = false;   ///< there was more than the model takes
  std::size_t begin = 0;  ///< of a window: how many tokens of its text are before it

  /// Of two texts, whether each token is of the second; of one, nothing.
  std::vector<bool> second() const;
};

/// The tokens of a text, special ones included, whose windows these are.
std::vector<Token> joined_tokens(std::span<const EncoderInput> windows,
                                 std::span<const TemplatePart> around);

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

  /// All of a text, in windows of at most max_tokens() tokens, in its order; one where it fits.
  /// Each but the first begins with the last `overlap` tokens of the one before; of a model that
  /// reads the end of a long text, the first is the one that may be shorter. `overlap` is less than
  /// window_room(). Throws what the other one does.
  std::vector<EncoderInput> read_windows(std::string_view text, std::size_t overlap) const;

  /// How many tokens of a text a window holds, special ones not counted.
  std::size_t window_room() const;
  /// How many tokens two windows share: `stride`, or what is usual. Throws `invalid_option` for one
  /// that leaves no room.
  std::size_t overlap_of(std::optional<std::size_t> stride) const;

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
