#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace glassformer {

/// A piece that is not learned from texts.
struct SpecialPiece {
  enum class Role : std::uint8_t {
    unknown,  // covers text that no other piece covers
    begin,
    end,
    padding,
    control,  // another one that is never found in text
    symbol,   // is always one token where its text occurs, such as [MASK]
  };
  std::string text;
  Role role;
};

struct UnigramTrainingOptions {
  /// The number of pieces, with the special ones.
  std::size_t vocab_size = 8000;
  /// Whether texts are converted to lower case before they are cut into pieces.
  bool lower_case = false;
  /// The fraction of the texts' characters that get a piece each, above 0 and up to 1. The rarest
  /// become unknown, or bytes.
  float character_coverage = 0.9995f;
  /// The most code points of a piece, from 1 to 64.
  std::size_t longest_piece = 16;
  /// Whether characters without a piece are cut into bytes. The bytes are 256 of the pieces.
  bool byte_fallback = false;
  /// Their ids are their positions. Exactly one is `unknown`; at most one each is `begin`, `end`
  /// and `padding`.
  std::vector<SpecialPiece> special_pieces = {{"<unk>", SpecialPiece::Role::unknown},
                                              {"<s>", SpecialPiece::Role::begin},
                                              {"</s>", SpecialPiece::Role::end}};
};

/// Trains a Unigram tokenizer (Kudo 2018, "Subword Regularization", section 3.2). Returns a
/// SentencePiece model file, which SentencePieceTokenizer reads.
///
/// Texts are normalized to NFKC. A piece has no space except at its start, and never joins letters
/// with digits, punctuation or symbols. The result may have fewer pieces than asked for if the
/// texts are short. It has the same bytes on every machine, and does not depend on the order of the
/// texts. Takes about a second for 10 MB of text, and memory of a few times the size of the texts'
/// different words.
///
/// Throws invalid_option, also if `vocab_size` is too small for the characters of the texts; throws
/// empty_input if the texts have only white space, and too_large for a text of more than 256 MiB.
std::vector<std::byte> train_unigram(std::span<const std::string_view> texts,
                                     const UnigramTrainingOptions& options = {});

}  // namespace glassformer
