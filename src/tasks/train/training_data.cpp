#include "tasks/train/training_data.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/strings/utf8.hpp"
#include "tasks/train/column_names.hpp"

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
      return "expected a label, a tab and a text, or a label and two texts with tabs between them";
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
  std::vector<std::string_view> columns;
  for (std::size_t tab = 0; tab != std::string_view::npos;) {
    tab = line.find('\t');
    columns.push_back(line.substr(0, tab));
    line.remove_prefix(tab == std::string_view::npos ? line.size() : tab + 1);
  }
  if (columns.size() == 1) refuse(number, expected + ", got no tab in " + describe(columns[0]));
  if (is_blank(columns[0])) refuse(number, expected + ", got nothing before the tab");
  if (is_blank(columns[1])) refuse(number, expected + ", got nothing after the tab");
  const bool labelled = form == DataForm::labelled;
  if (columns.size() > (labelled ? 3 : 2)) {
    const bool numbered = columns[0].find_first_not_of("0123456789") == std::string_view::npos;
    refuse(number,
           expected + ", got " + std::to_string(columns.size()) + " columns; " +
               (numbered ? "remove the first, which has numbers" : "remove the other columns"));
  }
  if (!labelled) {
    if (form == DataForm::words) expect_label(number, columns[1]);
    return {number, columns[0], columns[1]};
  }
  expect_label(number, columns[0]);
  DataLine result = {number, columns[1], columns[0]};
  if (columns.size() == 3) {
    if (is_blank(columns[2])) refuse(number, "expected a second text, got nothing after the tab");
    result.pair = columns[2];
  }
  return result;
}

}  // namespace

void expect_label(std::size_t number, std::string_view label) {
  for (const std::string_view space : {" ", "\u00A0"}) {
    if (!label.starts_with(space) && !label.ends_with(space)) continue;
    refuse(number, "expected a label without spaces around it, got " + describe(label));
  }
}

std::vector<DataLine> read_data(std::string_view file, DataForm form) {
  std::vector<DataLine> lines;
  visit_lines(file, [&](std::size_t number, std::string_view line) {
    if (is_blank(line) && (form == DataForm::plain || line.empty())) return;
    lines.push_back(split(line, number, form));
    if (lines.back().pair.has_value() == lines[0].pair.has_value()) return;
    refuse(number, std::string("expected ") + (lines[0].pair ? "two texts" : "one text") +
                       " after the label, as in line " + std::to_string(lines[0].number));
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
    sentence.words.push_back({number, utf16_size(sentence.text), word.second, word.text});
    sentence.text += word.text;
  });
  if (sentences.back().words.empty()) sentences.pop_back();
  if (sentences.empty()) refuse_empty_file();
  return sentences;
}

