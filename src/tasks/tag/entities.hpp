#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings/utf16_cursor.hpp"
#include "glassformer/token_classifier.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// Of its name. Throws `invalid_option` for any other.

/// A token that a model has labeled, with its place in the text in UTF-16 units.
struct LabeledToken {
  std::string_view piece;  ///< as it is in the vocabulary
  std::uint32_t start, end;
  bool special = false;  ///< from the template: it is no part of an entity
  bool unknown = false;  ///< its piece stands for what the vocabulary does not cover
  bool part = false;     ///< another part of the character before it: it covers nothing
};

/// What a tokenizer says about its pieces.
struct PieceRules {
  /// Pieces within a word have a mark (##), so they are longer than the text that they cover, in
  /// code points. Otherwise a word starts at a space or behind one.
  bool marks_subwords = false;
  /// Puts pieces together to a text.
  std::function<std::string(const std::vector<std::string>& pieces)> decode;
};

/// Labels and how to read them. A label is B-tag at an entity's start, I-tag within it; a tag by
/// itself is read as I-tag.
struct EntityOptions {
  std::span<const std::string> labels;
  Aggregation aggregation = Aggregation::none;
  std::vector<std::string> ignore_labels = {"O"};
};

/// The entities of a text, or of one of its windows, in order, as TokenClassificationPipeline of
/// Transformers 5.12 finds them. probabilities: [tokens, labels]. As there, `first`, `average` and
/// `max` decode each word and then an entity's words together; where a piece itself says that a
/// space is before it, the space gets lost in between. `text` stands at or before the first of the
/// tokens.
std::vector<Entity> find_entities(Utf16Cursor text, std::span<const LabeledToken> tokens,
                                  const ConstView<2>& probabilities, const PieceRules& rules,
                                  const EntityOptions& options);

/// The entities of a text's windows, put together as TokenClassificationPipeline does it: by their
/// start, and of those that overlap the longest, in code points, or of equal lengths the one with
/// the highest score. Of single tokens (Aggregation::none), one for each token.
std::vector<Entity> merge_windows(std::string_view text, std::vector<Entity> entities);

}  // namespace glassformer
