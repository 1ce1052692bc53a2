#include "tasks/fill/fill.hpp"

#include <algorithm>
#include <numeric>

#include "base/strings/printable.hpp"
#include "tasks/make_pipeline.hpp"
#include "tasks/reading/encoder_job.hpp"
#include "tasks/reading/input_tokens.hpp"
#include "tasks/reading/mask_token.hpp"
#include "tasks/reading/scores.hpp"
#include "tasks/result_writer.hpp"

namespace glassformer {

FillPipeline::FillPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                           Compute compute)
    : EncoderPipeline(std::move(config), tasks, std::move(tokenizer), compute) {
  const auto mask = find_mask(this->tokenizer());
  if (!mask || static_cast<std::size_t>(*mask) >= this->config().encoder().vocab_size()) {
    throw_error(ErrorCode::invalid_tokenizer,
                "expected a tokenizer with [MASK] or <mask>, got none of them");
  }
  mask_ = *mask;
}

std::unique_ptr<Job> FillPipeline::begin(const TaskInputs& inputs, const TaskOptions& options) {
  return begin(inputs_of<TextInput>(inputs), read_options<FillOptions>(options));
}

std::unique_ptr<TypedJob<FilledText>> FillPipeline::begin(std::span<const TextInput> texts,
                                                          const FillOptions& options) {
  check_ranges(options);
  ids_of(options.targets);  // rejects them before a text is read
  return std::make_unique<EncoderJob<FillPipeline>>(*this, texts, options);
}

FilledText FillPipeline::fill(std::string_view text, const FillOptions& options) {
  return only(fill_batch(std::span(&text, 1), options));
}

Results<FilledText> FillPipeline::fill_batch(std::span<const std::string_view> texts,
                                             const FillOptions& options) {
  return run_all(*begin(std::vector<TextInput>(texts.begin(), texts.end()), options));
}

std::vector<std::int32_t> FillPipeline::ids_of(std::span<const std::string> targets) const {
  std::vector<std::int32_t> ids;
  for (const std::string& target : targets) {
    std::optional<std::int32_t> id = tokenizer().find(target);
    if (!id) {
      const std::vector<Token> tokens = tokenizer().encode(target);
      if (tokens.size() == 1) id = tokens[0].id;
    }
    const std::size_t rows = config().encoder().vocab_size();
    if (!id || *id == tokenizer().unk_id() || static_cast<std::size_t>(*id) >= rows) {
      refuse_option("targets", {"expected texts of one known token, got {}", {describe(target)}});
    }
    if (std::ranges::find(ids, *id) == ids.end()) ids.push_back(*id);
  }
  return ids;
}

std::vector<EncoderInput> FillPipeline::read(const TextInput& text, const FillOptions&) const {
  EncoderInput input = reader().read(text.alone());
  for (std::size_t i = 0; i < input.tokens.size(); ++i) {
    if (input.tokens[i].id == mask_) input.rows.push_back(i);
  }
  if (input.rows.empty()) {
    refuse_option("text", {"expected {} in it, got none{}",
                           {mask_token(), input.clipped ? " before its end was cut off" : ""}});
  }
  std::vector<EncoderInput> inputs;
  inputs.push_back(std::move(input));
  return inputs;
}

std::vector<FilledToken> FillPipeline::best(const EncoderInput& input, std::size_t index,
                                            std::span<const float> logits,
                                            const FillOptions& options) const {
  std::vector<std::int32_t> ids = ids_of(options.targets);
  if (ids.empty()) {
    // The table may have more rows than the vocabulary has tokens.
    ids.resize(std::min(logits.size(), tokenizer().size()));
    std::iota(ids.begin(), ids.end(), 0);
  }
  std::vector<float> scores;
  if (options.targets.empty()) {
    scores.assign(logits.begin(), logits.end());
  } else {
    for (const std::int32_t id : ids) scores.push_back(logits[static_cast<std::size_t>(id)]);
  }
  to_scores(Scoring::softmax, scores);
  std::vector<std::size_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0);
  const std::size_t count = std::min(options.top_k, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count),
                            [&](std::size_t a, std::size_t b) {
                              return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
                            });
  // Other masks stay in the text; the tokens around it do not.
  const bool alone = input.rows.size() == 1;
  std::vector<std::int32_t> sequence;
  std::size_t filled = 0;
  for (std::size_t i = 0; i < input.tokens.size(); ++i) {
    const std::int32_t id = input.tokens[i].id;
    if (i == index) filled = sequence.size();
    if (id == mask_ || !tokenizer().is_control(id)) sequence.push_back(id);
  }
  std::vector<FilledToken> answers;
  for (const std::size_t place : std::span(order).first(count)) {
    const std::int32_t id = ids[place];
    sequence[filled] = id;
    answers.push_back(
        {.id = id,
         .token = std::string(tokenizer().piece(id)),
         .text = tokenizer().is_control(id) ? std::string(tokenizer().piece(id))
                                            : tokenizer().decode(std::span(&id, 1)),
         .score = scores[place],
         .sequence = alone ? tokenizer().decode(sequence) : tokenizer().decode_all(sequence)});
  }
  return answers;
}

FilledText FillPipeline::answer(std::vector<EncoderAnswer> windows, std::string_view,
                                const FillOptions& options) const {
  EncoderAnswer& answer = windows[0];
  const EncoderInput& input = answer.input;
  const std::span<const float> logits = answer.rows;
  // The logits are those of the masks only, or of every token.
  const bool all = logits.size() == input.tokens.size() * answer.columns;
  FilledText result;
  for (std::size_t i = 0; i < input.rows.size(); ++i) {
    const std::size_t index = input.rows[i];
    const Token& mask = input.tokens[index];
    result.masks.push_back(
        {.index = index,
         .start = mask.start,
         .end = mask.end,
         .answers =
             best(input, index, logits.subspan((all ? index : i) * answer.columns, answer.columns),
                  options)});
  }
  result.tokens = input_tokens(input.tokens, tokenizer());
  result.clipped = input.clipped;
  result.attention = std::move(answer.attention);
  result.trace = std::move(answer.trace);
  result.gradients = std::move(answer.gradients);
  return result;
}

// The lead of the best token of a mask over the second.
AnswerTerms FillPipeline::explained(const EncoderInput& input, const ConstView& logits,
                                    const FillOptions& options) const {
  const std::size_t row = options.encoder.gradient_token.value_or(input.rows.front());
  if (row >= logits.shape(0)) {
    refuse_option("gradient_token",
                  {"expected a position below {}, got {}", {logits.shape(0), row}});
  }
  const std::span<const float> scores(&logits(row, 0), logits.shape(1));
  const std::size_t first = largest(scores);
  std::size_t second = first == 0 ? 1 : 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (i != first && scores[i] > scores[second]) second = i;
  }
  return {{row, first, 1.0f}, {row, second, -1.0f}};
}

std::unique_ptr<Pipeline> make_fill(PipelineParts& parts) {
  return std::make_unique<FillPipeline>(std::move(parts.config), std::move(parts.tokenizer),
                                        parts.compute);
}

}  // namespace glassformer
