#pragma once

#include <string_view>
#include <vector>

#include "text/characters.hpp"
#include "text/regex/program.hpp"

namespace glassformer {

/// A regular expression of a tokenizer.json. It follows the syntax of the library Oniguruma, which
/// the original uses, and has the same matches. It supports the syntax that published files use:
///
///     a|b  ()  (?:)             alternatives and groups
///     (?i:)  (?i)               ignores case; all letters have to be ASCII
///     *  +  ?  {2}  {2,}  {,3}  repetitions; lazy if a ? follows; * + ? possessive if a + follows
///     (?=)  (?!)                lookahead
///     (?<=)  (?<!)              lookbehind by a fixed number of characters
///     (?>)                      atomic group
///     ^  $  \A  \z  \G  \b      anchors
///     .  \O                     any character except a line feed; any character
///     \d  \h  \s  \w            digits, hexadecimal digits, white space, word characters
///     \D  \S  \W               their complements
///     \p{Lu}  \p{L}  \p{Han}   general categories and one script
///     \P{L}  \p{^L}            their complements
///     [a-z]  [^a]               sets of all these
///     [a[b]]  [a&&b]            unions and intersections of sets
///     \n  \r  \t  \u0041  \x41  \x{41}
///
/// An expression has at most 4,096 steps. Repeated parts count once per repetition.
class Regex {
 public:
  /// `place` names the expression in errors. Throws unsupported, with its place, for syntax that is
  /// not in this list, and invalid_tokenizer if it is not an expression.
  Regex(std::string_view expression, std::string_view place) : program_({place, expression}) {}

  /// Cuts a text where a match begins or ends. The parts cover the text. Matches are leftmost and
  /// do not overlap. A match may be empty, except at the end of the previous match and in an empty
  /// text. Takes time proportional to the text's length.
  std::vector<TextPart> cut(CharacterSpan text) const;

 private:
  regex::Program program_;
};

}  // namespace glassformer
