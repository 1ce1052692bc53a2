#include "text/training/seed_pieces.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/heap_sort.hpp"
#include "base/strings/utf8.hpp"

namespace glassformer {
namespace {

// The text from a position of a word to its end, or up to the longest length.
struct Suffix {
  std::uint32_t word;
  std::uint16_t begin, size;  // bytes
};

std::size_t length_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

// Finds the substrings that a character differs after, or that a suffix ends with.
class SubstringFinder {
 public:
  SubstringFinder(const std::vector<WordCount>& words, std::size_t longest);

  std::vector<Substring> find();

 private:
  // A prefix of the last suffix that more than one suffix may start with.
  struct Open {
    std::size_t size;
    std::uint64_t count;
  };

  std::string_view text_of(const Suffix& suffix) const {
    return std::string_view(words_[suffix.word].text).substr(suffix.begin, suffix.size);
  }
  // Returns the byte as a number above 0, or 0 at the end.
  int byte_at(const Suffix& suffix, std::size_t depth) const {
    return depth < suffix.size
               ? 1 + static_cast<unsigned char>(words_[suffix.word].text[suffix.begin + depth])
               : 0;
  }

  void add_suffixes(std::uint32_t word, std::size_t longest);
  void sort(std::span<Suffix> suffixes, std::size_t depth);
  void close(std::string_view text, std::size_t size);

  const std::vector<WordCount>& words_;
  std::vector<Suffix> suffixes_;
  std::vector<Open> open_;  // in ascending order of size
  std::vector<Substring> found_;
};

SubstringFinder::SubstringFinder(const std::vector<WordCount>& words, std::size_t longest)
    : words_(words) {
  std::size_t characters = 0;
  for (const WordCount& word : words) characters += length_of(word.text);
  suffixes_.reserve(characters);
  for (std::size_t i = 0; i < words.size(); ++i) {
    add_suffixes(static_cast<std::uint32_t>(i), longest);
  }
  sort(suffixes_, 0);
}

void SubstringFinder::add_suffixes(std::uint32_t word, std::size_t longest) {
  const std::string& text = words_[word].text;
  std::size_t end = 0, length = 0;
  for (std::size_t begin = 0; begin < text.size(); --length) {
    for (; length < longest && end < text.size(); ++length) end += announced_size(text[end]);
    suffixes_.push_back(
        {word, static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end - begin)});
    begin += announced_size(text[begin]);
  }
}

// Multikey quicksort (Bentley and Sedgewick 1997). The suffixes are equal in their first `depth`
// bytes. The recursion stays shallow: parts that share a byte, which are the most, are sorted by
// the loop.
void SubstringFinder::sort(std::span<Suffix> suffixes, std::size_t depth) {
  while (suffixes.size() > 1) {
    const int a = byte_at(suffixes.front(), depth), b = byte_at(suffixes.back(), depth);
    const int c = byte_at(suffixes[suffixes.size() / 2], depth);
    const int pivot = std::max(std::min(a, b), std::min(std::max(a, b), c));
    std::size_t less = 0, next = 0, more = suffixes.size();
    while (next < more) {
      const int byte = byte_at(suffixes[next], depth);
      if (byte < pivot) {
        std::swap(suffixes[less++], suffixes[next++]);
      } else if (byte > pivot) {
        std::swap(suffixes[next], suffixes[--more]);
      } else {
        ++next;
      }
    }
    sort(suffixes.first(less), depth);
    sort(suffixes.subspan(more), depth);
    if (pivot == 0) return;
    suffixes = suffixes.subspan(less, more - less);
    ++depth;
  }
}

// Ends the open substrings longer than `size` bytes. `text` is the last suffix.
void SubstringFinder::close(std::string_view text, std::size_t size) {
  while (!open_.empty() && open_.back().size > size) {
    const Open last = open_.back();
    open_.pop_back();
    const std::size_t length = length_of(text.substr(0, last.size));
    if (length > 1 && last.count > 1) {
      found_.push_back({text.substr(0, last.size), length, last.count});
    }
    if (open_.empty() || open_.back().size < size) {
      if (size > 0) open_.push_back({size, last.count});
    } else {
      open_.back().count += last.count;
    }
  }
}

// Returns the size of the whole characters that both texts start with.
std::size_t common_size(std::string_view a, std::string_view b) {
  std::size_t size = 0;
  while (size < a.size() && size < b.size() && a[size] == b[size]) ++size;
  if (size == a.size() || size == b.size()) return size;
  while (size > 0 && (a[size] & 0xC0) == 0x80) --size;
  return size;
}

std::vector<Substring> SubstringFinder::find() {
  std::string_view last;
  for (const Suffix& suffix : suffixes_) {
    const std::string_view text = text_of(suffix);
    close(last, common_size(last, text));
    const std::uint64_t count = words_[suffix.word].count;
    if (!open_.empty() && open_.back().size == text.size()) {
      open_.back().count += count;
    } else {
      open_.push_back({text.size(), count});
    }
    last = text;
  }
  close(last, 0);
  return std::move(found_);
}

}  // namespace

std::vector<Substring> frequent_substrings(const std::vector<WordCount>& words, std::size_t longest,
                                           std::size_t most) {
  std::vector<Substring> found = SubstringFinder(words, longest).find();
  const auto before = [](const Substring& a, const Substring& b) {
    const std::uint64_t of_a = a.count * a.length, of_b = b.count * b.length;
    return of_a != of_b ? of_a > of_b : a.text < b.text;
  };
  if (found.size() > most) {
    std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most), found.end(),
                     before);
    found.resize(most);
  }
  heap_sort(found.begin(), found.end(), before);
  return found;
}

}  // namespace glassformer
