#include "tasks/train/column_names.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>

namespace glassformer {
namespace {

constexpr std::array names_of_labels = {"label",     "labels", "class",   "classes", "category",
                                        "sentiment", "target", "targets", "y"};
constexpr std::array names_of_others = {
    "text",     "texts",     "sentence",  "sentence1", "sentence2", "review",  "comment",
    "tweet",    "message",   "title",     "content",   "document",  "premise", "hypothesis",
    "question", "question1", "question2", "query",     "passage",   "context", "answer",
    "id",       "idx",       "index",     "word",      "words",     "token",   "tokens",
    "tag",      "tags",      "intent",    "topic",     "rating",    "stars",   "score"};
constexpr std::array names_of_sources = {"source", "src",      "source_text", "src_text",
                                         "text",   "sentence", "original",    "input"};
constexpr std::array names_of_targets = {"target",      "tgt",          "trg",
                                         "target_text", "tgt_text",     "translation",
                                         "translated",  "translations", "translated_text",
                                         "output",      "reference"};

struct NamedLanguage {
  const char *code, *long_code, *name;
};
constexpr NamedLanguage named_languages[] = {
    {"ar", "ara", "arabic"},     {"bg", "bul", "bulgarian"},  {"ca", "cat", "catalan"},
    {"cs", "ces", "czech"},      {"da", "dan", "danish"},     {"de", "deu", "german"},
    {"el", "ell", "greek"},      {"en", "eng", "english"},    {"es", "spa", "spanish"},
    {"et", "est", "estonian"},   {"fa", "fas", "persian"},    {"fi", "fin", "finnish"},
    {"fr", "fra", "french"},     {"he", "heb", "hebrew"},     {"hi", "hin", "hindi"},
    {"hr", "hrv", "croatian"},   {"hu", "hun", "hungarian"},  {"id", "ind", "indonesian"},
    {"is", "isl", "icelandic"},  {"it", "ita", "italian"},    {"ja", "jpn", "japanese"},
    {"ko", "kor", "korean"},     {"lt", "lit", "lithuanian"}, {"lv", "lav", "latvian"},
    {"nl", "nld", "dutch"},      {"no", "nor", "norwegian"},  {"pl", "pol", "polish"},
    {"pt", "por", "portuguese"}, {"ro", "ron", "romanian"},   {"ru", "rus", "russian"},
    {"sk", "slk", "slovak"},     {"sl", "slv", "slovenian"},  {"sr", "srp", "serbian"},
    {"sv", "swe", "swedish"},    {"sw", "swh", "swahili"},    {"th", "tha", "thai"},
    {"tr", "tur", "turkish"},    {"uk", "ukr", "ukrainian"},  {"ur", "urd", "urdu"},
    {"vi", "vie", "vietnamese"}, {"zh", "zho", "chinese"},
};

// Returns a field without quotes, in lower case.
std::string unquoted(std::string_view field) {
  if (is_quoted(field)) field = field.substr(1, field.size() - 2);
  std::string name(field);
  for (char& letter : name) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return name;
}

bool is_one_of(std::string_view field, std::span<const char* const> names) {
  return std::ranges::find(names, unquoted(field)) != names.end();
}

// Returns whether different languages have the fields as their `names`.
template <class Names>
bool are_different(std::string_view source, std::string_view target, const Names& names) {
  const auto find = [&](std::string_view field) {
    return std::ranges::find_if(named_languages,
                                [&](const NamedLanguage& each) { return names(each, field); });
  };
  const auto from = find(source), to = find(target);
  return from != std::end(named_languages) && to != std::end(named_languages) && from != to;
}

}  // namespace

bool is_quoted(std::string_view field) {
  return field.size() > 1 && field.starts_with('"') && field.ends_with('"');
}

bool names_labels(std::string_view field) { return is_one_of(field, names_of_labels); }

bool names_column(std::string_view field) {
  return names_labels(field) || is_one_of(field, names_of_others);
}

bool name_translations(std::string_view source, std::string_view target) {
  const auto are = [&](std::string_view one, std::string_view other) {
    return is_one_of(one, names_of_sources) && is_one_of(other, names_of_targets);
  };
  return are(source, target) || are(target, source) ||
         are_different(source, target, [](const NamedLanguage& language, std::string_view field) {
           return unquoted(field) == language.name;
         });
}

bool are_language_codes(std::string_view source, std::string_view target) {
  return are_different(source, target, [](const NamedLanguage& language, std::string_view field) {
    const std::string name = unquoted(field);
    const std::string_view code = std::string_view(name).substr(0, name.find_first_of("_-"));
    return code == language.code || code == language.long_code;
  });
}

}  // namespace glassformer
