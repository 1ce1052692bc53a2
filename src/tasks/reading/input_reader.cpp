#include "tasks/reading/input_reader.hpp"

#include <algorithm>
#include <span>

#include "api/encoder_options.hpp"
#include "base/error.hpp"
#include "tasks/limits.hpp"
#include "tasks/options.hpp"
#include "tasks/reading/token_checks.hpp"
#include "text/truncation.hpp"

namespace glassformer {

TokenTemplate template_of(const ModelConfig& config, const Tokenizer& tokenizer) {
  if (config.tokenizer_template) return tokenizer.around();
  using enum TemplatePart::Kind;
  TokenTemplate around;
  around.single.clear();
  const auto append = [&](const std::vector<std::string>& pieces, std::string_view field) {
    for (const std::int32_t id : ids_of(pieces, field, tokenizer)) {
      around.single.push_back({special, id, 0});
    }
  };
  append(config.prefix_tokens, "prefix_tokens");
  around.single.push_back({first_text, 0, 0});
  append(config.suffix_tokens, "suffix_tokens");
  around.pair.clear();
  return around;
}

namespace {

// Each text must occur exactly once: the limit is computed for one occurrence.
void expect_texts(std::span<const TemplatePart> parts, std::ptrdiff_t second) {
  using enum TemplatePart::Kind;
  if (std::ranges::count(parts, first_text, &TemplatePart::kind) == 1 &&
      std::ranges::count(parts, second_text, &TemplatePart::kind) == second) {
    return;
  }
  throw_error(
      ErrorCode::invalid_tokenizer,
      "the tokenizer's template: expected each text once, got one that is missing or repeated");
}

// A model without token types uses type 0 for all tokens, whatever its tokenizer says.
void fit_types(std::vector<TemplatePart>& parts, std::size_t token_types) {
  for (TemplatePart& part : parts) {
    if (token_types <= 1) part.type = 0;
    if (part.type < 0 ||
        static_cast<std::size_t>(part.type) >= std::max<std::size_t>(token_types, 1)) {
      throw_error(ErrorCode::invalid_tokenizer,
                  {"the tokenizer's template: expected token types below {}, got {}",
                   {token_types, part.type}});
    }
  }
}

void keep_last(std::vector<Token>& pieces, std::size_t count) {
  if (pieces.size() <= count) return;
  pieces.erase(pieces.begin(), pieces.end() - static_cast<std::ptrdiff_t>(count));
}

// Returns the first `room` tokens of a text, or the last ones if `last`, and the number of all its
// tokens.
std::pair<std::vector<Token>, std::size_t> count_tokens(const Tokenizer& tokenizer,
                                                        std::string_view text, std::size_t room,
                                                        bool last) {
  expect_text_size(InputReader::max_text_bytes, text.size());
  std::vector<Token> pieces;
  std::size_t count = 0;
  const std::unique_ptr<TokenReader> reader = tokenizer.read(text);
  for (bool more = true; more;) {
    const std::size_t before = pieces.size();
    more = reader->read(pieces);
    count += pieces.size() - before;
    if (last) {
      keep_last(pieces, room);
    } else if (pieces.size() > room + 1) {  // the last one may still grow
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(room), pieces.end() - 1);
    }
  }
  if (pieces.size() > room) pieces.resize(room);
  return {std::move(pieces), count};
}

// Returns the number of special tokens after the last text of a template.
std::size_t special_tokens_behind(std::span<const TemplatePart> around) {
  const auto last_text = std::ranges::find_if(around.rbegin(), around.rend(), [](const auto& part) {
    return part.kind != TemplatePart::Kind::special;
  });
  return static_cast<std::size_t>(last_text - around.rbegin());
}

}  // namespace

std::vector<bool> EncoderInput::second() const {
  std::vector<bool> second;
  if (!pair) return second;
  for (const TemplatePart::Kind kind : kinds) {
    second.push_back(kind == TemplatePart::Kind::second_text);
  }
  return second;
}

std::vector<Token> joined_tokens(std::span<const EncoderInput> windows,
                                 std::span<const TemplatePart> around) {
  const std::size_t behind = special_tokens_behind(around);
  std::vector<Token> joined = windows[0].tokens;
  for (const EncoderInput& window : windows.subspan(1)) {
    joined.resize(joined.size() - behind);
    const auto fresh = static_cast<std::ptrdiff_t>(joined.size() - window.begin);
    joined.insert(joined.end(), window.tokens.begin() + fresh, window.tokens.end());
  }
  return joined;
}

