#include "text/tokenizer.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/strings/utf8.hpp"

namespace glassformer {
namespace {

class WholeReader final : public TokenReader {
 public:
  explicit WholeReader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  bool read(std::vector<Token>& tokens) override {
    tokens.insert(tokens.end(), tokens_.begin(), tokens_.end());
    tokens_.clear();
    return false;
  }

 private:
  std::vector<Token> tokens_;
};

class WholeDecoder final : public TextDecoder {
 public:
  using Decode = std::function<std::string(std::span<const std::int32_t>)>;
  explicit WholeDecoder(Decode decode) : decode_(std::move(decode)) {}

  void push(std::int32_t id) override {
    ids_.push_back(id);
    std::string text = decode_(ids_);
    // An incomplete character may still become complete.
    while (text.ends_with(replacement_character)) {
      text.resize(text.size() - replacement_character.size());
    }
    if (text.size() > text_.size()) text_ = std::move(text);
  }

  void finish() override { text_ = decode_(ids_); }

  const std::string& text() const override { return text_; }

 private:
  Decode decode_;
  std::vector<std::int32_t> ids_;
  std::string text_;
};

}  // namespace

std::vector<Token> Tokenizer::encode(std::string_view utf8) const {
  std::vector<Token> tokens;
  const std::unique_ptr<TokenReader> reader = read(utf8);
  while (reader->read(tokens)) {
  }
  return tokens;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids) const {
  const std::unique_ptr<TextDecoder> decoder = make_decoder();
  for (const std::int32_t id : ids) decoder->push(id);
  decoder->finish();
  return decoder->text();
}

std::string Tokenizer::decode_all(std::span<const std::int32_t> ids) const {
  std::string text;
  while (!ids.empty()) {
    const auto control = std::ranges::find_if(ids, [&](std::int32_t id) { return is_control(id); });
    const auto ordinary = static_cast<std::size_t>(control - ids.begin());
    if (ordinary > 0) text += decode(ids.first(ordinary));
    if (control != ids.end()) text += piece(*control);
    ids = ids.subspan(std::min(ordinary + 1, ids.size()));
  }
  return text;
}

std::string Tokenizer::join(std::vector<std::string> pieces) const {
  std::vector<std::int32_t> ids;
  for (const std::string& piece : pieces) {
    if (const auto id = find(piece)) ids.push_back(*id);
  }
  if (ids.size() == pieces.size()) return decode(ids);
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return text;
}

void Tokenizer::fail_id(std::int32_t id) const {
  throw_error(ErrorCode::invalid_option, {"token id: expected 0 to {}, got {}", {size() - 1, id}});
}

std::unique_ptr<TokenReader> make_whole_reader(std::vector<Token> tokens) {
  return std::make_unique<WholeReader>(std::move(tokens));
}

std::unique_ptr<TextDecoder> make_whole_decoder(
    std::function<std::string(std::span<const std::int32_t>)> decode) {
  return std::make_unique<WholeDecoder>(std::move(decode));
}

}  // namespace glassformer
