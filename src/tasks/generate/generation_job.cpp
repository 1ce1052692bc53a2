#include <algorithm>

#include "tasks/generate/prompts.hpp"
#include "tasks/generate/stop_strings.hpp"
#include "tasks/search_plan.hpp"

namespace glassformer {
namespace {

WritingPlan writing_plan(const GeneratePipeline& pipeline, const GenerateOptions& options,
                         const GenerationConfig& settings) {
  GenerationPlan plan = plan_of(options, settings);
  WritingPlan writing = {
      .search = plan.search,
      .constraints = with_forbidden(std::move(plan.constraints), options, pipeline),
      .tokens = vocab_size_of(pipeline)};
  if (plan.search.beams == 1) writing.choice = plan.choice;
  const std::vector<std::int32_t>& ends = settings.end_ids;
  writing.special.end = ends.empty() ? -1 : ends[0];
  writing.special.other_ends.assign(ends.begin() + (ends.empty() ? 0 : 1), ends.end());
  writing.special.never.assign(writing.tokens, false);
  writing.special.never.resize(pipeline.config().decoder().vocab_size(), true);
  return writing;
}

}  // namespace

class GeneratingJob final : public PromptJob<Generation, GenerationJob> {
 public:
  GeneratingJob(GeneratePipeline& pipeline, std::span<const std::string_view> texts,
                const GenerateOptions& options)
      : PromptJob(texts),
        pipeline_(pipeline),
        options_(options),
        settings_(pipeline.settings(options)),
        plan_(writing_plan(pipeline, options, settings_)),
        stops_(options.stop_strings.value_or(settings_.stop_strings), pipeline.tokenizer()),
        reader_(pipeline, settings_, options) {
    plan_.captured = reader_.request();
    plan_.reads_again = !plan_.choice;
    if (stops_.empty()) return;
    plan_.search.stops = [this](const std::vector<Candidate>& tree, CandidateIndex last) {
      return stops_.end_text(plan_.prompt, tree, last);
    };
  }

  const std::optional<GenerationStep>& streamed() const override { return streamed_; }

  bool show(ResultWriter& writer) override {
    if (!streamed_) return false;
    writer.object([&] {
      writer("token", streamed_->token);
      writer("text", streamed_->text);
      if (writes_first()) writer("promptTokens", prompt_->tokens);
      std::vector<TracedTensor> none;
      shown_fields(writer, streamed_->attention, none);
    });
    return true;
  }

 private:
  void begin_text(const std::string& text) override {
    streamed_.reset();
    prompt_ = reader_.read(text, plan_.search.beams, [this](std::size_t read) {
      return most_new_tokens(options_, settings_, read);
    });
    if (keeps() && resume()) return;
    TraceRequest request = reader_.request();
    if (plan_.reads_again) {
      request.names.clear();
      request.attention = options_.attention && options_.stream;
    }
    prompt_->state = pipeline_.runner().begin(prompt_->sources(), prompt_->limits, request);
  }

  // Whether the decoding is kept for a later call. It then is one path.
  bool keeps() const {
    const bool plain = options_.trace.empty() && options_.patch.empty() && options_.ablate.empty();
    return options_.keep && plain && plan_.choice && !pipeline_.config().architecture.encoder;
  }

  // Goes on from the decoding that an earlier call kept, if its first tokens are the same.
  bool resume() {
    const std::shared_ptr<DecodingState> kept = std::move(pipeline_.session().kept);
    const std::vector<std::int32_t>& ids = prompt_->ids;
    std::size_t& fed = prompt_->fed;
    if (kept && kept->has_attention() == options_.attention) {
      const HypothesisTree& tree = kept->tree();
      const std::size_t most = std::min(ids.size() - 1, tree.size());
      while (fed < most && tree[static_cast<NodeIndex>(fed)].id == ids[fed]) ++fed;
    }
    reused_ = fed;
    if (fed == 0) return false;
    pipeline_.model().decoder().resume(*kept, fed, prompt_->limits);
    prompt_->state = std::move(*kept);
    return true;
  }

  std::optional<Generation> go_on() override {
    streamed_.reset();
    if (!writing_) {
      if (reader_.feed_some(*prompt_)) return std::nullopt;
      begin_writing();
    }
    if (!writing_->running()) return result();
    writing_->step();
    if (options_.stream) stream();
    return std::nullopt;
  }

  void begin_writing() {
    const std::size_t read = prompt_->ids.size();
    plan_.constraints.rules.min_length = least_length(options_.min_new_tokens, settings_, read);
    plan_.constraints.rules.begin = read;
    plan_.special.start = prompt_->ids.back();
    plan_.sources = prompt_->sources();
    plan_.prompt = prompt_->ids;
    plan_.max_lengths = {prompt_->max_new};
    writing_.emplace(pipeline_.runner(), pipeline_.tokenizer(), plan_,
                     DecodingScorer(pipeline_.model().decoder(), *std::move(prompt_->state)));
  }

  bool writes_first() const { return writing_->leading().tokens().size() == 1; }

  void stream() {
    if (!writing_->search().finite(0) || !writing_->follow()) return;
    const OutputWriter& leading = writing_->leading();
    streamed_ = {.token = leading.tokens().back(), .text = leading.text(), .attention = {}};
    if (!options_.attention) return;
    streamed_->attention = writing_->leading_attention();
    if (prompt_->encoded && writes_first()) {
      streamed_->attention.encoder = prompt_->encoded->attention[0];
    }
  }

  Generation result() {
    if (!writing_->search().finite(0)) throw non_finite_text();
    const std::vector<Hypothesis> hypotheses = writing_->search().hypotheses(0);
    if (hypotheses.empty()) throw_error(ErrorCode::internal, "a search without an outcome");
    Captured captured = with_encoder(writing_->captured(0, hypotheses[0].last), *prompt_);
    Generation result = {.output = writing_->output(0, hypotheses[0]),
                         .prompt_tokens = std::move(prompt_->tokens),
                         .clipped = prompt_->clipped,
                         .ended = hypotheses[0].complete,
                         .hypotheses = {},
                         .attention = std::move(captured.attention),
                         .trace = std::move(captured.trace)};
    if (options_.hypotheses) result.hypotheses = writing_->outputs(0);
    if (keeps()) {
      result.reused = reused_;
      pipeline_.session().kept = std::make_shared<DecodingState>(std::move(writing_->state()));
    }
    return result;
  }

  void end_text() override {
    writing_.reset();
    prompt_.reset();
  }

  GeneratePipeline& pipeline_;
  GenerateOptions options_;
  GenerationConfig settings_;  // of the folder and the task
  WritingPlan plan_;
  StopStrings stops_;
  PromptReader reader_;

  // The current text.
  std::optional<Prompt> prompt_;
  std::size_t reused_ = 0;  // tokens of the prompt that an earlier call had read
  std::optional<Writing> writing_;
  std::optional<GenerationStep> streamed_;
};

std::unique_ptr<GenerationJob> GeneratePipeline::begin(std::span<const std::string_view> texts,
                                                       const GenerateOptions& options) {
  return std::make_unique<GeneratingJob>(*this, texts, options);
}

}  // namespace glassformer
