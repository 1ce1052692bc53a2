#include "tasks/tokenize/tokenize.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "tasks/limits.hpp"
#include "tasks/reading/input_reader.hpp"
#include "tasks/reading/input_tokens.hpp"
#include "text/model_input.hpp"

namespace glassformer {
namespace {

// Encodes one text per step.
class EncodeJob final : public TypedJob<EncodedText> {
 public:
  EncodeJob(const TokenizePipeline& pipeline, std::span<const TextInput> texts,
            const EncodeOptions& options)
      : pipeline_(pipeline), options_(options) {
    for (const TextInput& text : texts) texts_.emplace_back(text);
  }

  bool step() override {
    if (results_.size() == texts_.size()) return false;
    try {
      results_.emplace_back(pipeline_.encode(texts_[results_.size()].input(), options_));
    } catch (const Error& error) {
      results_.emplace_back(error);
    }
    return results_.size() < texts_.size();
  }

  Results<EncodedText> take() override { return std::move(results_); }

 private:
  void write_fields(ResultWriter& writer, EncodedText& result) override { fields(writer, result); }

  const TokenizePipeline& pipeline_;
  EncodeOptions options_;
  std::vector<OwnedText> texts_;
  Results<EncodedText> results_;
};

// The result of decoding.
struct DecodedIds {
  std::string text;
};

class DecodeJob final : public TypedJob<DecodedIds> {
 public:
  explicit DecodeJob(std::string text) : decoded_{std::move(text)} {}

  bool step() override { return false; }
  Results<DecodedIds> take() override {
    Results<DecodedIds> results;
    results.emplace_back(std::move(decoded_));
    return results;
  }

 private:
  void write_fields(ResultWriter& writer, DecodedIds& result) override {
    writer("text", result.text);
  }

  DecodedIds decoded_;
};

// Keeps `count` tokens: the first, or the last ones.
void keep(std::vector<Token>& tokens, std::size_t count, TruncationSide dropped) {
  const auto more = static_cast<std::ptrdiff_t>(tokens.size() - count);
  if (dropped == TruncationSide::left) {
    tokens.erase(tokens.begin(), tokens.begin() + more);
  } else {
    tokens.erase(tokens.end() - more, tokens.end());
  }
}

// Returns the token of a language. Throws invalid_option if there is none.
std::int32_t find_language(const Tokenizer& tokenizer, const std::string& code) {
  const auto languages = tokenizer.languages();
  const auto found = std::ranges::find(languages, code, &Language::code);
  if (found != languages.end()) return found->id;
  refuse_option("language", {"expected {}, got {}",
                             {languages.empty() ? "none for this tokenizer"
                                                : "a code like " + describe(languages.front().code),
                              describe(code)}});
}

}  // namespace

TokenizePipeline::TokenizePipeline(ModelFiles& files)
    : read_(read_tokenizers_alone(files)), around_(template_of(read_.config, *read_.source)) {}

std::unique_ptr<Job> TokenizePipeline::begin(const TaskInputs& inputs, const TaskOptions& options) {
  const TokenizeOptions read = read_options<TokenizeOptions>(options);
  if (!read.decode) return begin(inputs_of<TextInput>(inputs), read.encode);
  return std::make_unique<DecodeJob>(
      decode(*read.decode, {.special_tokens = read.encode.special_tokens}));
}

std::unique_ptr<TypedJob<EncodedText>> TokenizePipeline::begin(std::span<const TextInput> texts,
                                                               const EncodeOptions& options) const {
  return std::make_unique<EncodeJob>(*this, texts, options);
}

std::vector<TemplatePart> TokenizePipeline::parts_of(bool pair,
                                                     const EncodeOptions& options) const {
  std::vector<TemplatePart> parts = pair ? around_.pair : around_.single;
  if (parts.empty()) {
    throw_error(ErrorCode::unsupported,
                "pair: expected a model that reads two texts together, got one that reads one");
  }
  const auto is_special = [](const TemplatePart& part) {
    return part.kind == TemplatePart::Kind::special;
  };
  if (!options.special_tokens) std::erase_if(parts, is_special);
  if (options.language.empty()) return parts;
  const std::int32_t language = find_language(tokenizer(), options.language);
  for (TemplatePart& part : parts) {
    const auto others = tokenizer().languages();
    const bool names = std::ranges::find(others, part.id, &Language::id) != others.end();
    if (is_special(part) && names) part.id = language;
  }
  return parts;
}

EncodedText TokenizePipeline::encode(const TextInput& text, const EncodeOptions& options) const {
  const std::vector<TemplatePart> parts = parts_of(text.pair.has_value(), options);
  const auto tokens_of = [&](std::string_view utf8) {
    expect_text_size(InputReader::max_text_bytes, utf8.size());
    return tokenizer().encode(utf8);
  };
  std::vector<Token> first = tokens_of(text.text), second;
  if (text.pair) second = tokens_of(*text.pair);
  EncodedText result{};
  if (options.max_length) {
    const std::size_t special = special_tokens_of(parts);
    if (*options.max_length < special) {
      refuse_option("max_length", {"expected at least the {} special tokens, got {}",
                                   {special, *options.max_length}});
    }
    const PairLengths all = {first.size(), second.size()};
    const PairLengths stay = cut_longest_first(all, *options.max_length - special);
    const TruncationSide side = tokenizer().truncation_side().value_or(TruncationSide::right);
    keep(first, stay.first, side);
    keep(second, stay.second, side);
    result.clipped = stay != all;
  }
  const ModelInput input = fill(parts, first, second);
  result.tokens =
      text.pair ? pair_tokens(input, tokenizer()) : input_tokens(input.tokens, tokenizer());
  for (const Token& token : input.tokens) result.ids.push_back(token.id);
  return result;
}

std::string TokenizePipeline::decode(std::span<const std::int32_t> ids,
                                     const DecodeOptions& options) const {
  const Tokenizer& written = read_.target ? *read_.target : *read_.source;
  return options.special_tokens ? written.decode_all(ids) : written.decode(ids);
}

std::string describe_tokenizer_json(const Tokenizer& tokenizer) {
  JsonWriter json;
  json.object([&] {
    json.field("task", tokenization);
    json.field("size", tokenizer.size());
    json.key("languages");
    json.array(tokenizer.languages(), [&](const Language& language) { json.value(language.code); });
  });
  return json.take();
}

}  // namespace glassformer
