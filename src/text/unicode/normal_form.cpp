#include "text/unicode/normal_form.hpp"

#include <algorithm>
#include <functional>

#include "base/heap_sort.hpp"
#include "text/unicode/hangul.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/unpack.hpp"

namespace glassformer::unicode {
namespace {

struct Decomposition {
  char32_t code;
  std::uint32_t begin, size;  // of the decomposition
  bool compatibility;
};

struct Composition {
  char32_t first, second, code;

  bool operator<(const Composition& other) const {
    return first != other.first ? first < other.first : second < other.second;
  }
};

struct Decompositions {
  std::vector<Decomposition> entries;  // sorted by code
  std::vector<char32_t> characters;
  std::vector<Composition> compositions;  // sorted by first and second

  Decompositions();
  const Decomposition* find(char32_t code) const;
  char32_t compose(char32_t first, char32_t second) const;  // 0 if they do not compose
};

Decompositions::Decompositions() {
  TableReader gaps(decomposition_gap_table);
  TableReader counts(decomposition_count_table);
  TableReader lengths(decomposition_length_table);
  TableReader firsts(decomposition_first_table);
  TableReader others(decomposition_other_table);
  char32_t code = 0;
  char32_t first = 0;
  while (!gaps.at_end()) {
    code += gaps.number();
    first += firsts.signed_number();
    const std::uint32_t count = counts.number();
    const bool compatibility = (count & 2) != 0;
    const bool composed = (count & 3) == 0;
    std::vector<char32_t> parts{first};
    for (std::uint32_t size = lengths.number(); size > 1; --size) {
      parts.push_back(0x300 + others.signed_number());
    }
    for (std::uint32_t i = 0; i <= count / 4; ++i, ++code) {
      entries.push_back({code, static_cast<std::uint32_t>(characters.size()),
                         static_cast<std::uint32_t>(parts.size()), compatibility});
      for (const char32_t part : parts) characters.push_back(part + i);
      if (composed) compositions.push_back({parts[0] + i, parts[1] + i, code});
    }
  }
  heap_sort(compositions.begin(), compositions.end(), std::less<>());
}

const Decomposition* Decompositions::find(char32_t code) const {
  const auto entry =
      std::lower_bound(entries.begin(), entries.end(), code,
                       [](const Decomposition& e, char32_t wanted) { return e.code < wanted; });
  return entry != entries.end() && entry->code == code ? &*entry : nullptr;
}

char32_t Decompositions::compose(char32_t first, char32_t second) const {
  using namespace hangul;
  if (first - first_leading < leading_count && second - first_vowel < vowel_count) {
    return first_syllable +
           ((first - first_leading) * vowel_count + second - first_vowel) * trailing_count;
  }
  const char32_t trailing = second - before_trailing;
  if (is_syllable(first) && (first - first_syllable) % trailing_count == 0 && trailing > 0 &&
      trailing < trailing_count) {
    return first + trailing;
  }
  const Composition wanted{first, second, 0};
  const auto found = std::lower_bound(compositions.begin(), compositions.end(), wanted);
  return found != compositions.end() && !(wanted < *found) ? found->code : 0;
}

const Decompositions& decompositions() {
  static const Decompositions tables;
  return tables;
}

// A character of the result and the number of text characters it replaces. The number is 0 if the
// previous part already counts them.
struct Part {
  char32_t code;
  int origins;
  std::uint8_t combining_class;
};

void decompose(char32_t code, bool compatibility, int origins, std::vector<Part>& parts) {
  using namespace hangul;
  const auto push = [&](char32_t part) {
    parts.push_back({part, origins, combining_class(part)});
    origins = 0;
  };
  if (is_syllable(code)) {
    const char32_t index = code - first_syllable;
    push(first_leading + index / (vowel_count * trailing_count));
    push(first_vowel + index / trailing_count % vowel_count);
    if (index % trailing_count != 0) push(before_trailing + index % trailing_count);
    return;
  }
  const Decomposition* found = code < 0xA0 ? nullptr : decompositions().find(code);
  if (!found || (found->compatibility && !compatibility)) {
    push(code);
    return;
  }
  for (std::uint32_t i = 0; i < found->size; ++i) {
    decompose(decompositions().characters[found->begin + i], compatibility, origins, parts);
    origins = 0;
  }
}

// Sorts consecutive marks by their combining classes.
void reorder(std::vector<Part>& parts) {
  constexpr std::uint64_t place_limit = std::uint64_t{1} << 32;
  const auto is_starter = [](const Part& part) { return part.combining_class == 0; };
  for (auto begin = parts.begin(); begin != parts.end();) {
    begin = std::find_if_not(begin, parts.end(), is_starter);
    const auto end = std::find_if(begin, parts.end(), is_starter);
    const std::vector<Part> marks(begin, end);
    std::vector<std::uint64_t> order;  // class and position
    for (const Part& mark : marks)
      order.push_back(mark.combining_class * place_limit + order.size());
    heap_sort(order.begin(), order.end(), std::less<>());
    for (const std::uint64_t key : order) {
      *begin++ = marks[static_cast<std::size_t>(key % place_limit)];
    }
  }
}

void compose(std::vector<Part>& parts) {
  std::size_t kept = 0;
  std::size_t starter = 0;  // the next part may be combined with it
  bool has_starter = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part part = parts[i];
    if (has_starter) {
      // A mark between the starter and the part blocks the composition if its class is not lower.
      const bool adjacent = kept == starter + 1;
      const bool blocked = !adjacent && parts[kept - 1].combining_class >= part.combining_class;
      const char32_t composed =
          blocked ? 0 : decompositions().compose(parts[starter].code, part.code);
      if (composed != 0) {
        parts[starter].code = composed;
        parts[starter].origins += part.origins;
        continue;
      }
    }
    if (part.combining_class == 0) {
      starter = kept;
      has_starter = true;
    }
    parts[kept++] = part;
  }
  parts.resize(kept);
}

}  // namespace

Characters normal_form(CharacterSpan text, NormalForm form) {
  const bool compatibility = form == NormalForm::nfkc || form == NormalForm::nfkd;
  std::vector<Part> parts;
  parts.reserve(text.size());
  for (const Character& character : text) decompose(character.code, compatibility, 1, parts);
  reorder(parts);
  if (form == NormalForm::nfc || form == NormalForm::nfkc) compose(parts);

  Characters result;
  result.reserve(parts.size());
  std::size_t next = 0;  // position in the text
  for (const Part& part : parts) {
    const Character& origin = text[part.origins == 0 && next > 0 ? next - 1 : next];
    result.push_back({part.code, origin.begin, origin.end});
    next += static_cast<std::size_t>(part.origins);
  }
  return result;
}

std::vector<char32_t> decomposable_codes() {
  std::vector<char32_t> codes;
  for (const Decomposition& entry : decompositions().entries) codes.push_back(entry.code);
  return codes;
}

}  // namespace glassformer::unicode
