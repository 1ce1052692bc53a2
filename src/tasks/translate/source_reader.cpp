#include "tasks/translate/source_reader.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/strings/utf8.hpp"
#include "tasks/reading/input_reader.hpp"
#include "tasks/reading/token_checks.hpp"
#include "text/sentences.hpp"

namespace glassformer {
namespace {

// A token rarely has more bytes. A sentence over this many times the limit is tokenized in parts.
constexpr std::size_t long_token = 64;

// Returns the byte at which UTF-16 unit `unit` of a text starts.
std::size_t byte_at(std::string_view text, std::uint32_t unit) {
  std::size_t byte = 0;
  for (std::uint32_t units = 0; units < unit && byte < text.size();) {
    const std::size_t size = valid_character_size(text.substr(byte));
    units += size == 4 ? 2 : 1;
    byte += std::max<std::size_t>(size, 1);
  }
  return byte;
}

// Returns at most the first `size` bytes of a text, up to the end of a word or, without a
// space, of a character.
std::string_view head(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  const std::size_t space = text.substr(0, size).find_last_of(' ');
  if (space != std::string_view::npos) return text.substr(0, space);
  for (int i = 0; i < 3 && (text[size] & 0xC0) == 0x80; ++i) --size;
  return text.substr(0, size);
}

// Returns how many tokens of a sentence to keep, at most `room`: up to a comma or similar if that
// leaves half of them, otherwise up to the end of a word; 0 if there is no such place.
std::size_t cut(std::string_view text, std::span<const Token> tokens, std::size_t room) {
  std::vector<std::size_t> ends;  // of the tokens, in bytes
  std::uint32_t unit = 0;
  for (const Token& token : tokens.first(room)) {
    const std::size_t last = ends.empty() ? 0 : ends.back();
    ends.push_back(last + byte_at(text.substr(last), token.end - unit));
    unit = token.end;
  }
  std::size_t words = 0;
  for (std::size_t count = room; count > 0; --count) {
    const std::size_t end = ends[count - 1];
    if (end == 0 || text[end] != ' ') continue;
    if (words == 0) words = count;
    if (2 * count < room) break;
    if (std::string_view(",;:.!?)").find(text[end - 1]) != std::string_view::npos) return count;
  }
  return words;
}

[[noreturn]] void refuse_empty() {
  throw_error(ErrorCode::empty_input, "text: expected at least one token, got none");
}

}  // namespace

SourceReader::SourceReader(const ModelConfig& config, const Tokenizer& tokenizer)
    : SourceReader(tokenizer, {}, {}, config.encoder()) {
  bool behind = false;
  for (const TemplatePart& part : template_of(config, tokenizer).single) {
    if (part.kind == TemplatePart::Kind::special) {
      (behind ? suffix_ : prefix_).push_back(part.id);
    } else {
      behind = true;
    }
  }
  expect_room(max_length_, prefix_.size() + suffix_.size());
}

SourceReader::SourceReader(const Tokenizer& tokenizer, std::vector<std::int32_t> prefix,
                           std::vector<std::int32_t> suffix, const StackConfig& encoder)
    : tokenizer_(tokenizer),
      prefix_(std::move(prefix)),
      suffix_(std::move(suffix)),
      max_length_(encoder.max_length),
      rows_(encoder.vocab_size()) {}

SourceReader SourceReader::with_language(std::int32_t language) const {
  SourceReader reader = *this;
  const auto others = tokenizer_.languages();
  for (std::vector<std::int32_t>* ids : {&reader.prefix_, &reader.suffix_}) {
    for (std::int32_t& id : *ids) {
      if (std::ranges::find(others, id, &Language::id) != others.end()) id = language;
    }
  }
  return reader;
}

SourceText SourceReader::read(std::string_view text) const {
  SourceText source;
  std::vector<std::int32_t> prefix = prefix_;
  const std::uint32_t before = take_code(text, prefix);
  std::size_t end = 0;
  for (const SentenceRange& range : split_sentences(text)) {
    source.after += text.substr(end, range.begin - end);
    std::string_view sentence = text.substr(range.begin, range.end - range.begin);
    std::vector<std::int32_t> own = prefix;
    const std::uint32_t start = before + range.start16 + take_code(sentence, own);
    add(sentence, start, own, source);
    end = range.end;
  }
  source.after += text.substr(end);
  if (source.sentences.empty()) refuse_empty();
  return source;
}

SourceReader::Whole SourceReader::read_whole(std::string_view text) const {
  std::vector<std::int32_t> ids = prefix_;
  take_code(text, ids);
  const std::vector<SentenceRange> sentences = split_sentences(text);
  if (sentences.empty()) refuse_empty();
  text = text.substr(sentences[0].begin, sentences.back().end - sentences[0].begin);
  take_code(text, ids);
  std::vector<Token> tokens = tokenizer_.encode(text);
  if (tokens.empty()) refuse_empty();
  expect_rows(tokens, tokenizer_, rows_);
  const std::size_t room = max_length_ - ids.size() - suffix_.size();
  const bool clipped = tokens.size() > room;
  if (clipped) tokens.resize(room);
  for (const Token& token : tokens) ids.push_back(token.id);
  ids.insert(ids.end(), suffix_.begin(), suffix_.end());
  return {std::move(ids), sentences.size(), clipped};
}

// Removes a language code and the spaces after it from the beginning of a text. Its token is put
// after the usual prefix. Returns the number of UTF-16 units that were removed.
std::uint32_t SourceReader::take_code(std::string_view& text,
                                      std::vector<std::int32_t>& prefix) const {
  const std::size_t code = tokenizer_.language_code_size(text);
  if (code == 0) return 0;
  prefix = prefix_;
  for (const Token& token : tokenizer_.encode(text.substr(0, code))) prefix.push_back(token.id);
  expect_room(max_length_, prefix.size() + suffix_.size());
  const std::string_view taken = text.substr(0, text.find_first_not_of(' ', code));
  text.remove_prefix(taken.size());
  return utf16_size(taken);
}

// Appends a sentence, which starts at UTF-16 unit `start` of the text, in as many parts as it
// needs. The text between two sentences is kept in source.after until the second one comes.
void SourceReader::add(std::string_view sentence, std::uint32_t start,
                       std::span<const std::int32_t> prefix, SourceText& source) const {
  const std::size_t room = max_length_ - prefix.size() - suffix_.size();
  while (!sentence.empty()) {
    std::string_view part = head(sentence, long_token * room);
    std::vector<Token> tokens;
    const std::unique_ptr<TokenReader> reader = tokenizer_.read(part);
    while (reader->read(tokens) && tokens.size() <= room) {
    }
    bool clipped = false;
    if (tokens.size() > room) {
      const std::size_t count = cut(part, tokens, room);
      clipped = count == 0;
      tokens.resize(clipped ? room : count);
      const std::size_t end = byte_at(part, tokens.back().end);
      part = sentence.substr(0, clipped ? sentence.find(' ', end) : end);
    }
    if (tokens.empty()) {  // only characters that normalize to nothing
      source.after += part;
    } else {
      SourceSentence& entry = source.sentences.emplace_back();
      std::swap(entry.before, source.after);
      entry.text = part;
      entry.start = start;
      entry.end = start + utf16_size(part);
      entry.clipped = clipped;
      for (const std::int32_t id : prefix) entry.tokens.push_back({id, start, start});
      for (const Token& token : tokens) {
        entry.tokens.push_back({token.id, start + token.start, start + token.end});
      }
      const std::uint32_t end = entry.tokens.back().end;
      for (const std::int32_t id : suffix_) entry.tokens.push_back({id, end, end});
      expect_rows(entry.tokens, tokenizer_, rows_);
    }
    start += utf16_size(part);
    sentence.remove_prefix(part.size());
    const std::size_t spaces = std::min(sentence.find_first_not_of(" \t"), sentence.size());
    source.after += sentence.substr(0, spaces);
    start += static_cast<std::uint32_t>(spaces);
    sentence.remove_prefix(spaces);
  }
}

}  // namespace glassformer
