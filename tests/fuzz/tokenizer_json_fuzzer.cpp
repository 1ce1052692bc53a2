// A tokenizer.json is either read or refused. If read, it encodes any text to ids in its
// vocabulary, with ranges that ascend within the text.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/strings/utf8.hpp"
#include "text/composed/composed_tokenizer.hpp"
#include "text/hub/tokenizer_json.hpp"

using namespace glassformer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  try {
    const ComposedTokenizer tokenizer(parse_tokenizer_json(file));
    for (const std::string_view text :
         {std::string_view("A naïve  Straße, 42 ﬁlms… isn't <mask>[MASK] 日本 a\u0301\u0323 😀\xFF"),
          file.substr(0, 200)}) {
      std::vector<std::int32_t> ids;
      std::uint32_t position = 0;
      for (const Token& token : tokenizer.encode(text)) {
        if (token.start < position || token.end < token.start) std::abort();
        position = token.end;
        ids.push_back(token.id);
        tokenizer.display_text(token.id);
      }
      if (position > utf16_size(text)) std::abort();
      tokenizer.decode(ids);
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
  }
  return 0;
}
