#include "text/hub/vocabulary_files.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/strings/mistaken.hpp"
#include "text/characters.hpp"
#include "text/composed/json_entries.hpp"
#include "text/unicode/unicode.hpp"

namespace glassformer {
namespace {

/// Calls use(line) for each line of a file.
template <typename Use>
void each_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    use(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Removes white space at the end.
std::string trimmed(std::string_view line) {
  Characters characters = read_characters(line);
  while (!characters.empty() && unicode::is_white_space(characters.back().code)) {
    characters.pop_back();
  }
  return to_utf8(characters);
}

}  // namespace

std::string_view required_file(const FolderFile& file, std::string_view name) {
  const std::optional<std::string_view> bytes = file(name);
  if (!bytes) {
    throw_error(ErrorCode::invalid_tokenizer, {"{}: missing; the tokenizer needs it", {name}});
  }
  if (const std::string_view problem = mistaken_content(*bytes); !problem.empty()) {
    throw_error(ErrorCode::invalid_tokenizer, {"{}: {}", {name, problem}});
  }
  return *bytes;
}

Vocabulary read_vocab_txt(const FolderFile& file) {
  Vocabulary vocabulary;
  std::int32_t next = 0;
  each_line(required_file(file, "vocab.txt"),
            [&](std::string_view line) { vocabulary.add(trimmed(line), next++); });
  return vocabulary;
}

Vocabulary read_vocab_json(const FolderFile& file, std::string_view name) {
  const JsonSource source{ErrorCode::invalid_tokenizer, name};
  const JsonValue json = parse_json(required_file(file, name), source);
  if (!json.is_object()) source.fail({"expected an object, got {}", {describe(json)}});
  Vocabulary vocabulary;
  for_each_field(json, [&](const std::string& token, JsonValue id) {
    if (!id.is_whole() || id.whole() > std::numeric_limits<std::int32_t>::max()) {
      source.fail({"{}: expected a token id, got {}", {describe(token), describe(id)}});
    }
    vocabulary.add(token, static_cast<std::int32_t>(id.whole()));
  });
  return vocabulary;
}

std::unique_ptr<RankedBpe> read_merges(const FolderFile& file, Vocabulary vocabulary,
                                       const RankedBpe::Options& options, Merges columns) {
  auto bpe = std::make_unique<RankedBpe>(std::move(vocabulary), options);
  bool first_line = true;
  each_line(required_file(file, "merges.txt"), [&](std::string_view line) {
    const bool header = std::exchange(first_line, false) && line.starts_with("#version");
    if (header || line.empty()) return;
    const std::size_t space = line.find(' ');
    const std::size_t end = std::min(line.find(' ', space + 1), line.size());
    if (space == line.npos || (columns == Merges::two_columns && end < line.size())) {
      throw_error(
          ErrorCode::invalid_tokenizer,
          {"merges.txt: expected two tokens with a space between them, got {}", {describe(line)}});
    }
    bpe->add_merge(line.substr(0, space), line.substr(space + 1, end - space - 1));
  });
  bpe->finish_merges();
  return bpe;
}

}  // namespace glassformer
