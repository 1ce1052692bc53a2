#include <cmath>

#include "tasks/generate/prompts.hpp"
#include "tasks/search_plan.hpp"

namespace glassformer {

/// Lists the next tokens of texts, one text after the other.
class PredictionJob final : public PromptJob<Prediction> {
 public:
  PredictionJob(GeneratePipeline& pipeline, std::span<const std::string_view> texts,
                const NextOptions& options)
      : PromptJob(texts),
        pipeline_(pipeline),
        count_(options.count),
        settings_(pipeline.settings(options)),
        sampling_(choice_of(options, settings_).sampling),
        constraints_(with_forbidden(constraints_of(options, settings_), options, pipeline)),
        reader_(pipeline, settings_, options) {}

 private:
  void begin_text(const std::string& text) override {
    prompt_ = reader_.read(text, 1, [](std::size_t) { return 1; });
    prompt_->state =
        pipeline_.runner().begin(prompt_->sources(), prompt_->limits, reader_.request());
  }
  void end_text() override { prompt_.reset(); }

  std::optional<Prediction> go_on() override {
    if (reader_.feed_some(*prompt_)) return std::nullopt;
    const std::size_t read = prompt_->ids.size();
    constraints_.rules.min_length = least_length({}, settings_, read);
    constraints_.rules.begin = read;
    DecodingScorer decoding(pipeline_.model().decoder(), *std::move(prompt_->state));
    ConstrainedScorer scorer(decoding, constraints_, ScoreKind::logits, 1,
                             vocab_size_of(pipeline_));
    give_texts(scorer, constraints_, prompt_->sources(), prompt_->ids);
    const Extension last = next_in_line(read - 1, prompt_->ids.back());
    std::vector<NextToken> next = next_tokens(scorer.feed(std::span(&last, 1))[0]);
    const auto node = static_cast<NodeIndex>(read - 1);
    Captured captured = with_encoder(capture(decoding.state(), node, reader_.request()), *prompt_);
    return Prediction{.next = std::move(next),
                      .prompt_tokens = std::move(prompt_->tokens),
                      .clipped = prompt_->clipped,
                      .attention = std::move(captured.attention),
                      .trace = std::move(captured.trace)};
  }

  // Returns the most probable tokens.
  std::vector<NextToken> next_tokens(const NextTokens& scores) const {
    if (!std::isfinite(*scores.normalizer)) throw non_finite_text();
    TokenChances chances(scores.logits.size());
    chances.weigh(scores.logits, sampling_);
    std::vector<NextToken> tokens;
    for (auto chance = chances.next(); chance; chance = chances.next()) {
      const float logit = scores.unchanged[static_cast<std::size_t>(chance->id)];
      tokens.push_back({.id = chance->id,
                        .text = pipeline_.tokenizer().display_text(chance->id),
                        .logprob = logit - *scores.normalizer,
                        .probability = static_cast<float>(chance->probability)});
      if (tokens.size() == count_) break;
    }
    return tokens;
  }

  GeneratePipeline& pipeline_;
  std::size_t count_;
  GenerationConfig settings_;
  SamplingOptions sampling_;
  Constraints constraints_;
  PromptReader reader_;
  std::optional<Prompt> prompt_;
};

std::unique_ptr<TypedJob<Prediction>> GeneratePipeline::begin(
    std::span<const std::string_view> texts, const NextOptions& options) {
  return std::make_unique<PredictionJob>(*this, texts, options);
}

}  // namespace glassformer
