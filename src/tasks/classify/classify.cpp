#include "tasks/classify/classify.hpp"
#include "tasks/make_pipeline.hpp"

#include <algorithm>
#include <cmath>

#include "tasks/reading/encoder_job.hpp"
#include "tasks/reading/input_tokens.hpp"
#include "tasks/reading/scores.hpp"

namespace glassformer {
namespace {

// Returns the mean or the maximum of each column.
std::vector<float> over_windows(const std::vector<std::vector<float>>& rows,
                                ClassifyWindow window) {
  if (rows.size() == 1) return rows[0];
  std::vector<float> result;
  for (std::size_t label = 0; label < rows[0].size(); ++label) {
    double sum = 0;
    float highest = rows[0][label];
    for (const std::vector<float>& row : rows) {
      sum += static_cast<double>(row[label]);
      highest = std::max(highest, row[label]);
    }
    const auto mean = static_cast<float>(sum / static_cast<double>(rows.size()));
    result.push_back(window == ClassifyWindow::mean ? mean : highest);
  }
  return result;
}

}  // namespace

std::unique_ptr<Job> ClassifyPipeline::begin(const TaskInputs& inputs, const TaskOptions& options) {
  return begin(inputs_of<TextInput>(inputs), read_options<ClassifyOptions>(options));
}

std::unique_ptr<TypedJob<Classification>> ClassifyPipeline::begin(std::span<const TextInput> texts,
                                                                  const ClassifyOptions& options) {
  check_ranges(options);
  check(options);
  return std::make_unique<EncoderJob<ClassifyPipeline>>(*this, texts, options);
}

Classification ClassifyPipeline::classify(const TextInput& text, const ClassifyOptions& options) {
  return only(classify_batch(std::span(&text, 1), options));
}

Results<Classification> ClassifyPipeline::classify_batch(std::span<const TextInput> texts,
                                                         const ClassifyOptions& options) {
  return run_all(*begin(texts, options));
}

void ClassifyPipeline::check(const ClassifyOptions& options) const {
  if (options.window != ClassifyWindow::first) {
    reader().overlap_of(options.stride);
  } else if (options.stride) {
    refuse_option("stride",
                  "expected it only with window \"mean\" or \"max\", got window \"first\"");
  }
}

std::vector<EncoderInput> ClassifyPipeline::read(const TextInput& text,
                                                 const ClassifyOptions& options) const {
  check(options);
  const bool whole = options.window != ClassifyWindow::first;
  std::vector<EncoderInput> windows;
  if (text.pair) {
    windows.push_back(reader().read_pair(text.text, *text.pair));
    if (whole && windows[0].clipped) {
      throw_error(ErrorCode::too_large,
                  {"window: expected two texts of at most {} tokens together, got more; set window "
                   "to \"first\" to read only a part of them",
                   {windows[0].tokens.size()}});
    }
  } else if (whole) {
    windows = reader().read_windows(text.text, reader().overlap_of(options.stride));
  } else {
    windows.push_back(reader().read(text.text));
  }
  expect_one_window(options.encoder, windows);
  return windows;
}

void ClassifyPipeline::expect_finite(std::span<const float> logits) const {
  const std::vector<std::string>& labels = config().labels;
  const auto infinite =
      std::ranges::find_if_not(logits, [](float logit) { return std::isfinite(logit); });
  if (infinite != logits.end()) {
    const auto label = static_cast<std::size_t>(infinite - logits.begin());
    throw_error(ErrorCode::non_finite,
                {"logits: expected finite numbers, got {} for \"{}\": the model's activations "
                 "exceed the range of floats",
                 {std::isnan(*infinite) ? "NaN" : "infinity", labels[label]}});
  }
}

Classification ClassifyPipeline::answer(std::vector<EncoderAnswer> windows, std::string_view,
                                        const ClassifyOptions& options) const {
  std::vector<std::vector<float>> scores, logits;  // one vector per window
  std::vector<EncoderInput> inputs;
  for (EncoderAnswer& window : windows) {
    expect_finite(window.rows);
    to_scores(config().scoring, scores.emplace_back(window.rows));
    logits.push_back(std::move(window.rows));
    inputs.push_back(std::move(window.input));
  }
  Classification result;
  result.scores = over_windows(scores, options.window);
  result.logits = over_windows(logits, options.window);
  // With one window, the logits decide: scores may be equal even if logits are not.
  const std::vector<float>& decisive = windows.size() == 1 ? result.logits : result.scores;
  const auto best = static_cast<std::size_t>(std::ranges::max_element(decisive) - decisive.begin());
  result.label = config().labels[best];
  result.score = result.scores[best];
  result.tokens = inputs[0].pair
                      ? pair_tokens(inputs[0], tokenizer())
                      : input_tokens(joined_tokens(inputs, reader().around().single), tokenizer());
  result.windows = windows.size();
  EncoderAnswer& answer = windows[0];
  result.clipped = inputs[0].clipped;
  result.attention = std::move(answer.attention);
  result.decoder_attention = std::move(answer.decoder_attention);
  result.cross_attention = std::move(answer.cross_attention);
  result.trace = std::move(answer.trace);
  result.gradients = std::move(answer.gradients);
  result.contributions = std::move(answer.contributions);
  return result;
}

AnswerTerms ClassifyPipeline::explained(const EncoderInput&, const ConstView& logits,
                                        const ClassifyOptions& options) const {
  if (options.encoder.gradient_token) {
    refuse_option("gradient_token", "expected it only for a model that labels tokens");
  }
  const std::span<const float> row(logits.data(), logits.shape(1));
  return terms_of(contrast_for(largest(row), row.size()), 0);
}

std::unique_ptr<Pipeline> make_classify(PipelineParts& parts) {
  return std::make_unique<ClassifyPipeline>(std::move(parts.config), std::move(parts.tokenizer),
                                            parts.compute);
}

}  // namespace glassformer
