#pragma once

#include <memory>
#include <string>
#include <vector>

#include "glassformer/tokens.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// The text that a model writes, a token at a time. The tokenizer outlives this.
class OutputWriter {
 public:
  explicit OutputWriter(const Tokenizer& tokenizer)
      : tokenizer_(tokenizer), decoder_(tokenizer.make_decoder()) {}

  /// Characters that are not whole yet wait.
  void push(std::int32_t id, float logprob);
  /// No token follows: what waits is not a character.
  void finish();

  const std::string& text() const { return decoder_->text(); }
  /// Offsets are in the text.
  const std::vector<OutputToken>& tokens() const { return tokens_; }

 private:
  // What the decoder has added since the last call.
  std::string_view added();

  const Tokenizer& tokenizer_;
  std::unique_ptr<TextDecoder> decoder_;
  std::vector<OutputToken> tokens_;
  std::size_t size_ = 0;   // of the text, in bytes
  std::uint32_t end_ = 0;  // the same in UTF-16 units
};

}  // namespace glassformer
