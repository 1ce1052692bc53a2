#include "text/sentencepiece/tokenizer.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/limits.hpp"
#include "base/strings/utf8.hpp"
#include "text/characters.hpp"
#include "text/sentencepiece/bpe.hpp"
#include "text/sentencepiece/unigram.hpp"

namespace glassformer {
namespace {

std::unique_ptr<Segmenter> make_segmenter(const SentencePieceModel& model) {
  if (model.kind == SegmentationKind::bpe) return std::make_unique<Bpe>(model);
  return std::make_unique<Unigram>(model);
}

// Words are processed in blocks of at least this many normalized bytes.
constexpr std::size_t block_bytes = 2 << 10;
constexpr std::size_t max_word_bytes = 4 << 20;

// Finds the input ranges of consecutive parts of a normalized text. `covered` is the number of
// UTF-16 units of the input that are already covered.
class RangeFinder {
 public:
  RangeFinder(const NormalizedText& text, std::uint32_t covered) : text_(text), covered_(covered) {}

  std::uint32_t covered() const { return covered_; }

  // Returns the token `id` for the next `size` bytes.
  Token next(std::int32_t id, std::uint32_t size) {
    const std::uint32_t begin = position_;
    position_ += size;
    while (end_of(chunk_) <= begin) ++chunk_;

    Token token{id, UINT32_MAX, 0};
    Token white = token;
    for (std::size_t i = chunk_; i < text_.chunks.size(); ++i) {
      const Chunk& chunk = text_.chunks[i];
      if (chunk.normalized >= position_) break;
      Token& range = chunk.kind == Chunk::Kind::space ? white : token;
      std::uint32_t from = chunk.begin;
      std::uint32_t to = chunk.end;
      if (chunk.kind == Chunk::Kind::bytes) {
        to = from + std::min(position_, end_of(i)) - chunk.normalized;
        from += std::max(begin, chunk.normalized) - chunk.normalized;
      }
      range.start = std::min(range.start, from);
      range.end = to;
    }
    if (token.start > token.end) token = white;
    token.start = std::max(token.start, covered_);
    token.end = std::max(token.end, token.start);
    covered_ = token.end;
    return token;
  }

 private:
  std::uint32_t end_of(std::size_t chunk) const {
    return chunk + 1 < text_.chunks.size() ? text_.chunks[chunk + 1].normalized
                                           : static_cast<std::uint32_t>(text_.text.size());
  }

  const NormalizedText& text_;
  std::size_t chunk_ = 0;       // the first chunk that ends after position_
  std::uint32_t position_ = 0;  // in the normalized text
  std::uint32_t covered_;       // in the input
};

// Decodes pieces one by one.
class PieceDecoder final : public TextDecoder {
 public:
  explicit PieceDecoder(const SentencePieceTokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void push(std::int32_t id) override;
  void finish() override { flush(Waiting::end); }
  const std::string& text() const override { return text_; }

 private:
  enum class Waiting { goes_on, end };
  void flush(Waiting waiting);

  const SentencePieceTokenizer& tokenizer_;
  std::string text_;
  std::string bytes_;  // of a run of byte pieces, not yet in the text
  bool prefix_seen_ = false;
};

void PieceDecoder::push(std::int32_t id) {
  const SentencePieceModel& model = tokenizer_.model();
  std::string_view rest = tokenizer_.piece(id);
  const PieceType type = model.pieces[static_cast<std::size_t>(id)].type;
  if (type == PieceType::byte) {
    bytes_ += static_cast<char>(byte_of_piece(rest));
    flush(Waiting::goes_on);
    return;
  }
  flush(Waiting::end);
  if (type == PieceType::control) return;
  if (type == PieceType::unknown) {
    text_ += model.unk_surface;
    return;
  }
  // Removes the prefix that normalization adds, or all leading spaces if normalization collapses
  // them.
  const bool strip = model.add_dummy_prefix || model.remove_extra_whitespaces;
  if (strip && text_.empty() && !prefix_seen_ && rest.starts_with(space_symbol)) {
    rest.remove_prefix(space_symbol.size());
    prefix_seen_ = !model.remove_extra_whitespaces;
  }
  while (!rest.empty()) {
    const std::size_t space = std::min(rest.find(space_symbol), rest.size());
    text_ += rest.substr(0, space);
    rest.remove_prefix(space);
    if (rest.empty()) break;
    text_ += ' ';
    rest.remove_prefix(space_symbol.size());
  }
}

void PieceDecoder::flush(Waiting waiting) {
  std::string_view rest = bytes_;
  while (!rest.empty()) {
    const std::size_t size = valid_character_size(rest);
    if (size == 0 && waiting == Waiting::goes_on && rest.size() < announced_size(rest[0])) break;
    text_ += size > 0 ? rest.substr(0, size) : replacement_character;
    rest.remove_prefix(size > 0 ? size : 1);
  }
  bytes_.erase(0, bytes_.size() - rest.size());
}

}  // namespace

std::string with_spaces(std::string_view piece) {
  std::string text(piece);
  for (std::size_t i = 0; (i = text.find(space_symbol, i)) != text.npos; ++i) {
    text.replace(i, space_symbol.size(), " ");
  }
  return text;
}

/// Reads a text block by block. Gives each piece with its part of the normalized text.
class PieceReader final : public TokenReader {
 public:
  PieceReader(const SentencePieceTokenizer& tokenizer, std::string_view utf8)
      : tokenizer_(tokenizer), normalization_(tokenizer.normalizer_, utf8) {}

