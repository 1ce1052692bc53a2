#include "jinja/texts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/strings/utf8.hpp"
#include "jinja/letters.hpp"
#include "jinja/numbers.hpp"

namespace glassformer::jinja {
namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const auto lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
}

// Returns the start of the character before the byte `end`.
std::size_t previous_character(std::string_view text, std::size_t end) {
  do --end;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
  return end;
}

std::string_view without_spaces(std::string_view text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t next = begin;
    if (!is_space(next_character(text, next))) break;
    begin = next;
  }
  std::size_t end = text.size();
  while (end > begin) {
    const std::size_t last = previous_character(text, end);
    std::size_t place = last;
    if (!is_space(next_character(text, place))) break;
    end = last;
  }
  return text.substr(begin, end - begin);
}

bool is_line_end(char32_t code) {
  return (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 ||
         code == 0x2028 || code == 0x2029;
}

// Removes single underscores between digits. Returns whether there are no others.
bool remove_underscores(std::string& digits) {
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] != '_') continue;
    const bool is_between = i > 0 && i + 1 < digits.size() && digit_value(digits[i - 1]) < 36 &&
                            digit_value(digits[i + 1]) < 36;
    if (!is_between) return false;
  }
  std::erase(digits, '_');
  return true;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

// Up to this size, comparing at every place is fast enough.
constexpr std::size_t short_size = 16;

char character_at(std::string_view text, std::size_t i, bool is_backward) {
  return text[is_backward ? text.size() - 1 - i : i];
}

std::vector<std::uint32_t> borders_of(std::string_view text, bool is_backward) {
  std::vector<std::uint32_t> borders(text.size());
  std::uint32_t length = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const char c = character_at(text, i, is_backward);
    while (length > 0 && c != character_at(text, length, is_backward)) length = borders[length - 1];
    if (c == character_at(text, length, is_backward)) ++length;
    borders[i] = length;
  }
  return borders;
}

}  // namespace

Finder::Finder(Rendering& rendering, std::string_view wanted)
    : rendering_(rendering), wanted_(wanted) {
  if (wanted.size() <= short_size) return;
  rendering.expect_space(wanted.size() * 2 * sizeof(std::uint32_t));
  rendering.scan(wanted.size() * 8);
  borders_ = borders_of(wanted, false);
  last_borders_ = borders_of(wanted, true);
}

std::size_t Finder::find(std::string_view text, std::size_t from) const {
  if (from > text.size()) return text.npos;
  if (!borders_.empty()) {
    const std::size_t place = search(text.substr(from), false);
    return place == text.npos ? place : from + place;
  }
  const std::size_t place = text.find(wanted_, from);
  rendering_.scan((std::min(place, text.size()) - from) * 4);
  return place;
}

std::size_t Finder::find_last(std::string_view text, std::size_t end) const {
  if (end < wanted_.size()) return text.npos;
  if (!borders_.empty()) return search(text.substr(0, end), true);
  const std::size_t place = text.rfind(wanted_, end - wanted_.size());
  rendering_.scan((end - (place == text.npos ? 0 : place)) * 4);
  return place;
}

std::size_t Finder::search(std::string_view text, bool is_backward) const {
  const std::vector<std::uint32_t>& borders = is_backward ? last_borders_ : borders_;
  std::size_t matched = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % 64 == 0) rendering_.step(2);
    const char c = character_at(text, i, is_backward);
    while (matched > 0 && c != character_at(wanted_, matched, is_backward)) {
      matched = borders[matched - 1];
    }
    if (c == character_at(wanted_, matched, is_backward)) ++matched;
    if (matched == wanted_.size()) {
      return is_backward ? text.size() - 1 - i : i + 1 - wanted_.size();
    }
  }
  return text.npos;
}

bool parse_integer(Rendering& rendering, std::string_view text, std::int64_t base,
                   std::int64_t& number) {
  rendering.scan(text.size());
  if (base != 0 && (base < 2 || base > 36)) return false;
  std::string digits(without_spaces(text));
  const bool has_sign = digits.starts_with('-') || digits.starts_with('+');
  const bool is_negative = digits.starts_with('-');
  if (has_sign) digits.erase(0, 1);
  if (digits.size() > 1 && digits[0] == '0') {
    const auto letter = static_cast<char>(digits[1] | 0x20);
    const int prefix = letter == 'b' ? 2 : letter == 'o' ? 8 : letter == 'x' ? 16 : 0;
    if (prefix != 0 && (base == 0 || base == prefix)) {
      base = prefix;
      digits.erase(0, 2);
      if (digits.starts_with('_')) digits.erase(0, 1);
    }
  }
  if (!remove_underscores(digits) || digits.empty()) return false;
  if (base == 0) {
    base = 10;
    if (digits.size() > 1 && digits[0] == '0' && digits.find_first_not_of('0') != digits.npos) {
      return false;
    }
  }
  if (std::any_of(digits.begin(), digits.end(), [&](char c) { return digit_value(c) >= base; })) {
    return false;
  }
  number = 0;
  for (const char c : digits) {
    const std::int64_t digit = digit_value(c);
    if (__builtin_mul_overflow(number, base, &number) ||
        __builtin_add_overflow(number, is_negative ? -digit : digit, &number)) {
      rendering.fail("integers of more than 64 bits are not supported");
    }
  }
  return true;
}

