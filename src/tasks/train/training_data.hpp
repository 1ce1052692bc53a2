#pragma once

#include <cstddef>
#include <cstdint>
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
  words,     ///< WORD<TAB>LABEL, for read_sentences()
};

/// Splits a file into its examples. Empty lines of plain text are skipped. The file must outlive
/// the result. Throws `invalid_data` with the number of the line that is not UTF-8, has no tab, or
/// has nothing before or after it; and for a file without examples.
std::vector<DataLine> read_data(std::string_view file, DataForm form);

/// A sentence whose words have labels.
struct TaggedSentence {
  struct Word {
    std::size_t number;   ///< of the line in its file, from 1
    std::uint32_t begin;  ///< in `text`, in UTF-16 units
    std::string_view label;
  };
  std::string text;  ///< the words with a space between them
  std::vector<Word> words;
};

/// Splits a file with a word and its label per line, and an empty line between sentences. The file
/// must outlive the result. Throws the errors of read_data().
std::vector<TaggedSentence> read_sentences(std::string_view file);

/// Returns the labels, sorted. Throws `invalid_data` if there is only one.
std::vector<std::string> labels_of(const std::vector<DataLine>& lines);
std::vector<std::string> labels_of(const std::vector<TaggedSentence>& sentences);

}  // namespace glassformer
