#include "text/unicode/unpack.hpp"

#include <algorithm>

namespace glassformer::unicode {

RangeTable::RangeTable(Bytes lengths, Bytes values) : direct_(direct_size) {
  TableReader reader(lengths);
  char32_t end = 0;
  for (const std::uint8_t value : values) {
    const char32_t begin = end;
    end += reader.number();
    ranges_.push_back({end, value});
    for (char32_t code = begin; code < std::min(end, direct_size); ++code) direct_[code] = value;
  }
}

std::uint8_t RangeTable::operator[](char32_t code) const {
  if (code < direct_size) return direct_[code];
  const auto range =
      std::upper_bound(ranges_.begin(), ranges_.end(), code,
                       [](char32_t wanted, const Range& r) { return wanted < r.end; });
  return range->value;
}

}  // namespace glassformer::unicode
