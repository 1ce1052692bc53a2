#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "families/config/model_config.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// A sentence, or a part of one that fits the model's limit.
struct SourceSentence {
  std::string before;         ///< the text between it and the sentence before it
  std::string text;           ///< the sentence itself
  std::uint32_t start, end;   ///< its place in the whole text, in UTF-16 units
  bool clipped;               ///< its last tokens were left out
  std::vector<Token> tokens;  ///< special ones included; offsets in the whole text
};

struct SourceText {
  std::vector<SourceSentence> sentences;
  std::string after;  ///< the text after the last sentence
};

/// Splits a text into sentences that fit the model's limit. Put together, all `before`, `text` and
/// `after` give the whole text, without language codes. A language code at the start of the text
/// applies to all sentences: its token is put before each of them. A code at the start of a
/// sentence applies to that sentence.
class SourceReader {
 public:
  /// Every sentence gets the special tokens around a model's texts. The tokenizer must outlive
  /// this. Throws `invalid_config` if they leave no space for a text.
  SourceReader(const ModelConfig& config, const Tokenizer& tokenizer);
  /// Every sentence gets the prefix and suffix tokens; `encoder.max_length` includes them. The
  /// tokenizer must outlive this.
  SourceReader(const Tokenizer& tokenizer, std::vector<std::int32_t> prefix,
               std::vector<std::int32_t> suffix, const StackConfig& encoder);

  /// Returns a reader that puts this token in place of that of the tokenizer's usual language.
  SourceReader with_language(std::int32_t language) const;

  /// Splits a text. A sentence over the limit is cut after a comma or similar if that leaves at
  /// least half of the tokens that fit, otherwise between words. A word over the limit is clipped.
  /// Throws `empty_input` for a text without tokens, `invalid_config` if a language code leaves no
  /// space for a token, and `invalid_tokenizer` for a token without a row in the model's table.
  SourceText read(std::string_view text) const;

  /// The tokens of a text, special ones included.
  struct Whole {
    std::vector<std::int32_t> ids;
    std::size_t sentences;  ///< as which read() would read it
    bool clipped;
  };
  /// Reads a text as one sentence, which is clipped at the model's limit. Throws the errors of
  /// read().
  Whole read_whole(std::string_view text) const;

 private:
  std::uint32_t take_code(std::string_view& text, std::vector<std::int32_t>& prefix) const;
  void add(std::string_view sentence, std::uint32_t start, std::span<const std::int32_t> prefix,
           SourceText& source) const;

  const Tokenizer& tokenizer_;
  std::vector<std::int32_t> prefix_, suffix_;
  std::size_t max_length_, rows_;
};

}  // namespace glassformer
