#pragma once

#include <string>

#include "text/word_models/word_model.hpp"

namespace glassformer {

/// WordPiece (Schuster and Nakajima 2012, as in Devlin et al. 2018). Takes the longest token that
/// the word starts with, then repeatedly the longest token, written with a prefix, that the rest
/// starts with. If no token matches, or the word is very long, the whole word is unknown.
class WordPiece final : public WordModel {
 public:
  struct Options {
    std::string unknown = "[UNK]";
    std::string prefix = "##";
    std::size_t max_characters = 100;
  };
  /// Throws invalid_tokenizer if the unknown token is not in the vocabulary.
  WordPiece(Vocabulary vocabulary, const Options& options);

  void cut(CharacterSpan word, std::vector<WordToken>& tokens) const override;
  std::int32_t unknown() const override { return unknown_; }
  bool marks_subwords() const override { return marks_subwords_; }

 private:
  std::int32_t unknown_;
  bool marks_subwords_;
  Trie::Node inner_;  // root of the tokens that do not start a word
  std::size_t max_characters_;
};

}  // namespace glassformer
