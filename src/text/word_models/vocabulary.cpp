#include "text/word_models/vocabulary.hpp"

#include <utility>

#include "base/error.hpp"

namespace glassformer {
namespace {

constexpr std::int32_t max_id = 1 << 22;

}  // namespace

void Vocabulary::add(std::string_view text, std::int32_t id) {
  const auto fail = [&](const Message& problem) {
    throw_error(ErrorCode::invalid_tokenizer,
                {"vocabulary: token \"{}\": {}", {text.substr(0, 60), problem}});
  };
  if (id < 0 || id > max_id) fail({"expected an id from 0 to {}", {max_id}});
  const auto index = static_cast<std::size_t>(id);
  if (index >= slices_.size()) slices_.resize(index + 1);
  if (slices_[index].begin != Slice::unused) fail({"its id {} is taken already", {id}});
  slices_[index] = {static_cast<std::uint32_t>(texts_.size()),
                    static_cast<std::uint32_t>(text.size())};
  texts_ += text;
  if (text.empty()) {
    count_ += !std::exchange(has_empty_, true);
  } else {
    count_ += find(text) == absent;
    trie_.assign(text, id);
  }
}

std::int32_t Vocabulary::find(std::string_view text) const {
  const Trie::Node node = trie_.descend(Trie::root, text);
  return node == Trie::absent ? absent : trie_.value(node);
}

std::string_view Vocabulary::text(std::int32_t id) const {
  const auto index = static_cast<std::size_t>(id);
  if (id < 0 || index >= slices_.size() || slices_[index].begin == Slice::unused) return {};
  return std::string_view(texts_).substr(slices_[index].begin, slices_[index].size);
}

std::int32_t find_required(const Vocabulary& vocabulary, std::string_view token) {
  const std::int32_t id = vocabulary.find(token);
  if (id == Vocabulary::absent) {
    throw_error(ErrorCode::invalid_tokenizer,
                {"vocabulary: expected the token \"{}\", which is missing", {token.substr(0, 60)}});
  }
  return id;
}

std::array<std::int32_t, 256> byte_tokens(const Vocabulary& vocabulary) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::array<std::int32_t, 256> ids;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::string text = "<0x";
    text += {digits[byte / 16], digits[byte % 16], '>'};
    ids[byte] = vocabulary.find(text);
  }
  return ids;
}

}  // namespace glassformer
