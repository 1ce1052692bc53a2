#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/unicode/table.hpp"

namespace glassformer::unicode {

/// Reads the numbers of a table in order.
class TableReader {
 public:
  explicit TableReader(Bytes bytes) : bytes_(bytes) {}

  bool at_end() const { return at_ == bytes_.size(); }
  std::uint8_t byte() { return bytes_[at_++]; }

  std::uint32_t number() {
    std::uint32_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t next = byte();
      value |= (next & 0x7Fu) << shift;
      if (next < 0x80) return value;
    }
  }

  std::uint32_t signed_number() {  // modulo 2^32, for sums
    const std::uint32_t value = number();
    return value % 2 == 0 ? value / 2 : 0 - (value / 2 + 1);
  }

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
};

/// A map from every code point to a small number, read from tables of ranges.
class RangeTable {
 public:
  RangeTable(Bytes lengths, Bytes values);

  std::uint8_t operator[](char32_t code) const;

 private:
  static constexpr char32_t direct_size = 0x3000;  // covers most alphabets

  struct Range {
    char32_t end;
    std::uint8_t value;
  };
  std::vector<std::uint8_t> direct_;
  std::vector<Range> ranges_;
};

}  // namespace glassformer::unicode
