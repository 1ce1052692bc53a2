#pragma once

#include <span>

namespace glassformer::unicode {

using Bytes = std::span<const unsigned char>;

// Compressed properties of Unicode's characters, written by make_table.py, which describes each
// table. Numbers are LEB128. A signed number n is stored as 2n, or as -2n - 1 if it is negative.
extern const Bytes property_length_table;
extern const Bytes property_value_table;
extern const Bytes kind_table;
extern const Bytes combining_class_length_table;
extern const Bytes combining_class_value_table;
extern const Bytes lower_case_table;
extern const Bytes decomposition_gap_table;
extern const Bytes decomposition_count_table;
extern const Bytes decomposition_length_table;
extern const Bytes decomposition_first_table;
extern const Bytes decomposition_other_table;
extern const Bytes han_table;

}  // namespace glassformer::unicode
