#include "pipelines/classify.hpp"

#include <algorithm>
#include <cmath>

#include "pipelines/encoder_job.hpp"
#include "pipelines/input_tokens.hpp"
#include "pipelines/scores.hpp"

namespace glassformer {

std::unique_ptr<Job> ClassifyPipeline::begin(std::span<const TextInput> texts,
                                             const TaskOptions& options, ResultForm form) {
  return begin(texts, parse_classify_options(options), form);
}

std::unique_ptr<Job> ClassifyPipeline::begin(std::span<const TextInput> texts,
                                             const ClassifyOptions& options, ResultForm form) {
  return std::make_unique<EncoderJob<ClassifyPipeline, ClassifyOptions>>(*this, texts, options,
                                                                         form);
}

Classification ClassifyPipeline::classify(const TextInput& text, const ClassifyOptions& options) {
  return only(classify_batch(std::span(&text, 1), options));
}

std::vector<std::variant<Classification, Error>> ClassifyPipeline::classify_batch(
    std::span<const TextInput> texts, const ClassifyOptions& options) {
  return run_all(*this, texts, options);
}

EncoderInput ClassifyPipeline::read(const TextInput& text, const ClassifyOptions&) const {
  return text.pair ? reader().read_pair(text.text, *text.pair) : reader().read(text.text);
}

Classification ClassifyPipeline::answer(EncoderAnswer answer, std::string_view,
                                        const ClassifyOptions&) const {
  const std::vector<std::string>& labels = config().labels;
  const auto infinite =
      std::ranges::find_if_not(answer.rows, [](float logit) { return std::isfinite(logit); });
  if (infinite != answer.rows.end()) {
    const auto label = static_cast<std::size_t>(infinite - answer.rows.begin());
    throw_error(ErrorCode::non_finite,
                {"logits: expected finite numbers, got {} for \"{}\": the model's weights lead out "
                 "of the range of floats",
                 {std::isnan(*infinite) ? "NaN" : "infinity", labels[label]}});
  }
  Classification result;
  result.scores = answer.rows;
  to_scores(config().scoring, result.scores);
  const auto best =
      static_cast<std::size_t>(std::ranges::max_element(answer.rows) - answer.rows.begin());
  result.label = labels[best];
  result.score = result.scores[best];
  result.logits = std::move(answer.rows);
  result.tokens = answer.input.pair ? pair_tokens(answer.input, tokenizer())
                                    : input_tokens(answer.input.tokens, tokenizer());
  result.clipped = answer.input.clipped;
  result.attention = std::move(answer.attention);
  result.trace = std::move(answer.trace);
  result.contributions = std::move(answer.contributions);
  return result;
}

}  // namespace glassformer
