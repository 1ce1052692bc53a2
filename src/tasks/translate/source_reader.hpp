#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/config.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// A sentence, or the part of one that a model takes at once.
struct SourceSentence {
  std::string before;         ///< what stands between it and the sentence before it
  std::string text;           ///< the sentence itself
  std::uint32_t start, end;   ///< its place in the whole text, in UTF-16 units
  bool clipped;               ///< its last tokens are left out
  std::vector<Token> tokens;  ///< special ones included; offsets in the whole text
};

struct SourceText {
  std::vector<SourceSentence> sentences;
  std::string after;  ///< what stands behind the last one
};

/// Cuts a text into sentences of at most so many tokens: what `before`, `text` and `after` hold is,
/// one after the other, the text. A language code at its start is left out of that, and its token
/// put before each sentence; one at the start of a sentence is, too, and holds for that one.
class SourceReader {
 public:
  /// Every sentence gets the prefix and suffix tokens; `encoder.max_length` counts them. The
  /// tokenizer outlives this.
  SourceReader(const Tokenizer& tokenizer, std::vector<std::int32_t> prefix,
               std::vector<std::int32_t> suffix, const StackConfig& encoder);

  /// A sentence over the limit is cut behind a comma or the like that leaves at least half of what
  /// fits, else between words; a word over the limit is clipped. Throws `empty_input` for a text
  /// without tokens, `invalid_config` where a language code leaves no room for one,
  /// `invalid_tokenizer` for a token without a row in the model's table.
  SourceText read(std::string_view text) const;

 private:
  std::uint32_t take_code(std::string_view& text, std::vector<std::int32_t>& prefix) const;
  void add(std::string_view sentence, std::uint32_t start, std::span<const std::int32_t> prefix,
           SourceText& source) const;

  const Tokenizer& tokenizer_;
  std::vector<std::int32_t> prefix_, suffix_;
  std::size_t max_length_, rows_;
};

}  // namespace glassformer