InputReader::InputReader(const ModelConfig& config, const Tokenizer& tokenizer)
    : tokenizer_(tokenizer),
      around_(template_of(config, tokenizer)),
      rows_(config.encoder().vocab_size()),
      max_tokens_(config.max_source_length()),
      clip_(config.clip) {
  expect_vocabulary(config, tokenizer, "vocab_size", rows_);
  expect_room(max_tokens_, special_tokens_of(around_.single));
  expect_texts(around_.single, 0);
  if (!around_.pair.empty()) expect_texts(around_.pair, 1);
  fit_types(around_.single, config.encoder().tokens().token_types);
  fit_types(around_.pair, config.encoder().tokens().token_types);
}

EncoderInput InputReader::read(std::string_view text) const {
  expect_text_size(max_text_bytes, text.size());
  const std::size_t room = window_room();
  // A text that is too long keeps this many pieces from its beginning, and the rest from its end.
  const std::size_t head = clip_ == Clip::end ? room : clip_ == Clip::middle ? room / 4 : 0;
  EncoderInput input;
  std::vector<Token> pieces;
  const std::unique_ptr<TokenReader> reader = tokenizer_.read(text);
  for (bool more = true; more;) {
    more = reader->read(pieces);
    if (pieces.size() <= room) continue;
    input.clipped = true;
    more = more && head < room;
    // After the head, keep the last pieces that were read so far.
    const auto behind = pieces.begin() + static_cast<std::ptrdiff_t>(head);
    pieces.erase(behind, behind + static_cast<std::ptrdiff_t>(pieces.size() - room));
  }
  if (pieces.empty()) {
    throw_error(ErrorCode::empty_input, "text: expected at least one token, got none");
  }
  expect_rows(pieces, tokenizer_, rows_);
  static_cast<ModelInput&>(input) = fill(around_.single, pieces);
  return input;
}

std::size_t InputReader::window_room() const {
  return max_tokens_ - special_tokens_of(around_.single);
}

std::size_t InputReader::overlap_of(std::optional<std::size_t> stride) const {
  const std::size_t room = window_room();
  if (!stride) return std::min(usual_stride, room / 2);
  if (*stride < room) return *stride;
  refuse_option("stride",
                {"expected fewer than the {} tokens of a window, got {}", {room, *stride}});
}

std::vector<EncoderInput> InputReader::read_windows(std::string_view text,
                                                    std::size_t overlap) const {
  expect_text_size(max_text_bytes, text.size());
  const std::vector<Token> pieces = tokenizer_.encode(text);
  if (pieces.empty()) {
    throw_error(ErrorCode::empty_input, "text: expected at least one token, got none");
  }
  expect_rows(pieces, tokenizer_, rows_);
  std::vector<TokenWindow> windows = overlapping_windows(pieces.size(), window_room(), overlap);
  if (clip_ == Clip::beginning) {
    std::ranges::reverse(windows);
    for (TokenWindow& window : windows) {
      window = {pieces.size() - window.end, pieces.size() - window.begin};
    }
  }
  std::vector<EncoderInput> inputs;
  for (const auto& [begin, end] : windows) {
    EncoderInput& input = inputs.emplace_back();
    input.begin = begin;
    static_cast<ModelInput&>(input) =
        fill(around_.single, std::span(pieces).subspan(begin, end - begin));
  }
  return inputs;
}

EncoderInput InputReader::read_pair(std::string_view first, std::string_view second) const {
  if (around_.pair.empty()) {
    throw_error(ErrorCode::unsupported,
                "pair: expected a model that reads two texts together, got one that reads one");
  }
  const std::size_t special = special_tokens_of(around_.pair);
  if (special + 2 > max_tokens_) {
    throw_error(
        ErrorCode::unsupported,
        {"pair: expected a model with room for two texts, got one for {} tokens", {max_tokens_}});
  }
  const std::size_t room = max_tokens_ - special;
  const bool last = clip_ == Clip::beginning;
  auto [a, first_count] = count_tokens(tokenizer_, first, room, last);
  auto [b, second_count] = count_tokens(tokenizer_, second, room, last);
  if (first_count + second_count == 0) {
    throw_error(ErrorCode::empty_input, "text: expected at least one token, got none");
  }
  const PairLengths stay = cut_longest_first({first_count, second_count}, room);
  if (last) {
    keep_last(a, stay.first);
    keep_last(b, stay.second);
  }
  a.resize(stay.first);
  b.resize(stay.second);
  EncoderInput input = join(a, b);
  input.clipped = stay.first < first_count || stay.second < second_count;
  return input;
}

EncoderInput InputReader::join(std::span<const Token> first, std::span<const Token> second) const {
  expect_rows(first, tokenizer_, rows_);
  expect_rows(second, tokenizer_, rows_);
  EncoderInput input;
  input.pair = true;
  static_cast<ModelInput&>(input) = fill(around_.pair, first, second);
  return input;
}

}  // namespace glassformer
