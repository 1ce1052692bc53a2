#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace glassformer {

/// Which target tokens may translate which source token, so that a decoder need not weigh the whole
/// vocabulary (Jean et al. 2015, section 3.2): the file shortlist.bin, in Marian's format.
///
/// Little-endian: u64 magic, checksum, frequent, (longest list), offsets, candidates; then so many
/// u64 offsets, one a source token and a last one, and so many u32 target tokens: source token i's
/// are those from offset i to offset i + 1.
class Shortlist {
 public:
  /// Throws invalid_shortlist unless the file is whole and of these vocabularies' sizes.
  static Shortlist parse(std::span<const std::byte> file, std::size_t source_vocab_size,
                         std::size_t target_vocab_size);

  /// The tokens that a translation of `source` may have, ascending: the most frequent ones, those
  /// that its tokens offer and `others`; and, as in Marian, of the next frequent ones so many that
  /// there is a multiple of eight.
  std::vector<std::int32_t> choices(std::span<const std::int32_t> source,
                                    std::span<const std::int32_t> others) const;

 private:
  std::size_t target_vocab_size_ = 0;
  std::size_t frequent_ = 0;            // target tokens below this are in every list
  std::vector<std::uint32_t> offsets_;  // [V source + 1]
  std::vector<std::int32_t> candidates_;
};

}  // namespace glassformer
