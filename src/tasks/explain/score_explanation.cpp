#include "tasks/explain/score_explanation.hpp"

#include <algorithm>
#include <utility>

#include "explain/contrast.hpp"
#include "tasks/embed/embed.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/limits.hpp"
#include "tasks/reading/input_tokens.hpp"

namespace glassformer {
namespace {

using Side = Attention::Side;

// An input and a model, whose scores can be explained.
class ScoreSubject {
 public:
  virtual ~ScoreSubject() = default;

  // Throws `invalid_option` for a stack that the model does not have.
  virtual ExplainedStack stack(bool encoder) const = 0;
  virtual std::size_t rows(bool encoder) const = 0;
  virtual std::vector<TracedTensor> trace(const ScoreTensors& names, bool encoder) const = 0;
  virtual Session& session() const = 0;
  // Returns the number that is explained, or nothing if the model gives no such answer.
  virtual std::optional<double> answer(std::span<const Patch> patches) const = 0;
  // Moves what describes the input to the result.
  virtual void describe(ScoreExplanation& result) = 0;
  // Returns the texts of rows.
  virtual std::vector<std::string> names(bool encoder) const = 0;
};

[[noreturn]] void refuse_attention(std::string_view got) {
  refuse_option("attention", {"expected the name of one of the model's attentions, such as "
                              "encoder.layers.0.self_attn, got {}",
                              {describe(std::string(got))}});
}

// A text or a picture that an encoder reads.
class EncoderSubject final : public ScoreSubject {
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