  bool read(std::vector<Token>& tokens) override {
    return read([&](const Token& token, std::string_view, bool goes_on) {
      if (goes_on) {
        tokens.back().end = token.end;
      } else {
        tokens.push_back(token);
      }
    });
  }

  // Calls use(token, its text, whether it continues the last token).
  template <typename UseToken>
  bool read(const UseToken& use);

 private:
  const SentencePieceTokenizer& tokenizer_;
  Normalization normalization_;
  float score_ = 0;            // sum over the pieces so far
  std::uint32_t covered_ = 0;  // UTF-16 units of the text that tokens cover
  bool after_unknown_ = false;
};

template <typename UseToken>
bool PieceReader::read(const UseToken& use) {
  const SentencePieceModel& model = tokenizer_.model_;
  const Segmenter& segmenter = *tokenizer_.segmenter_;
  const NormalizedText& window = normalization_.window();
  bool ended = false;
  std::size_t end = 0;  // end of the complete words
  for (std::size_t size = block_bytes; end == 0 && !ended; size *= 2) {
    ended = normalization_.extend(size);
    end = ended ? window.text.size() : segmenter.splitter().last_word(window.text);
    if ((end == 0 ? window.text.size() : end) > max_word_bytes) {
      throw_error(ErrorCode::too_large, {"text: expected words of at most {} bytes after "
                                         "normalization, got a longer one; put spaces into it",
                                         {max_word_bytes}});
    }
  }

  const std::string_view words = std::string_view(window.text).substr(0, end);
  RangeFinder ranges(window, covered_);
  std::size_t position = 0;
  for (const Segment& segment : segmenter.segment(words, score_)) {
    const bool unknown = segment.id == model.unk_id;
    if (unknown && model.byte_fallback) {
      for (std::size_t i = position; i < position + segment.size; ++i) {
        const auto byte = static_cast<unsigned char>(words[i]);
        use(ranges.next(tokenizer_.byte_ids_[byte], 1), words.substr(i, 1), false);
      }
    } else {
      const Token token = ranges.next(segment.id, segment.size);
      // A run of unknown characters is one token.
      use(token, words.substr(position, segment.size), unknown && after_unknown_);
    }
    after_unknown_ = unknown;
    position += segment.size;
  }
  covered_ = ranges.covered();
  if (!ended) normalization_.drop(end);
  return !ended;
}

SentencePieceTokenizer SentencePieceTokenizer::parse(std::span<const std::byte> model_file) {
  expect_within(tokenizer_limit, model_file.size());
  return SentencePieceTokenizer(parse_sentencepiece_model(model_file));
}

SentencePieceTokenizer::SentencePieceTokenizer(SentencePieceModel model)
    : model_(std::move(model)), normalizer_(model_), segmenter_(make_segmenter(model_)) {
  if (!model_.byte_fallback) return;
  byte_ids_.resize(256);
  for (std::size_t id = 0; id < size(); ++id) {
    if (model_.pieces[id].type != PieceType::byte) continue;
    const int byte = byte_of_piece(model_.pieces[id].text);
    byte_ids_[static_cast<std::size_t>(byte)] = static_cast<std::int32_t>(id);
  }
}

std::string SentencePieceTokenizer::normalize(std::string_view utf8) const {
  Normalization normalization(normalizer_, utf8);
  normalization.extend(std::string::npos);
  return normalization.window().text;
}

std::unique_ptr<TokenReader> SentencePieceTokenizer::read(std::string_view utf8) const {
  return std::make_unique<PieceReader>(*this, utf8);
}

void SentencePieceTokenizer::each_piece(std::string_view utf8, const Use& use) const {
  Token last{};
  std::string text;  // of the last token
  const auto hand_over = [&] {
    if (!text.empty()) use(last, text);
  };
  PieceReader reader(*this, utf8);
  bool more = true;
  while (more) {
    more = reader.read([&](const Token& token, std::string_view stretch, bool goes_on) {
      if (goes_on) {
        last.end = token.end;
      } else {
        hand_over();
        last = token;
        text.clear();
      }
      text += stretch;
    });
  }
  hand_over();
}

std::unique_ptr<TextDecoder> SentencePieceTokenizer::make_decoder() const {
  return std::make_unique<PieceDecoder>(*this);
}

const TokenTemplate& SentencePieceTokenizer::around() const {
  static const TokenTemplate none;
  return none;
}

std::string SentencePieceTokenizer::display_text(std::int32_t id) const {
  const Piece& piece = at(id);
  if (piece.type != PieceType::byte) return with_spaces(piece.text);
  return with_named_bytes(std::string(1, static_cast<char>(byte_of_piece(piece.text))));
}

const Piece& SentencePieceTokenizer::at(std::int32_t id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= size()) fail_id(id);
  return model_.pieces[static_cast<std::size_t>(id)];
}

std::optional<std::int32_t> SentencePieceTokenizer::find(std::string_view text) const {
  for (std::size_t id = 0; id < size(); ++id) {
    if (model_.pieces[id].text == text) return static_cast<std::int32_t>(id);
  }
  return std::nullopt;
}

}  // namespace glassformer
