#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/composed/added_tokens.hpp"
#include "text/composed/pre_tokenizer.hpp"
#include "text/composed/text_normalizer.hpp"
#include "text/composed/token_decoder.hpp"
#include "text/token_template.hpp"
#include "text/tokenizer.hpp"
#include "text/word_models/word_model.hpp"

namespace glassformer {

/// A tokenizer built from the components of a tokenizer.json.
class ComposedTokenizer final : public Tokenizer {
 public:
  struct Parts {
    std::unique_ptr<TextNormalizer> normalizer;   // may be null
    std::unique_ptr<PreTokenizer> pre_tokenizer;  // may be null: the text is one word
    std::unique_ptr<WordModel> model;
    std::unique_ptr<TokenDecoder> decoder;
    std::vector<AddedToken> added_tokens;
    PostProcessor post_processor;
    std::optional<TruncationSide> truncation_side;
    std::vector<Language> languages;

    /// Adds a token as the library `tokenizers` does, ignoring the id in `token`: uses its id in
    /// the vocabulary, or else the next free id. If the token was added before, only updates its
    /// flags.
    void add_token(AddedToken token);
    bool is_added(std::string_view token) const { return places_.contains(token); }
    /// Returns the id of an added token or a vocabulary entry, or Vocabulary::absent.
    std::int32_t find(std::string_view token) const;
    /// Like find(), but throws invalid_tokenizer if the token does not exist.
    std::int32_t find_required(std::string_view token) const;

   private:
    std::map<std::string, std::size_t, std::less<>> places_;  // content to index in added_tokens
    std::int32_t next_id_ = 0;  // greater than the ids of all added tokens
  };
  explicit ComposedTokenizer(Parts parts);

  /// Throws too_large for more than 8 MiB.
  std::unique_ptr<TokenReader> read(std::string_view utf8) const override;
  std::unique_ptr<TextDecoder> make_decoder() const override;

  std::string decode_all(std::span<const std::int32_t> ids) const override;

  std::size_t size() const override;
  std::string_view piece(std::int32_t id) const override;
  std::string display_text(std::int32_t id) const override;
  std::optional<std::int32_t> find(std::string_view piece) const override;
  std::int32_t unk_id() const override { return parts_.model->unknown(); }
  bool is_control(std::int32_t id) const override;
  bool marks_subwords() const override { return parts_.model->marks_subwords(); }
  std::string join(std::vector<std::string> pieces) const override;
  const TokenTemplate& around() const override { return parts_.post_processor.around; }
  std::span<const Language> languages() const override { return parts_.languages; }
  std::optional<TruncationSide> truncation_side() const override { return parts_.truncation_side; }

 private:
  std::string text_of(std::span<const std::int32_t> ids) const;
  std::string decodable(std::int32_t id) const;
  void add_words(CharacterSpan text, std::vector<Token>& tokens) const;
  void add(CharacterSpan covered, std::int32_t id, std::vector<Token>& tokens) const;

  Parts parts_;
  AddedTokens added_;
};

}  // namespace glassformer
