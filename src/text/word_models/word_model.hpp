#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "text/characters.hpp"
#include "text/word_models/vocabulary.hpp"

namespace glassformer {

/// A token of a word and the characters of the word that it covers.
struct WordToken {
  std::int32_t id;
  std::uint32_t begin, end;
};

/// Cuts one word into tokens of its vocabulary.
class WordModel {
 public:
  explicit WordModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  virtual ~WordModel() = default;

  /// Appends the tokens of a word, which must not be empty.
  virtual void cut(CharacterSpan word, std::vector<WordToken>& tokens) const = 0;

  /// Returns the id of the unknown token, or Vocabulary::absent.
  virtual std::int32_t unknown() const = 0;

  /// Returns whether tokens that do not start a word are marked ("##").
  virtual bool marks_subwords() const { return false; }

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
};

}  // namespace glassformer
