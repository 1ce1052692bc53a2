#include "search/shortlist.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "base/limits.hpp"

namespace glassformer {
namespace {

constexpr std::uint64_t magic = 0xF11A48D5013417F5;

struct Header {
  std::uint64_t magic, checksum, frequent, longest, offsets, candidates;
};

// Throws unless `holds`. `relation` comes before `expected` in the message, such as "below ".
void expect(bool holds, const char* what, const char* relation, std::uint64_t expected,
            std::uint64_t got) {
  if (holds) return;
  throw_error(ErrorCode::invalid_shortlist,
              {"shortlist.bin: {}: expected {}{}, got {}", {what, relation, expected, got}});
}

void expect_equal(const char* what, std::uint64_t expected, std::uint64_t got) {
  expect(got == expected, what, "", expected, got);
}

void expect_at_most(const char* what, std::uint64_t most, std::uint64_t got) {
  expect(got <= most, what, "at most ", most, got);
}

// Marian's checksum, over 64-bit words. An incomplete last word is ignored.
std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::uint64_t seed = 0;
  for (; bytes.size() >= sizeof seed; bytes = bytes.subspan(sizeof seed)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    seed ^= word + 0x9E3779B9 + (seed << 6) + (seed >> 2);
  }
  return seed;
}

}  // namespace

Shortlist Shortlist::parse(std::span<const std::byte> file, std::size_t source_vocab_size,
                           std::size_t target_vocab_size) {
  expect_within(shortlist_limit, file.size());
  Header header;
  expect(file.size() >= sizeof header, "bytes", "at least ", sizeof header, file.size());
  std::memcpy(&header, file.data(), sizeof header);
  expect_equal("magic number", magic, header.magic);
  expect_equal("offsets", source_vocab_size + 1, header.offsets);
  expect_at_most("frequent tokens", target_vocab_size, header.frequent);
  // Checked before it is multiplied, so that the product does not overflow.
  expect_at_most("candidates", file.size() / sizeof(std::uint32_t), header.candidates);
  expect_equal("bytes",
               sizeof header + header.offsets * sizeof(std::uint64_t) +
                   header.candidates * sizeof(std::uint32_t),
               file.size());
  constexpr std::size_t checked_from = 2 * sizeof(std::uint64_t);
  expect_equal("checksum", checksum(file.subspan(checked_from)), header.checksum);

  Shortlist list;
  list.target_vocab_size_ = target_vocab_size;
  list.frequent_ = static_cast<std::size_t>(header.frequent);
  const std::byte* from = file.data() + sizeof header;
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < header.offsets; ++i, from += sizeof last) {
    std::uint64_t offset;
    std::memcpy(&offset, from, sizeof offset);
    expect(offset >= last, "offset", "at least ", last, offset);
    expect_at_most("offset", header.candidates, offset);
    list.offsets_.push_back(static_cast<std::uint32_t>(last = offset));
  }
  expect_equal("last offset", header.candidates, last);
  for (std::uint64_t i = 0; i < header.candidates; ++i, from += sizeof(std::uint32_t)) {
    std::uint32_t id;
    std::memcpy(&id, from, sizeof id);
    expect(id < target_vocab_size, "candidate", "below ", target_vocab_size, id);
    list.candidates_.push_back(static_cast<std::int32_t>(id));
  }
  return list;
}

std::vector<std::int32_t> Shortlist::choices(std::span<const std::int32_t> source,
                                             std::span<const std::int32_t> others) const {
  std::vector<bool> chosen(target_vocab_size_, false);
  const auto choose = [&](std::int32_t id) { chosen[static_cast<std::size_t>(id)] = true; };
  std::fill_n(chosen.begin(), frequent_, true);
  for (const std::int32_t token : source) {
    const auto at = static_cast<std::size_t>(token);
    for (std::uint32_t i = offsets_[at]; i < offsets_[at + 1]; ++i) choose(candidates_[i]);
  }
  for (const std::int32_t id : others) choose(id);
  auto count = static_cast<std::size_t>(std::ranges::count(chosen, true));
  for (std::size_t id = frequent_; id < chosen.size() && count % 8 != 0; ++id) {
    if (!chosen[id]) ++count;
    chosen[id] = true;
  }
  std::vector<std::int32_t> ids;
  for (std::size_t id = 0; id < chosen.size(); ++id) {
    if (chosen[id]) ids.push_back(static_cast<std::int32_t>(id));
  }
  return ids;
}

}  // namespace glassformer
