#include "text/unicode/unicode.hpp"

#include <algorithm>
#include <vector>

#include "text/unicode/hangul.hpp"
#include "text/unicode/unpack.hpp"

namespace glassformer::unicode {
namespace {

// A character's role in grapheme clusters. The first twelve are those of the table.
enum class Break : std::uint8_t {
  other,
  carriage_return,
  line_feed,
  control,
  extend,
  linker,  // extends, and joins consonants of Indic scripts
  joiner,  // U+200D
  regional,
  prepend,
  spacing,
  pictographic,
  consonant,  // of Indic scripts with linkers
  hangul_l,
  hangul_v,
  hangul_t,
  hangul_lv,
  hangul_lvt,
};

const RangeTable& kinds() {
  static const RangeTable table(property_length_table, property_value_table);
  return table;
}

// A character's kind combines two properties.
unsigned char property(char32_t code, std::size_t which) {
  return kind_table[std::size_t{2} * kinds()[code] + which];
}

bool is_in(char32_t code, Categories wanted) { return wanted >> property(code, 0) & 1; }

Break break_class(char32_t code) {
  if (hangul::is_syllable(code)) {
    return (code - hangul::first_syllable) % hangul::trailing_count == 0 ? Break::hangul_lv
                                                                         : Break::hangul_lvt;
  }
  // Hangul letters (jamo) that form syllables, including those of Old Korean.
  if ((code >= 0x1100 && code < 0x1160) || (code >= 0xA960 && code < 0xA97D)) {
    return Break::hangul_l;
  }
  if ((code >= 0x1160 && code < 0x11A8) || (code >= 0xD7B0 && code < 0xD7C7)) {
    return Break::hangul_v;
  }
  if ((code >= 0x11A8 && code < 0x1200) || (code >= 0xD7CB && code < 0xD7FC)) {
    return Break::hangul_t;
  }
  return static_cast<Break>(property(code, 1));
}

bool is_control(Break b) {
  return b == Break::control || b == Break::carriage_return || b == Break::line_feed;
}

bool extends(Break b) { return b == Break::extend || b == Break::linker || b == Break::joiner; }

// Returns whether rules GB3 to GB9b forbid a boundary between two neighbors, without further
// context.
bool joined(Break left, Break right) {
  using enum Break;
  if (left == carriage_return && right == line_feed) return true;
  if (is_control(left) || is_control(right)) return false;
  if (extends(right) || right == spacing || left == prepend) return true;
  if (left == hangul_l) {
    return right == hangul_l || right == hangul_v || right == hangul_lv || right == hangul_lvt;
  }
  if (left == hangul_lv || left == hangul_v) return right == hangul_v || right == hangul_t;
  return (left == hangul_lvt || left == hangul_t) && right == hangul_t;
}

struct CaseRange {
  char32_t first, last;
  std::uint32_t step, distance;
};

std::vector<CaseRange> read_case_ranges() {
  std::vector<CaseRange> ranges;
  TableReader reader(lower_case_table);
  char32_t end = 0;
  while (!reader.at_end()) {
    const char32_t first = end + reader.number();
    const std::uint32_t count = reader.number();
    const std::uint32_t step = 1 + count % 2;
    end = first + (count / 2 - 1) * step;
    ranges.push_back({first, end, step, reader.signed_number()});
  }
  return ranges;
}

const std::vector<CaseRange>& case_ranges() {
  static const std::vector<CaseRange> ranges = read_case_ranges();
  return ranges;
}

}  // namespace

Category category(char32_t code) { return static_cast<Category>(property(code, 0)); }

bool is_letter(char32_t code) { return is_in(code, letter_categories); }

bool is_number(char32_t code) { return is_in(code, number_categories); }

bool is_mark(char32_t code) { return is_in(code, mark_categories); }

bool is_punctuation(char32_t code) { return is_in(code, punctuation_categories); }

std::vector<char32_t> bounds_of(Categories wanted) {
  std::vector<char32_t> bounds;
  char32_t begin = 0;
  TableReader lengths(property_length_table);
  for (const std::uint8_t kind : property_value_table) {
    const bool in = wanted >> kind_table[std::size_t{2} * kind] & 1;
    if (in != (bounds.size() % 2 == 1)) bounds.push_back(begin);
    begin += lengths.number();
  }
  return bounds;
}

std::vector<char32_t> han_bounds() {
  std::vector<char32_t> bounds;
  char32_t bound = 0;
  for (TableReader reader(han_table); !reader.at_end();) {
    bound += reader.number();
    bounds.push_back(bound);
  }
  return bounds;
}

bool is_white_space(char32_t code) {
  if (code <= 0x20) return code == 0x20 || (code >= 0x09 && code <= 0x0D);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
         code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool is_word(char32_t code) {
  return is_in(code, word_categories) || code == 0x200C || code == 0x200D;
}

char32_t lower_case(char32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  if (code == 0x130) return 'i';
  const std::vector<CaseRange>& ranges = case_ranges();
  const auto range = std::lower_bound(ranges.begin(), ranges.end(), code,
                                      [](const CaseRange& r, char32_t c) { return r.last < c; });
  const bool listed =
      range != ranges.end() && code >= range->first && (code - range->first) % range->step == 0;
  return listed ? code + range->distance : code;
}

char32_t upper_case(char32_t code) {
  if (code < 0x80) return code >= 'a' && code <= 'z' ? code - 32 : code;
  for (const CaseRange& range : case_ranges()) {
    const char32_t upper = code - range.distance;
    if (upper >= range.first && upper <= range.last && (upper - range.first) % range.step == 0) {
      return upper;
    }
  }
  return code;
}

std::size_t cluster_size(CharacterSpan text) {
  Break left = break_class(text[0].code);
  bool pictograph = left == Break::pictographic;  // and only extensions since then
  bool pair = false;                              // a complete pair of regional indicators
  bool conjunct = left == Break::consonant;       // and only extensions since then
  bool linked = false;                            // one of the extensions was a linker
  std::size_t size = 1;
  for (; size < text.size(); ++size) {
    const Break right = break_class(text[size].code);
    const bool joins = joined(left, right) || (linked && right == Break::consonant) ||
                       (pictograph && left == Break::joiner && right == Break::pictographic) ||
                       (left == Break::regional && right == Break::regional && !pair);
    if (!joins) break;
    pair = left == Break::regional && right == Break::regional;
    pictograph = right == Break::pictographic || (pictograph && extends(right));
    // U+200C extends, but separates consonants.
    conjunct =
        right == Break::consonant || (conjunct && extends(right) && text[size].code != 0x200C);
    linked = conjunct && right != Break::consonant && (linked || right == Break::linker);
    left = right;
  }
  return size;
}

std::uint8_t combining_class(char32_t code) {
  static const RangeTable table(combining_class_length_table, combining_class_value_table);
  return table[code];
}

}  // namespace glassformer::unicode
