#pragma once

#include <span>

namespace glassformer::unicode {

using Bytes = std::span<const unsigned char>;

// Properties of Unicode's characters in few bytes, written by make_table.py, which says what each
// table holds. Numbers are LEB128; signed ones are 2n, or -2n - 1 for negative ones.
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
