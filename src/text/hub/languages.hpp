#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/composed/composed_tokenizer.hpp"
#include "text/hub/tokenizer_config.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// The class whose languages are a list of its own, not in its files.
inline constexpr std::string_view listed_languages_class = "M2M100Tokenizer";

/// Returns the languages of that class. Their tokens have consecutive ids from `first` on.
/// Throws unsupported for an unknown list of languages.
std::vector<Language> listed_languages(const TokenizerConfig& config, std::int32_t first);
/// Returns the tokens of mBART's languages in the order of their ids: of the first 25, or of all.
std::vector<std::string> mbart_languages(bool all);
/// Returns the token of a language: "__en__".
std::string language_token(std::string_view code);

/// Returns the index of the language that a tokenizer's template has: "src_lang" of
/// tokenizer_config.json, else `usual`, else the first one.
std::size_t source_language(std::span<const Language> languages, const TokenizerConfig& config,
                            std::string_view usual);

/// Sets the languages and the template of a tokenizer, if `name` is the class of a multilingual one
/// whose languages are among its tokens. Throws invalid_tokenizer if it has no languages.
void add_languages(ComposedTokenizer::Parts& parts, std::string_view name,
                   const TokenizerConfig& config);

}  // namespace glassformer
