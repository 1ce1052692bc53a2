#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace glassformer {

/// A token that a model read: a row of its attention weights.
struct InputToken {
  std::int32_t id;
  /// What a person reads: the token's text, with a space in front where it starts a word, as in
  /// " gripping". Special tokens read as their names, such as "</s>"; a byte that is not a whole
  /// character reads as "<0xE6>".
  std::string text;
  /// Its place in its text, in UTF-16 code units. What covers no text, such as a special token,
  /// starts where it ends.
  std::uint32_t start, end;
  std::optional<std::uint8_t> sequence = {};  ///< of two texts: whether it is of the second, 0 or 1

  bool operator==(const InputToken&) const = default;
};

/// A token that a model wrote. start and end are its place in the whole output, in UTF-16 code
/// units. The tokens of one character (its bytes) end where it does: the last covers it, those
/// before are empty.
struct OutputToken {
  std::int32_t id;
  std::string text;  ///< as InputToken::text
  std::uint32_t start, end;
  float logprob;  ///< after the tokens before it

  bool operator==(const OutputToken&) const = default;
};

}  // namespace glassformer
