#include "tasks/translate/languages.hpp"

#include <algorithm>

#include "base/json/json.hpp"
#include "tasks/options.hpp"

namespace glassformer {

// `usual` is used if the language is not set.
std::optional<std::int32_t> TranslationLanguages::find(const char* option,
                                                       const std::optional<std::string>& wanted,
                                                       const std::string& usual) const {
  const std::string code = wanted.value_or(usual);
  std::string known;
  for (const Language& language : tokenizer_.languages()) {
    if (static_cast<std::size_t>(language.id) >= config_.decoder().vocab_size()) continue;
    if (language.code == code) return language.id;
    known.append(known.empty() ? "one of " : ", ").append(language.code);
  }
  const bool named = usual != no_language;
  if (known.empty()) {
    if (!wanted || (named && code == usual)) return std::nullopt;
    known = named ? usual + ", the model's own language"
                  : "none, as this model has one pair of languages";
  }
  refuse_option(option,
                {"expected {}, got {}", {known, wanted || named ? describe(code) : "none"}});
}

bool TranslationLanguages::start_is_language() const {
  const auto languages = tokenizer_.languages();
  return std::ranges::find(languages, start_, &Language::id) != languages.end();
}

std::optional<std::int32_t> TranslationLanguages::source(
    const std::optional<std::string>& from) const {
  return find("from", from, config_.source_language);
}

std::int32_t TranslationLanguages::start(const std::optional<std::string>& to) const {
  if (!to || !start_is_language()) return start_;
  return find("to", to, config_.target_language).value_or(start_);
}

std::optional<std::int32_t> TranslationLanguages::second(const std::optional<std::string>& to,
                                                         std::optional<std::int32_t> folder) const {
  if (start_is_language() || (folder && !to)) return folder;
  const auto language = find("to", to, config_.target_language);
  return language ? language : folder;
}

}  // namespace glassformer
