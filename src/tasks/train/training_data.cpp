#include "tasks/train/training_data.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/strings/utf8.hpp"

namespace glassformer {
namespace {

[[noreturn]] void refuse(std::size_t number, const std::string& problem) {
  throw_error(ErrorCode::invalid_data, {"line {}: {}", {number, problem}});
}

// What some editors write at the beginning of a file in UTF-8.
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Calls visit(number, line) for each line, without its end.
template <class Visit>
void visit_lines(std::string_view file, const Visit& visit) {
  std::size_t number = 0;
  if (file.starts_with(byte_order_mark)) file.remove_prefix(byte_order_mark.size());
  while (!file.empty()) {
    const std::size_t end = std::min(file.find('\n'), file.size());
    std::string_view line = file.substr(0, end);
    file.remove_prefix(std::min(end + 1, file.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!is_valid_utf8(line)) refuse(number, "expected UTF-8, got other bytes");
    visit(number, line);
  }
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

[[noreturn]] void refuse_empty_file() {
  throw_error(ErrorCode::invalid_data, "expected examples, got an empty file");
}

const char* expected_parts(DataForm form) {
  switch (form) {
    case DataForm::labelled:
      return "expected a label, a tab and a text";
    case DataForm::pairs:
      return "expected a text, a tab and its translation";
    case DataForm::words:
      return "expected a word, a tab and its label";
    case DataForm::plain:
      break;
  }
  return "";
}

DataLine split(std::string_view line, std::size_t number, DataForm form) {
  if (form == DataForm::plain) return {number, line, {}};
  const std::string expected = expected_parts(form);
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) {
    refuse(number, expected + ", got no tab in " + describe(line));
  }
  const std::string_view before = line.substr(0, tab), behind = line.substr(tab + 1);
  if (is_blank(before)) refuse(number, expected + ", got nothing before the tab");
  if (is_blank(behind)) refuse(number, expected + ", got nothing after the tab");
  if (behind.find('\t') != std::string_view::npos) {
    refuse(number, expected + ", got another tab: a third column is not learned");
  }
  if (form == DataForm::labelled) return {number, behind, before};
  return {number, before, behind};
}

}  // namespace

std::vector<DataLine> read_data(std::string_view file, DataForm form) {
  std::vector<DataLine> lines;
  visit_lines(file, [&](std::size_t number, std::string_view line) {
    if (is_blank(line) && (form == DataForm::plain || line.empty())) return;
    lines.push_back(split(line, number, form));
  });
  if (lines.empty()) refuse_empty_file();
  return lines;
}

std::vector<TaggedSentence> read_sentences(std::string_view file) {
  std::vector<TaggedSentence> sentences(1);
  visit_lines(file, [&](std::size_t number, std::string_view line) {
    if (is_blank(line)) {
      if (!sentences.back().words.empty()) sentences.emplace_back();
      return;
    }
    const DataLine word = split(line, number, DataForm::words);
    TaggedSentence& sentence = sentences.back();
    if (!sentence.words.empty()) sentence.text += ' ';
    sentence.words.push_back({number, utf16_size(sentence.text), word.second});
    sentence.text += word.text;
  });
  if (sentences.back().words.empty()) sentences.pop_back();
  if (sentences.empty()) refuse_empty_file();
  return sentences;
}

namespace {

std::vector<std::string> several(const std::set<std::string_view>& labels) {
  if (labels.size() == 1) {
    throw_error(ErrorCode::invalid_data,
                {"expected two labels or more, got only {}", {describe(*labels.begin())}});
  }
  return {labels.begin(), labels.end()};
}

}  // namespace

std::vector<std::string> labels_of(const std::vector<DataLine>& lines) {
  std::set<std::string_view> labels;
  for (const DataLine& line : lines) labels.insert(line.second);
  return several(labels);
}

std::vector<std::string> labels_of(const std::vector<TaggedSentence>& sentences) {
  std::set<std::string_view> labels;
  for (const TaggedSentence& sentence : sentences) {
    for (const TaggedSentence::Word& word : sentence.words) labels.insert(word.label);
  }
  return several(labels);
}

}  // namespace glassformer
