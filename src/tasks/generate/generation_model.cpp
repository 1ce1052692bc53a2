#include "tasks/generate/generation_model.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "tasks/reading/input_reader.hpp"
#include "tasks/reading/input_tokens.hpp"
#include "tasks/reading/token_checks.hpp"

namespace glassformer {
namespace {

std::vector<std::int32_t> ids_in(const std::vector<Token>& tokens) {
  std::vector<std::int32_t> ids;
  for (const Token& token : tokens) ids.push_back(token.id);
  return ids;
}

// A decoder without an encoder: it continues the text.
class ContinuingModel final : public GenerationModel {
 public:
  ContinuingModel(const ModelConfig& config, const Tokenizer& tokenizer, Compute compute)
      : tokenizer_(tokenizer),
        around_(template_of(config, tokenizer).single),
        positions_(config.decoder().max_length),
        rows_(config.decoder().vocab_size()),
        model_(config.architecture, compute) {
    expect_vocabulary(config, tokenizer, "vocab_size", rows_);
    expect_room(positions_, special_tokens_of(around_));
  }

  std::vector<NamedParameter> parameters() override { return model_.parameters(); }
  const LanguageModel& decoder() const override { return model_; }

  // Reads the end of a long text, so that the new tokens fit after it.
  GenerationInput read(std::string_view text, std::size_t new_tokens,
                       const GenerationConfig& settings) const override {
    const std::string whole = settings.prefix + std::string(text);
    GenerationInput input = {.tokens = tokenizer_.encode(whole)};
    if (settings.special_tokens) input.tokens = fill(around_, input.tokens).tokens;
    leave_out_prefix(input.tokens, settings.prefix);
    const std::optional<std::int32_t> bos = settings.bos_id;
    if (input.tokens.empty() && bos && static_cast<std::size_t>(*bos) < rows_) {
      input.tokens.push_back({.id = *bos, .start = 0, .end = 0});
    }
    if (input.tokens.empty()) {
      throw_error(ErrorCode::empty_input, "text: expected at least one token, got none");
    }
    // The last token that is written is not read. A long text keeps at least half of the positions.
    if (input.tokens.size() > positions_) {
      const std::size_t room =
          std::max(positions_ + 1 - std::min(new_tokens, positions_), (positions_ + 1) / 2);
      input.tokens.erase(input.tokens.begin(),
                         input.tokens.end() - static_cast<std::ptrdiff_t>(room));
      input.clipped = true;
    }
    expect_rows(input.tokens, tokenizer_, rows_);
    input.prompt = ids_in(input.tokens);
    return input;
  }

  Seq2Seq::Encoded encode(const GenerationInput&, const TraceRequest&, Session&) const override {
    return {};
  }

 private:
  const Tokenizer& tokenizer_;
  std::vector<TemplatePart> around_;  // of a text
  std::size_t positions_, rows_;
  LanguageModel model_;
};

// A decoder with an encoder: the encoder reads the text, and the decoder writes the answer,
// beginning with a start token.
class AnsweringModel final : public GenerationModel {
 public:
  AnsweringModel(const ModelConfig& config, const Tokenizer& tokenizer, Compute compute)
      : reader_(config, tokenizer), model_(config.architecture, compute) {}

  std::vector<NamedParameter> parameters() override { return model_.parameters(); }
  const LanguageModel& decoder() const override { return model_; }

  GenerationInput read(std::string_view text, std::size_t,
                       const GenerationConfig& settings) const override {
    EncoderInput read = reader_.read(settings.prefix + std::string(text));
    leave_out_prefix(read.tokens, settings.prefix);
    GenerationInput input = {.tokens = std::move(read.tokens), .clipped = read.clipped};
    input.source = ids_in(input.tokens);
    input.prompt = {settings.start_id.value_or(0)};
    return input;
  }

  Seq2Seq::Encoded encode(const GenerationInput& input, const TraceRequest& request,
                          Session& session) const override {
    Batch source;
    source.add(input.source);
    return model_.encode(source, request, session);
  }

 private:
  InputReader reader_;
  Seq2Seq model_;
};

}  // namespace

std::unique_ptr<GenerationModel> make_generation_model(const ModelConfig& config,
                                                       const Tokenizer& tokenizer,
                                                       Compute compute) {
  if (config.architecture.encoder) {
    return std::make_unique<AnsweringModel>(config, tokenizer, compute);
  }
  return std::make_unique<ContinuingModel>(config, tokenizer, compute);
}

}  // namespace glassformer
