#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/tokens.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// Assembles the text that a model writes, token by token. The tokenizer must outlive this.
class OutputWriter {
 public:
  explicit OutputWriter(const Tokenizer& tokenizer)
      : tokenizer_(tokenizer), decoder_(tokenizer.make_decoder()) {}

  /// Adds a token. The bytes of an incomplete character are held back.
  void push(std::int32_t id, float logprob);
  /// Ends the text. Bytes that are still held back are not a character.
  void finish();

  const std::string& text() const { return decoder_->text(); }
  /// The tokens, with offsets in text().
  const std::vector<OutputToken>& tokens() const { return tokens_; }

 private:
  // Returns the text that the decoder has added since the last call.
  std::string_view added();

  const Tokenizer& tokenizer_;
  std::unique_ptr<TextDecoder> decoder_;
  std::vector<OutputToken> tokens_;
  std::size_t size_ = 0;   // of the text, in bytes
  std::uint32_t end_ = 0;  // the same, in UTF-16 units
};

}  // namespace glassformer
