// A regular expression is either compiled or refused. If it splits a text, the pieces cover the
// text.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "text/characters.hpp"
#include "text/regex/regex.hpp"

using namespace glassformer;

// The first line is the expression, the rest is the text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view expression = input.substr(0, input.find('\n'));
  const Characters text = read_characters(input.substr(expression.size()));
  try {
    std::size_t end = 0;
    for (const TextPart& part : Regex(expression, "fuzzer").cut(text)) {
      if (part.begin != end || part.end < part.begin) std::abort();
      if (part.begin == part.end && !part.matched) std::abort();
      end = part.end;
    }
    if (end != text.size()) std::abort();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
  }
  return 0;
}
