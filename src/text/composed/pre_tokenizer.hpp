#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/characters.hpp"
#include "text/composed/component.hpp"

namespace glassformer {

/// The words of a text. Each is converted to tokens on its own.
class Words {
 public:
  /// Does nothing for an empty word.
  void add(CharacterSpan word);

  std::size_t size() const { return ends_.size(); }
  /// Returns the total number of characters.
  std::size_t characters() const { return characters_.size(); }
  CharacterSpan operator[](std::size_t i) const;

 private:
  Characters characters_;  // of all words, concatenated
  std::vector<std::size_t> ends_;
};

/// Cuts a text into words. Corresponds to "pre_tokenizer" of a tokenizer.json: one component or a
/// sequence of them.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void split(CharacterSpan text, Words& words) const = 0;
};

/// The fields of the pre-tokenizer Metaspace. The decoder Metaspace has them too.
struct MetaspaceFields {
  char32_t replacement;
  std::string prepend_scheme;  ///< "always", "first" or "never"
  bool split;
};

/// Throws invalid_tokenizer, also if the older field `add_prefix_space` contradicts the scheme.
MetaspaceFields read_metaspace(Component& component);

/// Reads a component. Throws unsupported for an unsupported type.
std::unique_ptr<PreTokenizer> read_pre_tokenizer(const JsonValue& json, std::string_view path);

}  // namespace glassformer
