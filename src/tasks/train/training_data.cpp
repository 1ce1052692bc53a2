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

DataLine split(std::string_view line, std::size_t number, DataForm form) {
  if (form == DataForm::plain) return {number, line, {}};
  const bool labelled = form == DataForm::labelled;
  const std::string expected = labelled ? "expected a label, a tab and a text"
                                        : "expected a text, a tab and its translation";
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) {
    refuse(number, expected + ", got no tab in " + describe(line));
  }
  const std::string_view before = line.substr(0, tab), behind = line.substr(tab + 1);
  const auto is_blank = [](std::string_view text) {
    return text.find_first_not_of(" \t\r") == std::string_view::npos;
  };
  if (is_blank(before)) refuse(number, expected + ", got nothing before the tab");
  if (is_blank(behind)) refuse(number, expected + ", got nothing after the tab");
  if (labelled) return {number, behind, before};
  return {number, before, behind};
}

}  // namespace

std::vector<DataLine> read_data(std::string_view file, DataForm form) {
  std::vector<DataLine> lines;
  std::size_t number = 0;
  while (!file.empty()) {
    const std::size_t end = std::min(file.find('\n'), file.size());
    std::string_view line = file.substr(0, end);
    file.remove_prefix(std::min(end + 1, file.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) {
      if (form == DataForm::plain || line.empty()) continue;
    }
    if (!is_valid_utf8(line)) refuse(number, "expected UTF-8, got other bytes");
    lines.push_back(split(line, number, form));
  }
  if (lines.empty()) throw_error(ErrorCode::invalid_data, "expected examples, got an empty file");
  return lines;
}

std::vector<std::string> labels_of(const std::vector<DataLine>& lines) {
  std::set<std::string_view> labels;
  for (const DataLine& line : lines) labels.insert(line.second);
  if (labels.size() == 1) {
    throw_error(ErrorCode::invalid_data,
                {"expected two labels or more, got only {}", {describe(*labels.begin())}});
  }
  return {labels.begin(), labels.end()};
}

}  // namespace glassformer
