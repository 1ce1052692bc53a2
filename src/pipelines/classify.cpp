#include "pipelines/classify.hpp"

#include <algorithm>
#include <cmath>

#include "pipelines/encoder_job.hpp"
#include "pipelines/scores.hpp"

namespace glassformer {

std::unique_ptr<Job> ClassifyPipeline::begin(std::span<const std::string_view> texts,
                                             std::string_view options, ResultForm form) {
  return begin(texts, parse_classify_options(options), form);
}

std::unique_ptr<Job> ClassifyPipeline::begin(std::span<const std::string_view> texts,
                                             const ClassifyOptions& options, ResultForm form) {
  return std::make_unique<EncoderJob<ClassifyPipeline, ClassifyOptions>>(*this, texts, options,
                                                                         form);
}

Classification ClassifyPipeline::classify(std::string_view text, const ClassifyOptions& options) {
  return only(classify_batch(std::span(&text, 1), options));
}

std::vector<std::variant<Classification, Error>> ClassifyPipeline::classify_batch(
    std::span<const std::string_view> texts, const ClassifyOptions& options) {
  return run_all(*this, texts, options);
}

EncoderInput ClassifyPipeline::read(std::string_view text, const ClassifyOptions& options) const {
  if (!options.pairs) return reader().read(text);
  const auto [first, second] = split_pair(text, "two texts");
  return reader().read_pair(first, second);
}

Classification ClassifyPipeline::answer(EncoderAnswer answer, std::string_view,
                                        const ClassifyOptions& options) const {
  const std::vector<std::string>& labels = config().labels;
  const auto infinite =
      std::ranges::find_if_not(answer.rows, [](float logit) { return std::isfinite(logit); });
  if (infinite != answer.rows.end()) {
    const auto label = static_cast<std::size_t>(infinite - answer.rows.begin());
    throw Error(ErrorCode::non_finite,
                "logits: expected finite numbers, got " +
                    std::string(std::isnan(*infinite) ? "NaN" : "infinity") + " for \"" +
                    labels[label] + "\": the model's weights lead out of the range of floats");
  }
  Classification result;
  result.scores = answer.rows;
  to_scores(config().scoring, result.scores);
  result.label =
      static_cast<std::size_t>(std::ranges::max_element(answer.rows) - answer.rows.begin());
  result.logits = std::move(answer.rows);
  if (options.pairs) {
    for (const TemplatePart::Kind kind : answer.input.kinds) {
      result.second.push_back(kind == TemplatePart::Kind::second_text);
    }
  }
  result.tokens = std::move(answer.input.tokens);
  result.clipped = answer.input.clipped;
  result.attention = std::move(answer.attention);
  result.trace = std::move(answer.trace);
  result.contributions = std::move(answer.contributions);
  return result;
}

}  // namespace glassformer