bool parse_python_float(std::string_view text, double& number) {
  std::string digits(without_spaces(text));
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.erase(0, 1);
  const auto finish = [&](double magnitude) {
    number = is_negative ? -magnitude : magnitude;
    return true;
  };
  if (equals_ignoring_case(digits, "inf") || equals_ignoring_case(digits, "infinity")) {
    return finish(std::numeric_limits<double>::infinity());
  }
  if (equals_ignoring_case(digits, "nan")) return finish(std::nan(""));
  if (!remove_underscores(digits)) return false;
  std::size_t i = 0;
  const auto skip_digits = [&] {
    const std::size_t begin = i;
    while (i < digits.size() && digits[i] >= '0' && digits[i] <= '9') ++i;
    return i - begin;
  };
  std::size_t count = skip_digits();
  if (i < digits.size() && digits[i] == '.') {
    ++i;
    count += skip_digits();
  }
  if (count == 0) return false;
  if (i < digits.size() && (digits[i] == 'e' || digits[i] == 'E')) {
    ++i;
    if (i < digits.size() && (digits[i] == '-' || digits[i] == '+')) ++i;
    if (skip_digits() == 0) return false;
  }
  return i == digits.size() && finish(parse_float(digits));
}

std::string padded(Rendering& rendering, std::string_view text, std::int64_t width,
                   std::string_view filler, Alignment alignment) {
  const auto length = static_cast<std::int64_t>(character_count(text));
  const std::int64_t missing = std::max<std::int64_t>(width - length, 0);
  if (missing > 1'000'000'000) rendering.fail_limit("characters of padding", 1'000'000'000);
  rendering.expect_space(static_cast<std::size_t>(missing) * filler.size() + text.size());
  std::int64_t before = 0;
  if (alignment == Alignment::right) before = missing;
  if (alignment == Alignment::center) before = missing / 2 + (missing & width & 1);
  std::string result;
  for (std::int64_t i = 0; i < before; ++i) result += filler;
  result += text;
  for (std::int64_t i = before; i < missing; ++i) result += filler;
  return result;
}

std::string_view stripped(Rendering& rendering, std::string_view text,
                          const std::string_view* characters, bool at_start, bool at_end) {
  const std::size_t size = characters ? characters->size() : 8;
  std::size_t count = 0;
  const auto is_removed = [&](std::size_t begin, std::size_t end) {
    if (++count % 64 == 0) rendering.step(1 + size);
    if (characters) return characters->find(text.substr(begin, end - begin)) != text.npos;
    std::size_t place = begin;
    return is_space(next_character(text, place));
  };
  std::size_t begin = 0;
  std::size_t end = text.size();
  while (at_start && begin < end) {
    const std::size_t next = begin + announced_size(text[begin]);
    if (!is_removed(begin, next)) break;
    begin = next;
  }
  while (at_end && end > begin) {
    const std::size_t last = previous_character(text, end);
    if (!is_removed(last, end)) break;
    end = last;
  }
  return text.substr(begin, end - begin);
}

std::string replaced(Rendering& rendering, std::string_view text, std::string_view old,
                     std::string_view replacement, std::int64_t count) {
  std::string result;
  std::size_t at = 0;
  const auto add = [&](std::string_view part) {
    result += part;
    rendering.scan(part.size());
    if (result.size() > 65536) rendering.expect_output(result.size());
  };
  const Finder finder(rendering, old);
  for (std::size_t from = 0; count != 0; --count) {
    const std::size_t place = finder.find(text, from);
    if (place == text.npos) break;
    rendering.step();
    add(text.substr(at, place - at));
    add(replacement);
    at = place + old.size();
    from = at;
    if (!old.empty()) continue;
    if (at == text.size()) break;  // between all characters, and at both ends
    from = at + announced_size(text[at]);
  }
  add(text.substr(at));
  return result;
}

std::vector<std::string_view> split_lines(Rendering& rendering, std::string_view text,
                                          bool keeps_ends) {
  rendering.scan(text.size() * 4);
  std::vector<std::string_view> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = at;
    const char32_t code = next_character(text, at);
    if (!is_line_end(code)) continue;
    if (code == '\r' && at < text.size() && text[at] == '\n') ++at;
    if (lines.size() == lines.capacity()) {
      rendering.expect_space(lines.size() * 3 * sizeof(std::string_view));
    }
    lines.push_back(text.substr(begin, (keeps_ends ? at : end) - begin));
    begin = at;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::vector<std::string_view> split_spaces(Rendering& rendering, std::string_view text,
                                           std::int64_t most) {
  rendering.scan(text.size() * 4);
  std::vector<std::string_view> parts;
  std::size_t at = 0;
  for (;;) {
    while (at < text.size()) {
      std::size_t next = at;
      if (!is_space(next_character(text, next))) break;
      at = next;
    }
    if (at == text.size()) return parts;
    if (parts.size() == parts.capacity()) {
      rendering.expect_space(parts.size() * 3 * sizeof(std::string_view));
    }
    if (most >= 0 && static_cast<std::int64_t>(parts.size()) == most) {
      parts.push_back(text.substr(at));
      return parts;
    }
    const std::size_t begin = at;
    while (at < text.size()) {
      std::size_t next = at;
      if (is_space(next_character(text, next))) break;
      at = next;
    }
    parts.push_back(text.substr(begin, at - begin));
  }
}

}  // namespace glassformer::jinja
