#include "text/unicode/unpack.hpp"

#include <algorithm>

namespace glassformer::unicode {

RunTable::RunTable(Bytes lengths, Bytes values) : direct_(direct_size) {
  TableReader reader(lengths);
  char32_t end = 0;
  for (const std::uint8_t value : values) {
    const char32_t begin = end;
    end += reader.number();
    runs_.push_back({end, value});
    for (char32_t code = begin; code < std::min(end, direct_size); ++code) direct_[code] = value;
  }
}

std::uint8_t RunTable::operator[](char32_t code) const {
  if (code < direct_size) return direct_[code];
  const auto run = std::upper_bound(runs_.begin(), runs_.end(), code,
                                    [](char32_t wanted, const Run& r) { return wanted < r.end; });
  return run->value;
}

}  // namespace glassformer::unicode
