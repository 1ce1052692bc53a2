// Any bytes can be encoded: ids are in the vocabulary, and ranges ascend within the text. The first
// byte selects the model.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings/utf8.hpp"
#include "text/sentencepiece/tokenizer.hpp"

using namespace glassformer;

static SentencePieceTokenizer load(const std::string& name) {
  std::ifstream file(GLASSFORMER_SOURCE_DIR "/tests/fixtures/data/tokenizer/" + name + ".model",
                     std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return SentencePieceTokenizer::parse(std::as_bytes(std::span(bytes)));
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array tokenizers{load("unigram"),   load("unigram_bytes"), load("bpe"),
                                     load("bpe_bytes"), load("spaces"),        load("suffix")};
  if (size == 0) return 0;
  const Tokenizer& tokenizer = tokenizers[data[0] % tokenizers.size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::int32_t> ids;
  std::uint32_t position = 0;
  for (const Token& token : tokenizer.encode(text)) {
    if (token.start < position || token.end < token.start) std::abort();
    position = token.end;
    ids.push_back(token.id);
  }
  if (position > utf16_size(text)) std::abort();
  if (!is_valid_utf8(tokenizer.decode(ids))) std::abort();
  return 0;
}
