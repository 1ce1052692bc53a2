#include "explain/patching/token_alignment.hpp"

#include <algorithm>

namespace glassformer {
namespace {

using Tokens = std::span<const AlignedToken>;

// A range of each text, [begin, end).
struct Stretch {
  std::size_t base, base_end, donor, donor_end;

  std::size_t base_size() const { return base_end - base; }
  std::size_t donor_size() const { return donor_end - donor; }
};

class Aligner {
 public:
  Aligner(Tokens base, Tokens donor) : base_(base), donor_(donor) {
    alignment_.donor_of.resize(base.size());
  }

  TokenAlignment align() {
    align_between_specials();
    place();
    return std::move(alignment_);
  }

 private:
  bool same(std::size_t i, std::size_t j) const {
    return base_[i].id == donor_[j].id && base_[i].special == donor_[j].special;
  }
  void pair(std::size_t i, std::size_t j) { alignment_.donor_of[i] = j; }

  static std::vector<std::size_t> specials_of(Tokens tokens) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].special) places.push_back(i);
    }
    return places;
  }

  void align_between_specials() {
    const std::vector<std::size_t> base = specials_of(base_), donor = specials_of(donor_);
    Stretch stretch = {0, base_.size(), 0, donor_.size()};
    if (base.size() == donor.size()) {
      for (std::size_t k = 0; k < base.size(); ++k) {
        pair(base[k], donor[k]);
        align_stretch({stretch.base, base[k], stretch.donor, donor[k]});
        stretch.base = base[k] + 1;
        stretch.donor = donor[k] + 1;
      }
    }
    align_stretch(stretch);
  }

  void align_stretch(Stretch s) {
    while (s.base < s.base_end && s.donor < s.donor_end && same(s.base, s.donor)) {
      pair(s.base++, s.donor++);
    }
    while (s.base < s.base_end && s.donor < s.donor_end && same(s.base_end - 1, s.donor_end - 1)) {
      pair(--s.base_end, --s.donor_end);
    }
    // common [base + 1, donor + 1]: length of the longest common subsequence from two positions on.
    const std::size_t width = s.donor_size() + 1;
    std::vector<std::uint32_t> common((s.base_size() + 1) * width);
    for (std::size_t i = s.base_size(); i-- > 0;) {
      for (std::size_t j = s.donor_size(); j-- > 0;) {
        std::uint32_t& here = common[i * width + j];
        here = same(s.base + i, s.donor + j)
                   ? common[(i + 1) * width + j + 1] + 1
                   : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
      }
    }
    Stretch gap = {s.base, s.base, s.donor, s.donor};
    for (std::size_t i = s.base; i < s.base_end; ++i) {
      const std::uint32_t left = common[(i - s.base) * width + gap.donor - s.donor];
      // Finds the first token that can be next in a common subsequence of this length.
      for (std::size_t j = gap.donor; j < s.donor_end && left > 0; ++j) {
        const std::uint32_t behind = common[(i - s.base + 1) * width + j - s.donor + 1];
        if (!same(i, j) || behind + 1 != left) continue;
        pair(i, j);
        substitute({gap.base, i, gap.donor, j});
        gap = {i + 1, i + 1, j + 1, j + 1};
        break;
      }
    }
    substitute({gap.base, s.base_end, gap.donor, s.donor_end});
  }

  // Returns the last token of each word.
  static std::vector<std::size_t> word_ends(Tokens tokens, std::size_t begin, std::size_t end) {
    std::vector<std::size_t> ends;
    for (std::size_t i = begin; i < end; ++i) {
      if (i == begin || tokens[i].starts_word) ends.push_back(i);
      ends.back() = i;
    }
    return ends;
  }

  void substitute(const Stretch& gap) {
    if (gap.base_size() == gap.donor_size()) {
      for (std::size_t i = 0; i < gap.base_size(); ++i) pair(gap.base + i, gap.donor + i);
      return;
    }
    const std::vector<std::size_t> base = word_ends(base_, gap.base, gap.base_end);
    const std::vector<std::size_t> donor = word_ends(donor_, gap.donor, gap.donor_end);
    if (base.size() != donor.size()) return;
    for (std::size_t word = 0; word < base.size(); ++word) pair(base[word], donor[word]);
  }

  void place() {
    std::size_t& columns = alignment_.columns;
    const auto place_donor_to = [&](std::size_t end) {
      while (alignment_.donor_columns.size() < end) alignment_.donor_columns.push_back(columns++);
    };
    for (const std::optional<std::size_t>& donor : alignment_.donor_of) {
      if (donor) {
        place_donor_to(*donor);
        alignment_.donor_columns.push_back(columns);
      }
      alignment_.base_columns.push_back(columns++);
    }
    place_donor_to(donor_.size());
  }

  Tokens base_, donor_;
  TokenAlignment alignment_;
};

}  // namespace

TokenAlignment align_tokens(std::span<const AlignedToken> base,
                            std::span<const AlignedToken> donor) {
  return Aligner(base, donor).align();
}

TokenAlignment align_beginnings(std::span<const AlignedToken> base,
                                std::span<const AlignedToken> donor) {
  const std::size_t last = donor.size() - 1;
  TokenAlignment aligned = align_tokens(base.first(base.size() - 1), donor.first(last));
  aligned.donor_of.emplace_back(last);
  aligned.base_columns.push_back(aligned.columns);
  aligned.donor_columns.push_back(aligned.columns++);
  return aligned;
}

}  // namespace glassformer
