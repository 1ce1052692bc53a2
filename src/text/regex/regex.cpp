#include "text/regex/regex.hpp"

#include <algorithm>

#include "text/regex/matcher.hpp"

namespace glassformer {

std::vector<TextPart> Regex::cut(CharacterSpan text) const {
  std::vector<TextPart> parts;
  if (text.empty()) return parts;
  regex::Matcher matcher(program_, text);
  std::size_t end = 0;  // of the last match
  bool matched = false;
  for (std::size_t from = 0; from <= text.size();) {
    const regex::Span match = matcher.find(from);
    if (matched && match.begin == end && match.end == end) {  // empty, at the end of the last one
      ++from;
      continue;
    }
    const std::size_t begin = std::min(match.begin, text.size());
    if (end < begin) parts.push_back({end, begin, false});
    if (begin < match.begin) break;  // no match
    parts.push_back({match.begin, match.end, true});
    matched = true;
    from = end = match.end;
  }
  return parts;
}

}  // namespace glassformer
