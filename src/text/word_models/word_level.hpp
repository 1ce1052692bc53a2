#pragma once

#include <string>

#include "text/word_models/word_model.hpp"

namespace glassformer {

/// A model of whole words: each word is one token or unknown.
class WordLevel final : public WordModel {
 public:
  /// Throws invalid_tokenizer if the unknown token is not in the vocabulary.
  WordLevel(Vocabulary vocabulary, const std::string& unknown);

  void cut(CharacterSpan word, std::vector<WordToken>& tokens) const override;
  std::int32_t unknown() const override { return unknown_; }

 private:
  std::int32_t unknown_;
};

}  // namespace glassformer
