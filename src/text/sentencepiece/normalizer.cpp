#include "text/sentencepiece/normalizer.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/strings/utf8.hpp"

namespace glassformer {
namespace {

constexpr std::size_t max_input_bytes = std::size_t{1} << 28;
constexpr std::size_t max_replacement_bytes = 1024;  // the longest in Unicode is 33
constexpr std::size_t max_key_bytes = 1024;

[[noreturn]] void fail_map(const Message& problem) {
  throw_error(ErrorCode::invalid_tokenizer,
              {"tokenizer.model: precompiled_charsmap: {}", {problem}});
}

// A unit of the character map's array. Bits 0-7 and 31 are its label, bit 8 marks the end of a key,
// the others give the offset of its children. A leaf holds bit 31 and the key's value.
constexpr std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000FF; }
constexpr bool ends_key(std::uint32_t unit) { return (unit & 0x100) != 0; }
constexpr std::uint32_t children_of(std::uint32_t unit) {
  return (unit >> 10) << ((unit & 0x200) >> 6);
}
constexpr std::uint32_t value_of(std::uint32_t leaf) { return leaf & 0x7FFFFFFF; }

constexpr bool is_ascii(char byte) { return static_cast<unsigned char>(byte) < 0x80; }

}  // namespace

CharacterMap::CharacterMap(std::string_view blob) {
  if (blob.empty()) return;
  std::uint32_t size;
  if (blob.size() < sizeof size) fail_map("expected at least 4 bytes");
  std::memcpy(&size, blob.data(), sizeof size);
  blob.remove_prefix(sizeof size);
  if (size == 0 || size % sizeof(std::uint32_t) != 0 || size > blob.size()) {
    fail_map(
        {"expected an array of 4-byte units in {} bytes, got a size of {}", {blob.size(), size}});
  }
  units_ = blob.substr(0, size);
  replacements_ = blob.substr(size);

  // Limits the length of each replacement, so reading one from any position terminates soon.
  std::size_t begin = 0;
  while (begin < replacements_.size()) {
    const std::size_t end = replacements_.find('\0', begin);
    if (end == replacements_.npos || end - begin > max_replacement_bytes) {
      fail_map(
          {"expected replacements of at most {} bytes that end in NUL", {max_replacement_bytes}});
    }
    begin = end + 1;
  }
}

std::uint32_t CharacterMap::unit(std::uint32_t position) const {
  std::uint32_t value;
  if (position >= units_.size() / sizeof value) fail_map("a unit points outside of the array");
  std::memcpy(&value, units_.data() + position * sizeof value, sizeof value);
  return value;
}

bool CharacterMap::step(std::uint32_t& position, char byte) const {
  const std::uint32_t label = static_cast<unsigned char>(byte);
  const std::uint32_t next = position ^ children_of(unit(position)) ^ label;
  if (label_of(unit(next)) != label) return false;
  position = next;
  return true;
}

CharacterMap::Match CharacterMap::longest_match(std::string_view text) const {
  return match(text, true);
}

CharacterMap::Match CharacterMap::shortest_match(std::string_view text) const {
  return match(text, false);
}

CharacterMap::Match CharacterMap::match(std::string_view text, bool longest) const {
  Match found;
  if (units_.empty()) return found;
  std::uint32_t key = 0;
  std::uint32_t position = 0;
  text = text.substr(0, max_key_bytes);  // in a broken map, keys may be cyclic
  for (std::size_t i = 0; i < text.size() && step(position, text[i]); ++i) {
    if (!ends_key(unit(position))) continue;
    key = position;
    found.size = i + 1;
    if (!longest) break;
  }
  if (found.size == 0) return found;
  const std::uint32_t value = value_of(unit(key ^ children_of(unit(key))));
  if (value >= replacements_.size()) fail_map("a key points outside of the replacements");
  found.replacement = replacements_.data() + value;  // up to its NUL
  return found;
}

bool CharacterMap::joins_ascii_to(char first) const {
  std::uint32_t start = 0;
  if (units_.empty() || !step(start, first)) return false;
  for (int second = 0; second < 128; ++second) {
    std::uint32_t position = start;
    if (step(position, static_cast<char>(second))) return true;
  }
  return false;
}

Normalizer::Normalizer(const SentencePieceModel& model)
    : map_(model.precompiled_charsmap),
      user_defined_(trie_of(model.pieces, {PieceType::user_defined})),
      add_prefix_(model.add_dummy_prefix && !model.treat_whitespace_as_suffix),
      add_suffix_(model.add_dummy_prefix && model.treat_whitespace_as_suffix),
      collapse_(model.remove_extra_whitespaces),
      escape_(model.escape_whitespaces) {
  for (std::size_t i = 0; i < ascii_.size(); ++i) {
    const char byte = static_cast<char>(i);
    const CharacterMap::Match match = map_.longest_match({&byte, 1});
    const bool plain = user_defined_.child(Trie::root, byte) == Trie::absent &&
                       (match.size == 0 || match.replacement.size() == 1) &&
                       !map_.joins_ascii_to(byte);
    ascii_[i] = {match.size == 0 || !plain ? byte : match.replacement[0], plain};
  }
}

