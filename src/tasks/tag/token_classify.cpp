#include "tasks/tag/token_classify.hpp"
#include "tasks/make_pipeline.hpp"

#include <algorithm>

#include "base/strings/decimal.hpp"
#include "base/strings/printable.hpp"
#include "base/strings/utf16_cursor.hpp"
#include "tasks/reading/encoder_job.hpp"
#include "tasks/reading/input_tokens.hpp"
#include "tasks/reading/scores.hpp"
#include "tasks/result_writer.hpp"

namespace glassformer {

std::unique_ptr<Job> TokenClassifyPipeline::begin(const TaskInputs& inputs,
                                                  const TaskOptions& options) {
  return begin(inputs_of<TextInput>(inputs), read_options<TokenClassifyOptions>(options));
}

std::unique_ptr<TypedJob<TokenClassification>> TokenClassifyPipeline::begin(
    std::span<const TextInput> texts, const TokenClassifyOptions& options) {
  check_ranges(options);
  check(options);
  return std::make_unique<EncoderJob<TokenClassifyPipeline>>(*this, texts, options);
}

TokenClassification TokenClassifyPipeline::classify(std::string_view text,
                                                    const TokenClassifyOptions& options) {
  return only(classify_batch(std::span(&text, 1), options));
}

Results<TokenClassification> TokenClassifyPipeline::classify_batch(
    std::span<const std::string_view> texts, const TokenClassifyOptions& options) {
  return run_all(*begin(std::vector<TextInput>(texts.begin(), texts.end()), options));
}

void TokenClassifyPipeline::check(const TokenClassifyOptions& options) const {
  if (options.window == TokenClassifyWindow::all) {
    reader().overlap_of(options.stride);
  } else if (options.stride) {
    refuse_option("stride", "expected it only with window \"all\", got window \"first\"");
  }
}

std::vector<EncoderInput> TokenClassifyPipeline::read(const TextInput& text,
                                                      const TokenClassifyOptions& options) const {
  check(options);
  if (options.window == TokenClassifyWindow::first) return {reader().read(text.alone())};
  std::vector<EncoderInput> windows =
      reader().read_windows(text.alone(), reader().overlap_of(options.stride));
  expect_one_window(options.encoder, windows);
  return windows;
}

std::vector<LabeledToken> TokenClassifyPipeline::labeled(const EncoderInput& input) const {
  const std::vector<Token>& tokens = input.tokens;
  std::vector<LabeledToken> labeled;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    labeled.push_back({.piece = tokenizer().piece(tokens[i].id),
                       .start = tokens[i].start,
                       .end = tokens[i].end,
                       .special = input.kinds[i] == TemplatePart::Kind::special,
                       .unknown = tokens[i].id == tokenizer().unk_id(),
                       .part = tokens[i].start == tokens[i].end && !tokens[i].starts_word});
  }
  return labeled;
}

TokenClassification TokenClassifyPipeline::answer(std::vector<EncoderAnswer> windows,
                                                  std::string_view text,
                                                  const TokenClassifyOptions& options) const {
  const PieceRules rules = {.marks_subwords = tokenizer().marks_subwords(),
                            .decode = [this](const std::vector<std::string>& pieces) {
                              return tokenizer().join(pieces);
                            }};
  TokenClassification result;
  const EntityOptions wanted = {.labels = config().labels,
                                .aggregation = options.aggregation,
                                .ignore_labels = options.ignore_labels};
  std::vector<EncoderInput> inputs;
  Utf16Cursor place(text);  // start of the current window
  for (EncoderAnswer& window : windows) {
    const std::size_t tokens = window.input.tokens.size();
    for (std::size_t i = 0; i < tokens; ++i) {
      to_scores(Scoring::softmax,
                std::span(window.rows).subspan(i * window.columns, window.columns));
    }
    const std::vector<LabeledToken> read = labeled(window.input);
    const auto first = std::ranges::find(read, false, &LabeledToken::special);
    if (first != read.end()) place.seek(first->start);
    for (Entity& entity :
         find_entities(place, read, const_view(window.rows.data(), {tokens, window.columns}), rules,
                       wanted)) {
      if (entity.index) *entity.index += window.input.begin;
      result.entities.push_back(std::move(entity));
    }
    inputs.push_back(std::move(window.input));
  }
  if (windows.size() > 1) result.entities = merge_windows(text, std::move(result.entities));
  result.tokens = input_tokens(joined_tokens(inputs, reader().around().single), tokenizer());
  result.windows = windows.size();
  result.clipped = inputs[0].clipped;
  EncoderAnswer& answer = windows[0];
  result.attention = std::move(answer.attention);
  result.trace = std::move(answer.trace);
  result.gradients = std::move(answer.gradients);
  return result;
}

AnswerTerms TokenClassifyPipeline::explained(const EncoderInput& input, const ConstView& logits,
                                             const TokenClassifyOptions& options) const {
  const std::size_t tokens = logits.shape(0);
  const auto ordinary = std::ranges::find_if(
      input.kinds, [](TemplatePart::Kind kind) { return kind != TemplatePart::Kind::special; });
  const auto first = static_cast<std::size_t>(ordinary - input.kinds.begin());
  const std::size_t token = options.encoder.gradient_token.value_or(first);
  if (token >= tokens) {
    refuse_option("gradient_token", {"expected a position below {}, got {}", {tokens, token}});
  }
  const std::span<const float> row(&logits(token, 0), logits.shape(1));
  return terms_of(contrast_for(largest(row), row.size()), token);
}

std::unique_ptr<Pipeline> make_token_classify(PipelineParts& parts) {
  return std::make_unique<TokenClassifyPipeline>(std::move(parts.config),
                                                 std::move(parts.tokenizer), parts.compute);
}

}  // namespace glassformer
