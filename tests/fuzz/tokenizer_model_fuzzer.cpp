// Any bytes are either read as a usable tokenizer model, or refused with a typed error on loading
// or on first use.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "text/sentencepiece/tokenizer.hpp"

using namespace glassformer;

constexpr std::string_view text =
    "  The film, a \xEF\xAC\x81lm: e\xCC\x81t\xC3\xA9 \xE6\xBC\xA2\xE5\xAD\x97 \xF0\x9F\x98\x80 "
    "\xFF 123 "
    "\xE2\x96\x81<unk> aaaaaaaaaaaaaaaa\t\xE3\x80\x80";

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const SentencePieceTokenizer tokenizer =
        SentencePieceTokenizer::parse(std::as_bytes(std::span(data, size)));
    std::vector<std::int32_t> ids;
    std::uint32_t position = 0;
    for (const Token& token : tokenizer.encode(text)) {
      if (token.start < position || token.end < token.start) std::abort();
      position = token.end;
      ids.push_back(token.id);
    }
    tokenizer.decode(ids);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
  }
  return 0;
}
