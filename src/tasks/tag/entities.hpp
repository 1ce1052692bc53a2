#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/tasks/tag.hpp"
#include "base/strings/utf16_cursor.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// A token that a model has labeled, with its place in the text in UTF-16 units.
struct LabeledToken {
  std::string_view piece;  ///< as it is in the vocabulary
  std::uint32_t start, end;
  bool special = false;  ///< from the template, so never part of an entity
  bool unknown = false;  ///< its piece is the unknown token
  bool part = false;     ///< a later part of the character before it, with an empty range
};

/// The properties of a tokenizer's pieces.
struct PieceRules {
  /// Pieces within a word have a mark (##), so they are longer than the text that they cover, in
  /// code points. Otherwise, a word starts at a space or after one.
  bool marks_subwords = false;
  /// Joins pieces into a text.
  std::function<std::string(const std::vector<std::string>& pieces)> decode;
};

/// Labels and how to read them. A label is B-tag at the start of an entity and I-tag within it. A
/// tag without B- or I- is read as I-tag.
struct EntityOptions {
  std::span<const std::string> labels;
  Aggregation aggregation = Aggregation::none;
  std::vector<std::string> ignore_labels = {"O"};
};

/// Returns the entities of a text, or of one of its windows, in order, as
/// TokenClassificationPipeline of Transformers 5.12 finds them. probabilities: [tokens, labels]. As
/// in that pipeline, `first`, `average` and `max` decode each word, and then the words of an entity
/// together; if a piece itself marks the space before it, the space between words is lost. `text`
/// must be positioned at the first token or before it.
std::vector<Entity> find_entities(Utf16Cursor text, std::span<const LabeledToken> tokens,
                                  const ConstView& probabilities, const PieceRules& rules,
                                  const EntityOptions& options);

/// Merges the entities of a text's windows as TokenClassificationPipeline does. They are sorted by
/// their start. Of overlapping entities, the longest one is kept, in code points; at equal lengths,
/// the one with the highest score. For single tokens (Aggregation::none), one entity per token is
/// kept.
std::vector<Entity> merge_windows(std::string_view text, std::vector<Entity> entities);

}  // namespace glassformer
