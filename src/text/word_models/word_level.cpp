#include "text/word_models/word_level.hpp"

#include <utility>

namespace glassformer {

WordLevel::WordLevel(Vocabulary vocabulary, const std::string& unknown)
    : WordModel(std::move(vocabulary)), unknown_(find_required(this->vocabulary(), unknown)) {}

void WordLevel::cut(CharacterSpan word, std::vector<WordToken>& tokens) const {
  const std::int32_t id = vocabulary().find(to_utf8(word));
  tokens.push_back(
      {id == Vocabulary::absent ? unknown_ : id, 0, static_cast<std::uint32_t>(word.size())});
}

}  // namespace glassformer
