#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "text/characters.hpp"
#include "text/vocabulary.hpp"

namespace glassformer {

/// A token of a word, and the word's characters that it covers.
struct WordToken {
  std::int32_t id;
  std::uint32_t begin, end;
};

/// Cuts one word into tokens of its vocabulary.
class WordModel {
 public:
  explicit WordModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  virtual ~WordModel() = default;

  /// Appends the tokens of a word, which is not empty.
  virtual void cut(CharacterSpan word, std::vector<WordToken>& tokens) const = 0;

  /// Of the token that stands for what no other one covers; Vocabulary::absent if there is none.
  virtual std::int32_t unknown() const = 0;

  /// Whether a token that does not start a word has a mark of that ("##").
  virtual bool marks_subwords() const { return false; }

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
};

}  // namespace glassformer
