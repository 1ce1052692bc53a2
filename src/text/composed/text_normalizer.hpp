#pragma once

#include <memory>
#include <string>

#include "text/characters.hpp"
#include "text/composed/component.hpp"

namespace glassformer {

/// Rewrites a text before it is cut into words. Corresponds to "normalizer" of a tokenizer.json:
/// one component or a sequence of them.
class TextNormalizer {
 public:
  virtual ~TextNormalizer() = default;
  virtual Characters normalize(Characters text) const = 0;
};

/// Reads a component. Throws unsupported for an unsupported type.
std::unique_ptr<TextNormalizer> read_normalizer(const JsonValue& json, std::string_view path);

std::unique_ptr<TextNormalizer> make_lower_case();

/// Applies both normalizers in order. Either may be null.
std::unique_ptr<TextNormalizer> make_sequence(std::unique_ptr<TextNormalizer> first,
                                              std::unique_ptr<TextNormalizer> second);

/// Creates a normalizer from SentencePiece's character map. It applies the map as "Precompiled" of
/// a tokenizer.json does: first to whole grapheme clusters of less than six bytes, using the
/// shortest rule that matches.
std::unique_ptr<TextNormalizer> make_precompiled_normalizer(std::string map);

}  // namespace glassformer
