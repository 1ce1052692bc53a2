#pragma once

#include <string_view>

// What programs write as the first line of a file of examples.

namespace glassformer {

/// Returns whether a field has quotes around it.
bool is_quoted(std::string_view field);

/// Returns whether a field, perhaps in quotes, is the name of a column with labels.
bool names_labels(std::string_view field);

/// Returns whether a field, perhaps in quotes, is the name of a column of examples of any kind.
bool names_column(std::string_view field);

/// Returns whether two fields name different columns of a file of translations: a text's and a
/// translation's, or two languages by their English names. No text has such a translation: that of
/// "English" is not "German".
bool name_translations(std::string_view source, std::string_view target);

/// Returns whether two fields are the codes of different languages. Some are words as well, such as
/// "it" and its translation "es".
bool are_language_codes(std::string_view source, std::string_view target);

}  // namespace glassformer