// Applies the longest user-defined piece, else the longest rule; else copies one character.
Normalizer::Step Normalizer::next(std::string_view input) const {
  if (is_ascii(input[0]) && (input.size() == 1 || is_ascii(input[1]))) {
    const Ascii& ascii = ascii_[static_cast<std::size_t>(input[0])];
    if (ascii.plain) return {{&ascii.output, 1}, 1};
  }
  if (const std::size_t size = user_defined_.longest_prefix(input)) {
    return {input.substr(0, size), size};
  }
  if (const CharacterMap::Match match = map_.longest_match(input); match.size > 0) {
    return {match.replacement, match.size};
  }
  if (const std::size_t size = valid_character_size(input)) return {input.substr(0, size), size};
  return {replacement_character, 1};
}

namespace {

std::uint32_t units_of(std::string_view characters) {
  return characters.size() == 1 ? 1 : utf16_size(characters);
}

}  // namespace

Normalization::Normalization(const Normalizer& normalizer, std::string_view utf8)
    : normalizer_(normalizer),
      space_(normalizer.escape_ ? space_symbol : std::string_view(" ")),
      rest_(utf8),
      after_space_(normalizer.collapse_) {
  if (utf8.size() > max_input_bytes) {
    throw_error(ErrorCode::too_large,
                {"text: expected at most {} bytes, got {}", {max_input_bytes, utf8.size()}});
  }
}

bool Normalization::extend(std::size_t size) {
  if (!begun_) begin();
  const bool collapse = normalizer_.collapse_;
  while (!rest_.empty() && window_.text.size() < size) {
    Normalizer::Step step = normalizer_.next(rest_);
    if (after_space_) {
      step.output.remove_prefix(std::min(step.output.find_first_not_of(' '), step.output.size()));
    }
    append(step.output, step.size, units_of(rest_.substr(0, step.size)));
    if (!step.output.empty()) after_space_ = collapse && step.output.back() == ' ';
    rest_.remove_prefix(step.size);
  }
  if (rest_.empty() && !ended_) end();
  return ended_;
}

void Normalization::begin() {
  begun_ = true;
  while (normalizer_.collapse_ && !rest_.empty()) {
    const Normalizer::Step step = normalizer_.next(rest_);
    if (step.output != " ") break;
    units_ += units_of(rest_.substr(0, step.size));
    rest_.remove_prefix(step.size);
  }
  if (rest_.empty()) {
    ended_ = true;
  } else if (normalizer_.add_prefix_) {
    append_space();
  }
}

void Normalization::end() {
  ended_ = true;
  if (normalizer_.collapse_) remove_trailing_spaces();
  if (normalizer_.add_suffix_) append_space();
}

// Appends `output`, the result for the next `units` code units (`bytes` bytes). Runs of ASCII share
// a chunk.
void Normalization::append(std::string_view output, std::size_t bytes, std::uint32_t units) {
  const std::uint32_t begin = units_;
  units_ += units;
  if (output.empty()) return;
  const bool is_byte = bytes == 1 && output.size() == 1 && output[0] != ' ';
  if (!is_byte) {
    const bool only_spaces = output.find_first_not_of(' ') == output.npos;
    open(only_spaces ? Chunk::Kind::space : Chunk::Kind::characters, begin);
  } else if (!window_.chunks.empty() && window_.chunks.back().kind == Chunk::Kind::bytes &&
             window_.chunks.back().end == begin) {
    window_.chunks.back().end = units_;
  } else {
    open(Chunk::Kind::bytes, begin);
  }
  for (const char byte : output) {
    if (byte == ' ') {
      window_.text += space_;
    } else {
      window_.text += byte;
    }
  }
}

void Normalization::append_space() {
  open(Chunk::Kind::space, units_);
  window_.text += space_;
}

void Normalization::remove_trailing_spaces() {
  while (window_.text.ends_with(space_)) {
    window_.text.resize(window_.text.size() - space_.size());
  }
  while (!window_.chunks.empty() && window_.chunks.back().normalized >= window_.text.size()) {
    units_ = window_.chunks.back().begin;
    window_.chunks.pop_back();
  }
}

void Normalization::open(Chunk::Kind kind, std::uint32_t begin) {
  window_.chunks.push_back({static_cast<std::uint32_t>(window_.text.size()), begin, units_, kind});
}

void Normalization::drop(std::size_t size) {
  std::vector<Chunk>& chunks = window_.chunks;
  const auto behind = std::upper_bound(
      chunks.begin(), chunks.end(), size,
      [](std::size_t position, const Chunk& chunk) { return position < chunk.normalized; });
  chunks.erase(chunks.begin(), behind - 1);  // keep the one with the first remaining byte
  const auto dropped = static_cast<std::uint32_t>(size);
  if (chunks[0].kind == Chunk::Kind::bytes) chunks[0].begin += dropped - chunks[0].normalized;
  chunks[0].normalized = dropped;
  for (Chunk& chunk : chunks) chunk.normalized -= dropped;
  window_.text.erase(0, size);
  if (window_.text.empty()) chunks.clear();
}

}  // namespace glassformer
