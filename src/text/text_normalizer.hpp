#pragma once

#include <memory>
#include <string>

#include "text/characters.hpp"
#include "text/component.hpp"

namespace glassformer {

/// Rewrites a text before it is cut into words: one of the components that a tokenizer.json names
/// under "normalizer", or several in a row.
class TextNormalizer {
 public:
  virtual ~TextNormalizer() = default;
  virtual Characters normalize(Characters text) const = 0;
};

/// Reads a component. Throws unsupported for one of another type.
std::unique_ptr<TextNormalizer> read_normalizer(const JsonValue& json, std::string_view path);

std::unique_ptr<TextNormalizer> make_lower_case();

/// Both, one after the other. Either may be null.
std::unique_ptr<TextNormalizer> make_sequence(std::unique_ptr<TextNormalizer> first,
                                              std::unique_ptr<TextNormalizer> second);

/// SentencePiece's map from characters to others, applied as tokenizer.json's "Precompiled" is:
/// whole grapheme clusters of less than six bytes first, by the shortest rule that fits.
std::unique_ptr<TextNormalizer> make_precompiled_normalizer(std::string map);

}  // namespace glassformer
