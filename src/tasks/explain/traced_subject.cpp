#include "tasks/explain/traced_subject.hpp"

#include <algorithm>
#include <utility>

#include "explain/contrast.hpp"
#include "tasks/embed/embed.hpp"
#include "tasks/limits.hpp"
#include "tasks/reading/input_tokens.hpp"

namespace glassformer {
namespace {

// A text or a picture that an encoder reads.
class EncoderSubject final : public TracedSubject {
 public:
  // `explainer`: of a classifier; otherwise null.
  EncoderSubject(EncoderRunner model, ExplainInput input, std::vector<InputToken> tokens,
                 const ClassifierExplainer* explainer, const std::optional<std::string>& label)
      : model_(model), input_(std::move(input)), tokens_(std::move(tokens)) {
    if (!explainer) return;
    label_ = explainer->label_of(input_, label);
    label_name_ = explainer->labels()[label_];
    contrast_ = contrast_for(label_, explainer->labels().size());
  }

  std::optional<ExplainedStack> stack(bool encoder) const override {
    if (encoder) return explained_stack(model_->encoder(), "encoder");
    if (!model_->decoder()) return std::nullopt;
    return explained_stack(*model_->decoder(), "decoder");
  }
  std::size_t rows(bool) const override { return input_.text.tokens(); }
  std::vector<TracedTensor> trace(const StackTensors& names) const override {
    std::vector<std::string> all = names.decoder;
    all.insert(all.end(), names.encoder.begin(), names.encoder.end());
    const TracePlan plan(model_.model, model_.session, {.names = all});
    TraceBudget().take(plan.numbers({.source = input_.text.tokens()}));
    return glassformer::trace(model_, input_.text, std::move(all));
  }
  Session& session() const override { return model_.session; }
  std::optional<double> answer(std::span<const Patch> patches) const override {
    if (!contrast_) return std::nullopt;
    const auto output =
        run_input(model_, input_.text, {.patches = {patches.begin(), patches.end()}});
    return contrast_->of(output.logits.data());
  }
  void describe(SubjectFacts& result) override {
    result.before = {.tokens = std::move(tokens_), .clipped = input_.input.clipped};
    result.grid = std::move(input_.grid);
    result.region = input_.region;
    if (contrast_) result.label = label_name_;
  }
  std::vector<std::string> names(bool encoder) const override {
    std::vector<std::string> names;
    const std::size_t own = input_.text.tokens(),
                      first = encoder && tokens_.size() > own ? own : 0;  // after a decoder's
    for (std::size_t i = first; i < std::min(tokens_.size(), first + own); ++i) {
      names.push_back(tokens_[i].text);
    }
    return names;
  }

 private:
  EncoderRunner model_;
  ExplainInput input_;
  std::vector<InputToken> tokens_;
  std::size_t label_ = 0;
  std::string label_name_;
  std::optional<Contrast> contrast_;
};

// A text that a decoder reads, or that an encoder reads for it.
class WriterSubject final : public TracedSubject {
 public:
  WriterSubject(NextSubject subject, const NextAttributionOptions& options)
      : subject_(std::move(subject)), lead_(subject_, options) {}

  std::optional<ExplainedStack> stack(bool encoder) const override {
    if (!encoder) return explained_stack(subject_.model->decoder(), "decoder");
    if (!subject_.encoded) return std::nullopt;
    return explained_stack(subject_.model.translator().encoder(), "encoder");
  }
  std::size_t rows(bool encoder) const override {
    return encoder ? subject_.encoded->sources.tokens() : subject_.decoded.size();
  }
  std::vector<TracedTensor> trace(const StackTensors& names) const override {
    std::vector<TracedTensor> tensors;
    if (!names.decoder.empty()) {
      tensors = trace_next_token(subject_.model, subject_.text(), names.decoder).trace;
    }
    if (names.encoder.empty()) return tensors;
    const TracePlan plan(subject_.model.model, session(), {.names = names.encoder});
    TraceBudget().take(plan.numbers({.source = rows(true)}));
    Seq2Seq::Encoded encoded = subject_.model.translator().encode(
        subject_.encoded->sources, {.names = names.encoder}, session());
    std::ranges::move(encoded.traces[0], std::back_inserter(tensors));
    return tensors;
  }
  Session& session() const override { return subject_.model.session; }
  std::optional<double> answer(std::span<const Patch> patches) const override {
    const TraceRequest request = {.patches = {patches.begin(), patches.end()}};
    const bool encoder = !patches.empty() && patches[0].name.starts_with("encoder.");
    DecodedText text = subject_.text();
    Seq2Seq::Encoded encoded;
    if (encoder) {
      encoded = subject_.model.translator().encode(subject_.encoded->sources, request, session());
      text.source = &encoded;
    }
    const NextTokenRun run =
        run_to_next_token(subject_.model, text, encoder ? TraceRequest() : request);
    return lead_.contrast().of(run.logits.data());
  }
  void describe(SubjectFacts& result) override {
    result.before = std::move(subject_.before);
    result.token = lead_.token();
    result.against = lead_.against();
  }
  std::vector<std::string> names(bool encoder) const override {
    return encoder ? subject_.encoded_texts() : subject_.decoded_texts();
  }

