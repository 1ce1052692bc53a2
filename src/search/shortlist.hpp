#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace glassformer {

/// The target tokens that may translate each source token, so that a decoder need not score the
/// whole vocabulary (Jean et al. 2015, section 3.2). Read from the file shortlist.bin, in Marian's
/// format.
///
/// Little-endian: u64 magic and checksum; u64 numbers of frequent tokens, tokens in the longest
/// list (not used), offsets and candidates; the u64 offsets, one per source token and a last one;
/// the candidates, u32 target tokens. Those of source token i are between offset i and
/// offset i + 1.
class Shortlist {
 public:
  /// Throws invalid_shortlist unless the file is complete and fits the sizes of both vocabularies.
  static Shortlist parse(std::span<const std::byte> file, std::size_t source_vocab_size,
                         std::size_t target_vocab_size);

  /// Returns the tokens that a translation of `source` may contain, ascending: the most frequent
  /// ones, the candidates of its tokens and `others`. As in Marian, the next frequent tokens are
  /// added until the number is a multiple of eight.
  std::vector<std::int32_t> choices(std::span<const std::int32_t> source,
                                    std::span<const std::int32_t> others) const;

 private:
  std::size_t target_vocab_size_ = 0;
  std::size_t frequent_ = 0;            // target tokens below this are in every list
  std::vector<std::uint32_t> offsets_;  // [V source + 1]
  std::vector<std::int32_t> candidates_;
};

}  // namespace glassformer
