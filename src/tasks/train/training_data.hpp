#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace glassformer {

/// One line of a file of examples.
struct DataLine {
  std::size_t number;       ///< of the line in its file, from 1
  std::string_view text;    ///< the text, or the source of a translation
  std::string_view second;  ///< the label, or the translation; empty for plain text
};

enum class DataForm {
  labelled,  ///< LABEL<TAB>TEXT
  pairs,     ///< TEXT<TAB>TRANSLATION
  plain,     ///< TEXT
};

/// Splits a file into its examples. Empty lines of plain text are skipped. The file must outlive
/// the result. Throws `invalid_data` with the number of the line that is not UTF-8, has no tab, or
/// has nothing before or after it; and for a file without examples.
std::vector<DataLine> read_data(std::string_view file, DataForm form);

/// Returns the labels, sorted. Throws `invalid_data` if there is only one.
std::vector<std::string> labels_of(const std::vector<DataLine>& lines);

}  // namespace glassformer