  ExplainedStack stack(bool encoder) const override {
    if (encoder) return explained_stack(model_->encoder(), "encoder");
    if (!model_->decoder()) refuse_attention("one of a decoder");
    return explained_stack(*model_->decoder(), "decoder");
  }
  std::size_t rows(bool) const override { return input_.text.tokens(); }
  std::vector<TracedTensor> trace(const ScoreTensors& names, bool) const override {
    std::vector<std::string> all = names.queries;
    all.insert(all.end(), names.keys.begin(), names.keys.end());
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
  void describe(ScoreExplanation& result) override {
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
class WriterSubject final : public ScoreSubject {
 public:
  WriterSubject(NextSubject subject, const NextAttributionOptions& options)
      : subject_(std::move(subject)), lead_(subject_, options) {}

  ExplainedStack stack(bool encoder) const override {
    if (!encoder) return explained_stack(subject_.model->decoder(), "decoder");
    if (!subject_.encoded) refuse_attention("one of an encoder");
    return explained_stack(subject_.model.translator().encoder(), "encoder");
  }
  std::size_t rows(bool encoder) const override {
    return encoder ? subject_.encoded->sources.tokens() : subject_.decoded.size();
  }
  std::vector<TracedTensor> trace(const ScoreTensors& names, bool encoder) const override {
    const auto& [of_queries, of_keys] = names;
    const std::vector<std::string>& of_encoder = encoder ? of_queries : of_keys;
    std::vector<TracedTensor> tensors;
    if (!encoder) tensors = trace_next_token(subject_.model, subject_.text(), of_queries).trace;
    if (of_encoder.empty()) return tensors;
    const TracePlan plan(subject_.model.model, session(), {.names = of_encoder});
    TraceBudget().take(plan.numbers({.source = rows(true)}));
    Seq2Seq::Encoded encoded = subject_.model.translator().encode(subject_.encoded->sources,
                                                                  {.names = of_encoder}, session());
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
  void describe(ScoreExplanation& result) override {
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

// A request whose options were checked.
struct AskedScore {
  ExplainRequest request;
  NamedAttention attention = {};
  std::size_t head = 0, query = 0, key = 0;
  std::optional<std::size_t> rival = {};

  bool contrast() const { return request.options.contrast || rival; }
  bool cross() const { return attention.attention == AttentionSite::cross; }
  bool of_encoder() const { return attention.attention == AttentionSite::encoder; }
};

std::size_t expect_number(const char* option, const std::optional<std::size_t>& number) {
  if (!number) refuse_option(option, "missing");
  return *number;
}

AskedScore asked_score(const ExplainRequest& request) {
  const ChosenScore& chosen = request.options;
  AskedScore asked = {.request = request, .rival = chosen.rival};
  if (chosen.attention.empty()) refuse_option("attention", "missing");
  const auto found = read_attention_name(chosen.attention);
  if (!found) refuse_attention(chosen.attention);
  asked.attention = *found;
  asked.head = expect_number("head", request.options.head);
  asked.query = expect_number("query", chosen.query);
  asked.key = expect_number("key", chosen.key);
  if (chosen.everywhere && !request.options.effects) {
    refuse_option("everywhere", {"expected it only with {}", {Field("effects")}});
  }
  return asked;
}

// Explains one input. First the sums, then an effect at a time.
class ScoreSteps {
 public:
  ScoreSteps(std::unique_ptr<ScoreSubject> subject, const AskedScore& asked)
      : subject_(std::move(subject)), asked_(asked) {}

  bool step() {
    if (!reading_) {
      begin();
      return asked_.request.options.effects;
    }
    std::vector<ScorePart>& queries = result_.attribution.queries;
    std::vector<ScorePart>& keys = result_.attribution.keys;
    const bool of_query = measured_ < queries.size();
    measure(of_query ? Side::query : Side::key, of_query ? measured_ : measured_ - queries.size());
    return ++measured_ < queries.size() + keys.size();
  }
  ScoreExplanation take() { return std::move(result_); }

 private:
  void begin() {
    const bool encoder = asked_.of_encoder();
    const ExplainedStack own = subject_->stack(encoder);
    const AttendingStacks stacks = {own, asked_.cross() ? subject_->stack(true) : own};
    check(own);
    const ScorePlace place = {.attention = asked_.attention.attention,
                              .layer = asked_.attention.layer,
                              .head = asked_.head,
                              .query = asked_.query,
                              .key = asked_.key};
    trace_ = subject_->trace(score_tensors(stacks, place), encoder);
    reading_.emplace(stacks, place, trace_, subject_->session());
    const ChosenScore& options = asked_.request.options;
    result_.attribution = reading_->sums(options.reads);
    const Rivals rivals = {asked_.rival};
    if (asked_.contrast()) reading_->add_contrast(rivals, options.reads, result_.attribution);
    if (options.cells) reading_->add_cells(rivals, result_.attribution);
    for (const std::vector<ScorePart>* parts :
         {&result_.attribution.queries, &result_.attribution.keys}) {
      for (const ScorePart& part : *parts) expect_finite({{static_cast<float>(part.sum)}});
    }
    result_.attention = options.attention;
    result_.head = asked_.head;
    result_.query = asked_.query;
    result_.key = asked_.key;
    result_.query_tokens = subject_->names(encoder);
    result_.key_tokens = subject_->names(encoder || asked_.cross());
    subject_->describe(result_);
    if (asked_.request.options.effects) {
      result_.value = subject_->answer({});
    } else {
      result_.label.reset();
      result_.token.reset();
      result_.against.reset();
    }
  }

  void check(const ExplainedStack& of) const {
    const auto& [site, layer] = asked_.attention;
    const StackConfig& config = of.stack.config();
    if (layer >= config.layers.size()) refuse_attention(asked_.request.options.attention);
    const Block& block = of.stack.block(layer);
    if (asked_.cross() && !block.attends()) refuse_attention(asked_.request.options.attention);
    if (!asked_.cross() && config.recurrent()) {
      throw_error(ErrorCode::unsupported,
                  "score: expected softmax attention, got a recurrent unit");
    }
    const Attention& attention = asked_.cross() ? block.encoder_attn() : block.self_attn();
    if (!attention.has_scores()) {
      throw_error(ErrorCode::unsupported,
                  "score: expected softmax attention, got linear attention, which has no scores");
    }
    const std::size_t queries = subject_->rows(asked_.of_encoder()),
                      keys = subject_->rows(asked_.of_encoder() || asked_.cross());
    expect_below("head", "one of the attention's heads", asked_.head, config.n_heads());
    expect_below("query", "one of the rows", asked_.query, queries);
    expect_below("key", "one of the rows", asked_.key, keys);
    if (asked_.rival) expect_below("rival", "one of the rows", *asked_.rival, keys);
  }

  void measure(Side side, std::size_t part) {
    if (!vectors_ || vectors_side_ != side) {
      vectors_ = reading_->vectors(side, asked_.request.options.everywhere);
      vectors_side_ = side;
    }
    const ScoreReading::Removal removal = reading_->remove(side, *vectors_, part);
    ScorePart& to =
        (side == Side::query ? result_.attribution.queries : result_.attribution.keys)[part];
    to.weight = removal.weight;
    if (!result_.value) return;
    to.effect = static_cast<float>(*result_.value - *subject_->answer({&removal.patch, 1}));
  }

  std::unique_ptr<ScoreSubject> subject_;
  const AskedScore& asked_;
  std::vector<TracedTensor> trace_;
  std::optional<ScoreReading> reading_;
  std::optional<ScoreReading::Vectors> vectors_;
  Side vectors_side_ = Side::query;
  std::size_t measured_ = 0;
  ScoreExplanation result_;
};

// Reads an input of one task.
class ScoreReader {
 public:
  ScoreReader(Pipeline& pipeline, const AskedScore& asked) : pipeline_(pipeline), asked_(asked) {
    const Task task = pipeline.config().task;
    const ExplainOptions& options = asked.request.options;
    if (pipeline.compute() != Compute::f32) {
      throw_error(ErrorCode::unsupported,
                  {"score: expected compute f32, got {}", {to_string(pipeline.compute())}});
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
    if (writes(task) && task != Task::text_generation && !asked.of_encoder() &&
        options.position.value_or(asked.query) < asked.query) {
      refuse_option("position", {"expected at least {}, as the query is that row, got {}",
                                 {asked.query, *options.position}});
    }
  }

  std::unique_ptr<ScoreSubject> read(const TextInput& text) const {
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

  std::unique_ptr<ScoreSubject> read(const Picture& picture) const {
    ImageOptions options;
    options.interpolate = asked_.request.options.interpolate;
    options.size = asked_.request.options.size;
    return classified(explainer_->read(picture, options));
  }

 private:
  std::unique_ptr<ScoreSubject> classified(ExplainInput input) const {
    std::vector<InputToken> tokens = explainer_->tokens_of(input);
    const bool labels = !explainer_->labels().empty();  // otherwise only weights are measured
    return std::make_unique<EncoderSubject>(
        static_cast<EncoderPipeline&>(pipeline_).model(), std::move(input), std::move(tokens),
        labels ? &*explainer_ : nullptr, asked_.request.options.label);
  }

  std::unique_ptr<ScoreSubject> read_to_write(std::string_view text) const {
    const ExplainOptions& options = asked_.request.options;
    TranslatedPlace place = place_;
    if (!options.position && !asked_.of_encoder()) {
      place.position = std::max(place.position, asked_.query);
    }
    try {
      return std::make_unique<WriterSubject>(read_to_next(pipeline_, text, place),
                                             next_attribution_options(asked_.request));
    } catch (const Error& error) {
      if (options.position || !std::string_view(error.what()).starts_with("position: ")) throw;
      refuse_option("query",
                    {"expected one of the rows that the decoder reads, got {}", {asked_.query}});
    }
  }

  Pipeline& pipeline_;
  const AskedScore& asked_;
  std::optional<ClassifierExplainer> explainer_;
  TranslatedPlace place_;  // of a model that writes
};

class ScoreJob final : public TypedJob<ScoreExplanation> {
 public:
  ScoreJob(Pipeline& pipeline, const TaskInputs& inputs, const ExplainRequest& request)
      : asked_(asked_score(request)), reader_(pipeline, asked_) {
    check_ranges(request);
    if (reads_pictures(pipeline.config())) {
      const std::span pictures = inputs_of<Picture>(inputs);
      pictures_.assign(pictures.begin(), pictures.end());
    } else {
      const std::span texts = inputs_of<TextInput>(inputs);
      texts_ = std::vector<OwnedText>(texts.begin(), texts.end());
      if (writes(pipeline.config().task)) single_texts(texts);  // refuses pairs
    }
  }
  ScoreJob(const ScoreJob&) = delete;  // the reader refers to the request
  ScoreJob& operator=(const ScoreJob&) = delete;

  bool step() override {
    const std::size_t inputs = texts_.size() + pictures_.size(), index = results_.size();
    if (index == inputs) return false;
    try {
      if (!steps_) {
        steps_ =
            std::make_unique<ScoreSteps>(pictures_.empty() ? reader_.read(texts_[index].input())
                                                           : reader_.read(pictures_[index]),
                                         asked_);
      }
      if (steps_->step()) return true;
      results_.emplace_back(steps_->take());
    } catch (const Error& error) {
      results_.emplace_back(error);
    }
    steps_.reset();
    return results_.size() < inputs;
  }
  Results<ScoreExplanation> take() override { return std::move(results_); }

 private:
  void write_fields(ResultWriter& visit, ScoreExplanation& result) override {
    visit("method", asked_.request.method->name);
    ReadBefore& before = result.before;
    if (before.sentence) {
      visit("sentence", asked_.request.options.sentence);
      sentence_fields(visit, *before.sentence);
    } else if (result.grid) {
      visit("grid", *result.grid);
      visit("region", result.region);
    } else {
      visit("tokens", before.tokens);
      visit("clipped", before.clipped);
    }
    visit("attention", result.attention);
    visit("head", result.head);
    visit("query", result.query);
    visit("key", result.key);
    if (!result.grid) {
      visit("queryTokens", result.query_tokens);
      visit("keyTokens", result.key_tokens);
    }
    if (result.value) {
      visit("label", result.label);
      if (result.token) visit("token", *result.token, about_explained_token);
      if (result.against) visit("against", *result.against, about_compared_token);
      visit("value", single(*result.value));
    }
    fields(visit, result.attribution);
  }

  AskedScore asked_;
  ScoreReader reader_;
  std::vector<OwnedText> texts_;
  std::vector<Picture> pictures_;
  std::unique_ptr<ScoreSteps> steps_;
  Results<ScoreExplanation> results_;
};

}  // namespace

std::unique_ptr<TypedJob<ScoreExplanation>> begin_score_explanation(Pipeline& pipeline,
                                                                    const TaskInputs& inputs,
                                                                    const ExplainRequest& request) {
  return std::make_unique<ScoreJob>(pipeline, inputs, request);
}

}  // namespace glassformer
