// Any bytes are either read as a shortlist whose tokens are in the vocabulary, or refused with a
// typed error. The checksum is corrected first, since few mutations would have a valid one.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "search/shortlist.hpp"

using namespace glassformer;

constexpr std::size_t vocab_size = 6;

static void mend_checksum(std::vector<std::uint8_t>& file) {
  std::uint64_t sum = 0, word;
  for (std::size_t at = 2 * sizeof word; at + sizeof word <= file.size(); at += sizeof word) {
    std::memcpy(&word, &file[at], sizeof word);
    sum ^= word + 0x9E3779B9 + (sum << 6) + (sum >> 2);
  }
  if (file.size() >= 2 * sizeof sum) std::memcpy(&file[sizeof sum], &sum, sizeof sum);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> file(data, data + size);
  if (size % 2 == 0) mend_checksum(file);
  try {
    const Shortlist list = Shortlist::parse(std::as_bytes(std::span(file)), vocab_size, vocab_size);
    for (std::int32_t token = 0; token < std::int32_t{vocab_size}; ++token) {
      for (const std::int32_t id : list.choices(std::span(&token, 1), {})) {
        if (id < 0 || id >= std::int32_t{vocab_size}) std::abort();
      }
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
  }
  return 0;
}