namespace {

constexpr std::size_t several = 4;  // lines that are no accident
constexpr std::size_t many = 20;    // examples that should share labels

[[noreturn]] void refuse_header(const DataLine& line, std::string_view left,
                                std::string_view right) {
  refuse(line.number, "expected an example, got the names of columns, " + describe(left) + " and " +
                          describe(right) + "; remove this line");
}

void expect_no_header(const DataLine& first, std::size_t with_its_label) {
  const bool header =
      names_labels(first.second) || (names_column(first.second) && names_column(first.text));
  if (with_its_label <= 1 && header) refuse_header(first, first.second, first.text);
}

bool all_quoted(const std::vector<DataLine>& lines, std::string_view DataLine::*field) {
  return std::ranges::all_of(lines, [&](const DataLine& line) { return is_quoted(line.*field); });
}

[[noreturn]] void refuse_quotes(const DataLine& line) {
  refuse(line.number,
         "expected fields without quotes around them, got quotes in every line; write the file "
         "with tabs and without quotes");
}

void expect_no_quotes(const std::vector<DataLine>& lines) {
  if (all_quoted(lines, &DataLine::second) ||
      (lines.size() >= several && all_quoted(lines, &DataLine::text))) {
    refuse_quotes(lines[0]);
  }
}

// Returns whether most lines after the first have only a word and its translation.
bool is_word_list(const std::vector<DataLine>& lines) {
  constexpr std::size_t longest = 24;  // bytes
  const auto is_word = [](std::string_view field) {
    return field.size() <= longest && field.find(' ') == std::string_view::npos;
  };
  const auto words = std::ranges::count_if(
      lines.begin() + 1, lines.end(),
      [&](const DataLine& line) { return is_word(line.text) && is_word(line.second); });
  return 2 * static_cast<std::size_t>(words) > lines.size() - 1;
}

// Labels that are 0 to n - 1 or 1 to n, each of them once, number the lines.
void expect_no_index(const std::vector<DataLine>& lines, const std::vector<LabelCount>& labels) {
  if (lines.size() <= several || labels.size() < lines.size()) return;
  std::size_t least = lines.size(), most = 0;
  for (const LabelCount& each : labels) {
    std::size_t number = 0;
    const char* const end = each.label.data() + each.label.size();
    if (std::from_chars(each.label.data(), end, number).ptr != end) return;
    least = std::min(least, number);
    most = std::max(most, number);
  }
  if (least > 1 || most - least + 1 != lines.size()) return;
  refuse(lines[0].number, "expected a label, got " + describe(lines[0].second) +
                              ", as the first column numbers the lines; remove that column");
}

// Labels repeat. If the first column repeats less than another one, that one has the labels.
void expect_order(const std::vector<DataLine>& lines, const std::vector<LabelCount>& labels) {
  const auto repeats = [&](auto field_of) {
    std::set<std::string_view> different;
    for (const DataLine& line : lines) different.insert(field_of(line));
    return different.size() < labels.size() && 2 * different.size() <= lines.size();
  };
  if (lines.size() < several || 2 * labels.size() <= lines.size()) return;
  const bool swapped = repeats([](const DataLine& line) { return line.text; }) ||
                       (lines[0].pair && repeats([](const DataLine& line) { return *line.pair; }));
  if (!swapped && lines.size() < many) return;
  const auto once = std::ranges::find(labels, std::size_t{1}, &LabelCount::count);
  const auto line = std::ranges::find(lines, once->label, &DataLine::second);
  refuse(line->number, "expected a label that other lines have, too, got " + describe(once->label) +
                           ": there are " + std::to_string(labels.size()) + " different ones in " +
                           std::to_string(lines.size()) +
                           " lines; put the label before the text, or join rare labels");
}

class Counter {
 public:
  void add(std::string_view label, std::string_view example) {
    auto [at, fresh] = counts_.try_emplace(label, LabelCount{std::string(label), 0, {}});
    if (fresh) at->second.example = example;
    ++at->second.count;
  }
  std::size_t of(std::string_view label) const { return counts_.at(label).count; }
  std::vector<LabelCount> take() {
    std::vector<LabelCount> labels;
    for (auto& [name, each] : counts_) labels.push_back(std::move(each));
    if (labels.size() > 1) return labels;
    throw_error(ErrorCode::invalid_data,
                {"expected two labels or more, got only {}", {describe(labels[0].label)}});
  }

 private:
  std::map<std::string_view, LabelCount> counts_;
};

}  // namespace

void expect_translations(const std::vector<DataLine>& lines) {
  const DataLine& first = lines[0];
  if (name_translations(first.text, first.second) ||
      (are_language_codes(first.text, first.second) && !is_word_list(lines))) {
    refuse_header(first, first.text, first.second);
  }
  if (lines.size() >= several && all_quoted(lines, &DataLine::text) &&
      all_quoted(lines, &DataLine::second)) {
    refuse_quotes(first);
  }
}

std::vector<LabelCount> count_labels(const std::vector<DataLine>& lines) {
  Counter counter;
  for (const DataLine& line : lines) counter.add(line.second, line.text);
  expect_no_header(lines[0], counter.of(lines[0].second));
  expect_no_quotes(lines);
  std::vector<LabelCount> labels = counter.take();
  expect_no_index(lines, labels);
  expect_order(lines, labels);
  return labels;
}

std::vector<LabelCount> count_labels(const std::vector<TaggedSentence>& sentences) {
  Counter counter;
  for (const TaggedSentence& sentence : sentences) {
    for (const TaggedSentence::Word& word : sentence.words) counter.add(word.label, word.text);
  }
  const TaggedSentence::Word& first = sentences[0].words[0];
  expect_no_header({first.number, first.text, first.label}, counter.of(first.label));
  return counter.take();
}

std::vector<std::string> names_of(const std::vector<LabelCount>& labels) {
  std::vector<std::string> names;
  for (const LabelCount& each : labels) names.push_back(each.label);
  return names;
}

std::string many_labels_warning(const std::vector<LabelCount>& labels) {
  std::size_t examples = 0;
  for (const LabelCount& each : labels) examples += each.count;
  if (examples < many || 10 * labels.size() <= examples) return {};
  return std::to_string(labels.size()) + " labels for " + std::to_string(examples) +
         " examples: fewer than ten of each on average";
}

}  // namespace glassformer
