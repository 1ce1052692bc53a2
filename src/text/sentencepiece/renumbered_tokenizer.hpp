#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/composed/added_tokens.hpp"
#include "text/sentencepiece/tokenizer.hpp"
#include "text/tokenizer.hpp"
#include "text/word_models/vocabulary.hpp"

namespace glassformer {

/// A SentencePiece model whose pieces get their ids from another vocabulary. Without languages, a
/// text may start with a language code such as >>pt<<, which is a single token.
class RenumberedTokenizer final : public Tokenizer {
 public:
  struct Specials {
    std::string end = "</s>", unknown = "<unk>", padding = "<pad>";
    std::vector<AddedToken> more = {};     ///< found in texts, too
    std::vector<Language> languages = {};  ///< their tokens are in the vocabulary
    std::size_t source_language = 0;       ///< the one in the template, if there are any
    std::size_t unused = 0;                ///< number of ids after the vocabulary without a text
  };
  /// Throws invalid_tokenizer if a special token is not in the vocabulary.
  RenumberedTokenizer(SentencePieceTokenizer pieces, Vocabulary vocabulary,
                      const Specials& specials);

  /// Throws too_large for more than 8 MiB.
  std::unique_ptr<TokenReader> read(std::string_view utf8) const override;
  std::unique_ptr<TextDecoder> make_decoder() const override;

  std::size_t size() const override { return vocabulary_.size() + unused_; }
  std::string_view piece(std::int32_t id) const override;
  std::string display_text(std::int32_t id) const override;
  std::optional<std::int32_t> find(std::string_view piece) const override;
  std::int32_t unk_id() const override { return unknown_; }
  bool is_control(std::int32_t id) const override;
  std::span<const Language> languages() const override { return languages_; }
  std::size_t language_code_size(std::string_view utf8) const override;
  /// The template joins two texts directly and has one end token. It begins with a language, if
  /// there are any.
  const TokenTemplate& around() const override { return template_; }

 private:
  std::int32_t id_of(std::string_view piece) const;
  void add_pieces(const Fragment& fragment, std::vector<Token>& tokens) const;

  SentencePieceTokenizer pieces_;
  Vocabulary vocabulary_;
  AddedTokens specials_;
  std::int32_t unknown_;
  std::vector<Language> languages_;
  std::size_t unused_;
  TokenTemplate template_;
};

}  // namespace glassformer
