#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/characters.hpp"
#include "text/component.hpp"

namespace glassformer {

/// Stretches of a text that become tokens one by one.
class Words {
 public:
  /// Does nothing for an empty word.
  void add(CharacterSpan word);

  std::size_t size() const { return ends_.size(); }
  /// Of all words.
  std::size_t characters() const { return characters_.size(); }
  CharacterSpan operator[](std::size_t i) const;

 private:
  Characters characters_;  // of all words, one after the other
  std::vector<std::size_t> ends_;
};

/// Cuts a text into words: one of the components that a tokenizer.json names under
/// "pre_tokenizer", or several in a row.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void split(CharacterSpan text, Words& words) const = 0;
};

/// The fields of the pre-tokenizer Metaspace, which the decoder of that name has too.
struct MetaspaceFields {
  char32_t replacement;
  std::string prepend_scheme;  ///< "always", "first" or "never"
  bool split;
};

/// Throws invalid_tokenizer, also where `add_prefix_space`, an older field, contradicts the scheme.
MetaspaceFields read_metaspace(Component& component);

/// Reads a component. Throws unsupported for one of another type.
std::unique_ptr<PreTokenizer> read_pre_tokenizer(const JsonValue& json, std::string_view path);

}  // namespace glassformer