 private:
  NextSubject subject_;
  NextLead lead_;
};

}  // namespace

SubjectReader::SubjectReader(Pipeline& pipeline, const ExplainRequest& request,
                             const Wanted& wanted)
    : pipeline_(pipeline), request_(request), wanted_(wanted) {
  const Task task = pipeline.config().task;
  const ExplainOptions& options = request.options;
  if (pipeline.compute() != Compute::f32) {
    throw_error(ErrorCode::unsupported, {"{}: expected compute f32, got {}",
                                         {request.method->name, to_string(pipeline.compute())}});
  }
  if (task == Task::text_classification) {
    explainer_.emplace(static_cast<ClassifyPipeline&>(pipeline));
  } else if (task == Task::image_classification) {
    explainer_.emplace(static_cast<ImagePipeline&>(pipeline));
  } else if (task == Task::zero_shot_image_classification) {
    explainer_.emplace(static_cast<MatchPipeline&>(pipeline), std::vector<std::string>());
  }
  if (explainer_ && options.label) explainer_->find_label(*options.label);
  if (writes(task)) place_ = asked_place(pipeline, options);
  if (writes(task) && task != Task::text_generation && wanted.row &&
      options.position.value_or(*wanted.row) < *wanted.row) {
    refuse_option("position", {"expected at least {}, as the query is that row, got {}",
                               {*wanted.row, *options.position}});
  }
}

std::unique_ptr<TracedSubject> SubjectReader::read(const TextInput& text) const {
  const Task task = pipeline_.config().task;
  if (writes(task)) return read_to_write(text.alone());
  auto& pipeline = static_cast<EncoderPipeline&>(pipeline_);
  if (explainer_) return classified(explainer_->read(text));
  ExplainInput input;
  if (task == Task::question_answering) {
    if (!text.pair) {
      throw_error(ErrorCode::invalid_option, "text: expected a question and a context, got one");
    }
    input.input = pipeline.reader().read_pair(text.text, *text.pair);
  } else if (task == Task::feature_extraction) {
    input.input = static_cast<EmbedPipeline&>(pipeline_).read(text, {})[0];
  } else {
    input.input = pipeline.reader().read(text.alone());
  }
  input.text = explained_text(input.input);
  std::vector<InputToken> tokens = input.input.pair
                                       ? pair_tokens(input.input, pipeline.tokenizer())
                                       : input_tokens(input.input.tokens, pipeline.tokenizer());
  return std::make_unique<EncoderSubject>(pipeline.model(), std::move(input), std::move(tokens),
                                          nullptr, std::nullopt);
}

std::unique_ptr<TracedSubject> SubjectReader::read(const Picture& picture) const {
  ImageOptions options;
  options.interpolate = request_.options.interpolate;
  options.size = request_.options.size;
  return classified(explainer_->read(picture, options));
}

std::unique_ptr<TracedSubject> SubjectReader::classified(ExplainInput input) const {
  std::vector<InputToken> tokens = explainer_->tokens_of(input);
  const bool labels = !explainer_->labels().empty();  // otherwise only weights are measured
  return std::make_unique<EncoderSubject>(static_cast<EncoderPipeline&>(pipeline_).model(),
                                          std::move(input), std::move(tokens),
                                          labels ? &*explainer_ : nullptr, request_.options.label);
}

std::unique_ptr<TracedSubject> SubjectReader::read_to_write(std::string_view text) const {
  const ExplainOptions& options = request_.options;
  TranslatedPlace place = place_;
  if (!options.position && wanted_.row) place.position = std::max(place.position, *wanted_.row);
  try {
    const auto subject_at = [&](NextSubject subject) {
      return std::make_unique<WriterSubject>(std::move(subject),
                                             next_attribution_options(request_));
    };
    NextSubject subject = read_to_next(pipeline_, text, place);
    const auto& translated = subject.before.sentence;
    const std::size_t written = translated ? translated->translation.output.tokens.size() : 0;
    if (!wanted_.whole || options.position || written <= place.position + 1) {
      return subject_at(std::move(subject));
    }
    place.position = written - 1;
    return subject_at(read_to_next(pipeline_, text, place));
  } catch (const Error& error) {
    const bool beyond = std::string_view(error.what()).starts_with("position: ");
    if (options.position || !wanted_.row || !beyond) throw;
    refuse_option("query",
                  {"expected one of the rows that the decoder reads, got {}", {*wanted_.row}});
  }
}

}  // namespace glassformer
