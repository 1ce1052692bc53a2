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

[[noreturn]] void refuse_attention(std::string_view got) {
  refuse_option("attention", {"expected the name of one of the model's attentions, such as "
                              "encoder.layers.0.self_attn, got {}",
                              {describe(std::string(got))}});
}

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
  ScoreSteps(std::unique_ptr<TracedSubject> subject, const AskedScore& asked)
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
    const ExplainedStack own = stack(encoder);
    const AttendingStacks stacks = {own, asked_.cross() ? stack(true) : own};
    check(own);
    const ScorePlace place = {.attention = asked_.attention.attention,
                              .layer = asked_.attention.layer,
                              .head = asked_.head,
                              .query = asked_.query,
                              .key = asked_.key};
    ScoreTensors names = score_tensors(stacks, place);
    StackTensors tensors = {std::move(names.queries), std::move(names.keys)};
    if (encoder) tensors.encoder = std::exchange(tensors.decoder, {});
    trace_ = subject_->trace(tensors);
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

  ExplainedStack stack(bool encoder) const {
    const auto found = subject_->stack(encoder);
    if (!found) refuse_attention(encoder ? "one of an encoder" : "one of a decoder");
    return *found;
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

  std::unique_ptr<TracedSubject> subject_;
  const AskedScore& asked_;
  std::vector<TracedTensor> trace_;
  std::optional<ScoreReading> reading_;
  std::optional<ScoreReading::Vectors> vectors_;
  Side vectors_side_ = Side::query;
  std::size_t measured_ = 0;
  ScoreExplanation result_;
};

class ScoreJob final : public SubjectJob<ScoreExplanation, ScoreSteps> {
 public:
  ScoreJob(Pipeline& pipeline, const TaskInputs& inputs, const ExplainRequest& request)
      : ScoreJob(pipeline, inputs, request, asked_score(request)) {}

 private:
  ScoreJob(Pipeline& pipeline, const TaskInputs& inputs, const ExplainRequest& request,
           const AskedScore& asked)
      : SubjectJob(pipeline, inputs, request, wanted(asked)), asked_(asked) {}

  static SubjectReader::Wanted wanted(const AskedScore& asked) {
    if (asked.of_encoder()) return {};
    return {.row = asked.query};
  }

  std::unique_ptr<ScoreSteps> begin(std::unique_ptr<TracedSubject> subject) const override {
    return std::make_unique<ScoreSteps>(std::move(subject), asked_);
  }

  void write_fields(ResultWriter& visit, ScoreExplanation& result) override {
    write_facts(visit, result);
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
};

}  // namespace

std::unique_ptr<TypedJob<ScoreExplanation>> begin_score_explanation(Pipeline& pipeline,
                                                                    const TaskInputs& inputs,
                                                                    const ExplainRequest& request) {
  return std::make_unique<ScoreJob>(pipeline, inputs, request);
}

}  // namespace glassformer
