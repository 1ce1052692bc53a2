#pragma once

#include <string_view>
#include <vector>

#include "text/characters.hpp"
#include "text/regex/program.hpp"

namespace glassformer {

/// A regular expression of a tokenizer.json. It is in the language of the library Oniguruma, which
/// the original uses, and has the same matches. It may have what published files use:
///
///     a|b  ()  (?:)             alternatives and groups
///     (?i:)  (?i)               ignores case; all letters have to be ASCII
///     *  +  ?  {2}  {2,}  {,3}  repetitions; lazy if a ? follows; * + ? possessive if a + follows
///     (?=)  (?!)                looks ahead
///     (?<=)  (?<!)              looks behind, by a fixed number of characters
///     (?>)                      a group that can match in only one way
///     ^  $  \A  \z  \G  \b      places
///     .  \O                     any character but a line feed; any character
///     \d  \h  \s  \w            digits, hexadecimal digits, white space, word characters
///     \D  \S  \W               the others
///     \p{Lu}  \p{L}  \p{Han}   general categories and one script
///     \P{L}  \p{^L}            the others
///     [a-z]  [^a]               sets of all these
///     [a[b]]  [a&&b]            unions and intersections of sets
///     \n  \r  \t  \u0041  \x41  \x{41}
///
/// An expression has at most 4,096 steps, repeated parts counted as often as they are repeated.
class Regex {
 public:
  /// `place` names the expression in errors.
  /// Throws unsupported, with its place, for what is not in that list; invalid_tokenizer for what
  /// is no expression.
  Regex(std::string_view expression, std::string_view place) : program_({place, expression}) {}

  /// Cuts a text where a match begins or ends. The parts cover the text. Matches are leftmost
  /// and do not overlap. One may be empty, but not where the one before it ends, nor in an empty
  /// text. Takes time proportional to the text's length.
  std::vector<TextPart> cut(CharacterSpan text) const;

 private:
  regex::Program program_;
};

}  // namespace glassformer
