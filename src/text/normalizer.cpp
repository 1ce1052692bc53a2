#include "text/normalizer.hpp"

#include <algorithm>
#include <cstring>

#include "error.hpp"
#include "io/utf8.hpp"

namespace glassformer {
namespace {

constexpr std::size_t max_input_bytes = std::size_t{1} << 28;
constexpr std::size_t max_normalized_bytes = std::size_t{1} << 30;
constexpr std::size_t max_replacement_bytes = 1024;  // Unicode's longest has 33

[[noreturn]] void fail_map(const std::string& problem) {
  throw Error(ErrorCode::invalid_tokenizer, "tokenizer.model: precompiled_charsmap: " + problem);
}

// A unit of the character map's array: bits 0-7 and 31 are its label, bit 8 says that a key ends
// here, the others say where its children start. A leaf holds bit 31 and the key's value.
constexpr std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000FF; }
constexpr bool ends_key(std::uint32_t unit) { return (unit & 0x100) != 0; }
constexpr std::uint32_t children_of(std::uint32_t unit) {
  return (unit >> 10) << ((unit & 0x200) >> 6);
}
constexpr std::uint32_t value_of(std::uint32_t leaf) { return leaf & 0x7FFFFFFF; }

constexpr bool is_ascii(char byte) { return static_cast<unsigned char>(byte) < 0x80; }

// Appends normalised text, keeping the chunks short: ASCII runs share one.
class Writer {
 public:
  Writer(NormalizedText& result, std::string_view space) : result_(result), space_(space) {}

  // `output` came from the next `units` code units, which are `bytes` bytes.
  void append(std::string_view output, std::size_t bytes, std::uint32_t units) {
    const std::uint32_t begin = units_;
    units_ += units;
    if (output.empty()) return;
    const bool is_byte = bytes == 1 && output.size() == 1 && output[0] != ' ';
    if (is_byte) {
      if (!extend(begin)) open(Chunk::Kind::bytes, begin);
    } else {
      const bool only_spaces = output.find_first_not_of(' ') == output.npos;
      open(only_spaces ? Chunk::Kind::space : Chunk::Kind::characters, begin);
    }
    for (const char byte : output) {
      if (byte == ' ') {
        result_.text += space_;
      } else {
        result_.text += byte;
      }
    }
  }

  void append_space() {
    open(Chunk::Kind::space, units_);
    result_.text += space_;
  }

  void skip(std::uint32_t units) { units_ += units; }

  void remove_trailing_spaces() {
    while (result_.text.ends_with(space_)) {
      result_.text.resize(result_.text.size() - space_.size());
    }
    while (!result_.chunks.empty() && result_.chunks.back().normalized >= result_.text.size()) {
      units_ = result_.chunks.back().begin;
      result_.chunks.pop_back();
    }
  }

 private:
  bool extend(std::uint32_t begin) {
    if (result_.chunks.empty()) return false;
    Chunk& last = result_.chunks.back();
    if (last.kind != Chunk::Kind::bytes || last.end != begin) return false;
    last.end = units_;
    return true;
  }

  void open(Chunk::Kind kind, std::uint32_t begin) {
    if (result_.text.size() > max_normalized_bytes) {
      throw Error(ErrorCode::unsupported, "text: expected at most " +
                                              std::to_string(max_normalized_bytes) +
                                              " bytes after normalisation");
    }
    result_.chunks.push_back(
        {static_cast<std::uint32_t>(result_.text.size()), begin, units_, kind});
  }

  NormalizedText& result_;
  std::string_view space_;
  std::uint32_t units_ = 0;  // of the input, so far
};

}  // namespace

CharacterMap::CharacterMap(std::string_view blob) {
  if (blob.empty()) return;
  std::uint32_t size;
  if (blob.size() < sizeof size) fail_map("expected at least 4 bytes");
  std::memcpy(&size, blob.data(), sizeof size);
  blob.remove_prefix(sizeof size);
  if (size == 0 || size % sizeof(std::uint32_t) != 0 || size > blob.size()) {
    fail_map("expected an array of 4-byte units in " + std::to_string(blob.size()) +
             " bytes, got a size of " + std::to_string(size));
  }
  units_ = blob.substr(0, size);
  replacements_ = blob.substr(size);

  // So that reading one from any position ends, and soon.
  std::size_t begin = 0;
  while (begin < replacements_.size()) {
    const std::size_t end = replacements_.find('\0', begin);
    if (end == replacements_.npos || end - begin > max_replacement_bytes) {
      fail_map("expected replacements of at most " + std::to_string(max_replacement_bytes) +
               " bytes that end in NUL");
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
  Match match;
  if (units_.empty()) return match;
  std::uint32_t key = 0;
  std::uint32_t position = 0;
  for (std::size_t i = 0; i < text.size() && step(position, text[i]); ++i) {
    if (!ends_key(unit(position))) continue;
    key = position;
    match.size = i + 1;
  }
  if (match.size == 0) return match;
  const std::uint32_t value = value_of(unit(key ^ children_of(unit(key))));
  if (value >= replacements_.size()) fail_map("a key points outside of the replacements");
  match.replacement = replacements_.data() + value;  // up to its NUL
  return match;
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

NormalizedText Normalizer::normalize(std::string_view input) const {
  if (input.size() > max_input_bytes) {
    throw Error(ErrorCode::unsupported, "text: expected at most " +
                                            std::to_string(max_input_bytes) + " bytes, got " +
                                            std::to_string(input.size()));
  }
  NormalizedText result;
  Writer writer(result, escape_ ? space_symbol : std::string_view(" "));
  const auto units = [&](std::size_t size) {
    return size == 1 ? 1 : utf16_size(input.substr(0, size));
  };

  while (collapse_ && !input.empty()) {
    const Step step = next(input);
    if (step.output != " ") break;
    writer.skip(units(step.size));
    input.remove_prefix(step.size);
  }
  if (input.empty()) return result;

  result.text.reserve(input.size() + input.size() / 2);
  if (add_prefix_) writer.append_space();
  bool after_space = collapse_;
  while (!input.empty()) {
    Step step = next(input);
    if (after_space) {
      step.output.remove_prefix(std::min(step.output.find_first_not_of(' '), step.output.size()));
    }
    writer.append(step.output, step.size, units(step.size));
    if (!step.output.empty()) after_space = collapse_ && step.output.back() == ' ';
    input.remove_prefix(step.size);
  }
  if (collapse_) writer.remove_trailing_spaces();
  if (add_suffix_) writer.append_space();
  return result;
}

// The longest user-defined piece, else the longest rule, else one character as it is.
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

}  // namespace glassformer
