#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace glassformer {

/// A token that a model read: one row of its attention weights.
struct InputToken {
  std::int32_t id;
  /// The token in readable form: its text, with a leading space if it starts a word, as in
  /// " gripping". Special tokens have their names, such as "</s>"; a byte that is not a whole
  /// character has the form "<0xE6>".
  std::string text;
  /// Its position in its text, in UTF-16 code units. If it covers no text, as a special token,
  /// start equals end.
  std::uint32_t start, end;
  std::optional<std::uint8_t> sequence = {};  ///< for two texts: the index of its text, 0 or 1

  bool operator==(const InputToken&) const = default;
};

/// A token that a model wrote. start and end are its position in the whole output, in UTF-16 code
/// units. If several tokens are the bytes of one character, the last one covers it and the others
/// are empty.
struct OutputToken {
  std::int32_t id;
  std::string text;  ///< as in InputToken
  std::uint32_t start, end;
  float logprob;  ///< given the tokens before it

  bool operator==(const OutputToken&) const = default;
};

}  // namespace glassformer
