#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/sentencepiece/model.hpp"
#include "text/trie.hpp"

namespace glassformer {

/// A model's precompiled map from character sequences to replacements: a double array in
/// Darts-clone format and the replacement strings.
class CharacterMap {
 public:
  struct Match {
    std::size_t size = 0;  // bytes of the text to replace; 0 if no rule applies
    std::string_view replacement;
  };

  /// `blob`: u32 size of the array, the array's u32 units, NUL-terminated replacements. It is empty
  /// for a map without rules; otherwise it must outlive the map. Throws invalid_tokenizer.
  explicit CharacterMap(std::string_view blob);

  Match longest_match(std::string_view text) const;
  Match shortest_match(std::string_view text) const;

  /// Returns whether a rule starts with `first` followed by an ASCII byte.
  bool joins_ascii_to(char first) const;

 private:
  Match match(std::string_view text, bool longest) const;
  bool step(std::uint32_t& position, char byte) const;  // false if no rule continues with it
  std::uint32_t unit(std::uint32_t position) const;

  std::string_view units_, replacements_;
};

/// A run of normalized bytes that came from one range of the input.
struct Chunk {
  enum class Kind : std::uint8_t {
    characters,  // one unit: one or more characters became one or more others
    bytes,       // each byte is one UTF-16 code unit of the input
    space,       // white space, or the prefix added before (or after) the text
  };
  std::uint32_t normalized;  // first byte; the next chunk starts at the end of this one
  std::uint32_t begin, end;  // UTF-16 code units of the input
  Kind kind;
};

struct NormalizedText {
  std::string text;
  std::vector<Chunk> chunks;  // in order, covering the text
};

/// Maps characters, replaces invalid UTF-8 by U+FFFD, collapses and escapes white space, and
/// records the origin of each byte. The model file must outlive it.
class Normalizer {
 public:
  explicit Normalizer(const SentencePieceModel& model);

 private:
  friend class Normalization;
  struct Step {
    std::string_view output;
    std::size_t size;  // bytes of input
  };

  Step next(std::string_view input) const;

  CharacterMap map_;
  Trie user_defined_;  // pieces that are not normalized
  bool add_prefix_, add_suffix_, collapse_, escape_;

  /// The replacement of each ASCII character before another ASCII character, if it does not depend
  /// on what follows.
  struct Ascii {
    char output;
    bool plain;
  };
  std::array<Ascii, 128> ascii_;
};

/// Normalizes one text step by step and keeps a window of the result. The normalizer and the text
/// must outlive it.
class Normalization {
 public:
  Normalization(const Normalizer& normalizer, std::string_view utf8);

  /// Continues until window() has `size` bytes or the text ends. Returns whether it has ended.
  bool extend(std::size_t size);
  /// Returns the normalized text that was not dropped yet. White space at its end may still be
  /// removed when the text ends.
  const NormalizedText& window() const { return window_; }
  /// Drops the window's first `size` bytes. The last of them must not be white space.
  void drop(std::size_t size);

 private:
  void begin();
  void end();
  void append(std::string_view output, std::size_t bytes, std::uint32_t units);
  void append_space();
  void remove_trailing_spaces();
  void open(Chunk::Kind kind, std::uint32_t begin);

  const Normalizer& normalizer_;
  std::string_view space_;
  std::string_view rest_;  // the text still to normalize
  NormalizedText window_;
  std::uint32_t units_ = 0;  // UTF-16 units of the text read so far
  bool after_space_;
  bool begun_ = false, ended_ = false;
};

}  // namespace glassformer
