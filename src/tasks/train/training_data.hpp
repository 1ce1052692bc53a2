#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace glassformer {

/// One line of a file of examples.
struct DataLine {
  std::size_t number;       ///< of the line in its file, from 1
  std::string_view text;    ///< the text, or the source of a translation
  std::string_view second;  ///< the label, or the translation; empty for plain text
  std::optional<std::string_view> pair = {};  ///< the text that belongs to `text`
};

enum class DataForm {
  labelled,  ///< LABEL<TAB>TEXT, or LABEL<TAB>TEXT<TAB>PAIR in every line
  pairs,     ///< TEXT<TAB>TRANSLATION
  plain,     ///< TEXT
  words,     ///< WORD<TAB>LABEL, for read_sentences()
};

/// Splits a file into its examples. Empty lines of plain text are skipped. The file must outlive
/// the result. Throws `invalid_data` with the number of the line that is not UTF-8, has too few or
/// too many columns, an empty one, or a label with spaces around it; and for a file without
/// examples.
std::vector<DataLine> read_data(std::string_view file, DataForm form);

/// A sentence whose words have labels.
struct TaggedSentence {
  struct Word {
    std::size_t number;   ///< of the line in its file, from 1
    std::uint32_t begin;  ///< in `text`, in UTF-16 units
    std::string_view label, text;
  };
  std::string text;  ///< the words with a space between them
  std::vector<Word> words;
};

/// Splits a file with a word and its label per line, and an empty line between sentences. The file
/// must outlive the result. Throws the errors of read_data().
std::vector<TaggedSentence> read_sentences(std::string_view file);

/// Throws `invalid_data` for a label with spaces around it. `number`: of its line.
void expect_label(std::size_t number, std::string_view label);

/// Throws `invalid_data`, with the line and the cure, if translations certainly begin with the
/// names of columns or languages, or all fields are in quotes. There is at least one line.
void expect_translations(const std::vector<DataLine>& lines);

/// A label of a file of examples.
struct LabelCount {
  std::string label;
  std::size_t count;    ///< of the examples that have it
  std::string example;  ///< the first of them: a text or a word
};

/// Counts the labels. Sorted. Throws `invalid_data`, with the line and the cure, if there is only
/// one label, or if the first column certainly has something else: names of columns, an index, the
/// texts, or fields in quotes.
std::vector<LabelCount> count_labels(const std::vector<DataLine>& lines);
std::vector<LabelCount> count_labels(const std::vector<TaggedSentence>& sentences);

std::vector<std::string> names_of(const std::vector<LabelCount>& labels);

/// Returns a warning if there are many labels for so few examples, otherwise an empty text.
std::string many_labels_warning(const std::vector<LabelCount>& labels);

}  // namespace glassformer
