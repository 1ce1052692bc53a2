#include "tasks/explain/next/next_gradients.hpp"

#include <algorithm>
#include <utility>

#include "explain/next_gradients.hpp"
#include "run/trace/trace_plan.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/explain/explanation_job.hpp"
#include "tasks/explain/next/next_circuit.hpp"
#include "tasks/limits.hpp"

namespace glassformer {
namespace {

// Returns the tokens that stand for a text: special tokens do not, except the unknown token.
std::vector<std::size_t> tokens_with_text(std::span<const std::int32_t> ids,
                                          const Tokenizer& tokenizer) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!tokenizer.is_control(ids[i]) || ids[i] == tokenizer.unk_id()) places.push_back(i);
  }
  return places;
}

class NextGradientsSteps final : public NextSteps {
 public:
  NextGradientsSteps(Pipeline& pipeline, const TextInput& text, const AskedNext& asked)
      : pipeline_(pipeline),
        subject_(read_to_next(pipeline, text.text, asked.place)),
        position_(subject_.before.sentence ? subject_.decoded.size() - 1 : asked.place.position),
        request_(asked.request),
        lead_(subject_, asked.tokens) {}
  NextGradientsSteps(const NextGradientsSteps&) = delete;  // the lead refers to the subject
  NextGradientsSteps& operator=(const NextGradientsSteps&) = delete;

  bool step() override {
    if (sum_) return sum_->step();
    if (test_) return test_->step();
    if (graph_) return graph_->step();
    if (zeroing_) return zeroing_->step();
    if (request_.is("gradients")) {
      part_ = lead_.gradients(request_.options.names, request_.options.patches);
    } else if (request_.is("relevance")) {
      part_ = lead_.relevance();
    } else if (request_.is("gradient_times_input")) {
      part_ = lead_.gradient_times_input();
    } else if (request_.is("attn_lrp")) {
      part_ = lead_.propagated(BackwardRules::attn_lrp);
    } else if (request_.is("cp_lrp")) {
      part_ = lead_.propagated(BackwardRules::cp_lrp);
    } else if (request_.is("attribution_graph")) {
      graph_ = lead_.attribution_graph(pipeline_.dictionaries(), request_.options);
    } else if (request_.is("value_zeroing")) {
      zeroing_.emplace(lead_.value_zeroing());
    } else if (request_.is("faithfulness")) {
      test_.emplace(lead_.faithfulness(request_.options, request_.options.seed));
    } else {
      sum_ = lead_.integrated_gradients(request_.options.baseline_token);
    }
    return sum_ || test_ || graph_ || zeroing_;
  }

  NextGradients take() override {
    if (sum_) part_ = sum_->take();
    if (test_) part_ = WordFaithfulness{test_->take(), lead_.parts()};
    if (graph_) part_ = graph_->take();
    if (zeroing_) part_ = zeroing_->take();
    NextGradients result = {.position = position_,
                            .token = lead_.token(),
                            .against = lead_.against(),
                            .part = std::move(part_)};
    result.rows = subject_.decoded_texts();
    for (std::string& text : subject_.encoded_texts()) result.rows.push_back(std::move(text));
    result.before = std::move(subject_.before);
    return result;
  }

 private:
  const Pipeline& pipeline_;
  NextSubject subject_;
  std::size_t position_;
  const ExplainRequest& request_;
  NextLead lead_;
  std::unique_ptr<AttributionGraphSearch> graph_;
  std::optional<IntegratedGradientsSum> sum_;
  std::optional<FaithfulnessTest> test_;
  std::optional<NextValueZeroing> zeroing_;
  decltype(NextGradients::part) part_;
};

class NextGradientsJob final : public TypedJob<NextGradients> {
 public:
  NextGradientsJob(Pipeline& pipeline, std::span<const TextInput> texts,
                   const ExplainRequest& request)
      : pipeline_(pipeline), asked_{.request = request}, texts_(texts.begin(), texts.end()) {
    if (!request.is("circuit")) single_texts(texts);  // refuses pairs
    asked_.place = asked_place(pipeline, request.options);
    if (request.is("gradients") && request.options.names.empty()) {
      refuse_option("names", "expected names of tensors, got none");
    }
    check_ranges(request);
    if (request.is("attribution_graph")) pipeline.dictionaries();  // refuses to do without
    if (request.method->gradients || request.is("circuit")) expect_gradients(pipeline.compute());
    if (request.is("faithfulness")) expect_tested(request.options);
    asked_.tokens = next_attribution_options(request);
  }

  bool step() override {
    if (results_.size() == texts_.size()) return false;
    try {
      const TextInput text = texts_[results_.size()].input();
      if (!steps_) steps_ = begin(text);
      if (steps_->step()) return true;
      results_.emplace_back(steps_->take());
    } catch (const Error& error) {
      results_.emplace_back(error);
    }
    steps_.reset();
    return results_.size() < texts_.size();
  }
  Results<NextGradients> take() override { return std::move(results_); }

 private:
  void write_fields(ResultWriter& visit, NextGradients& result) override {
    visit("method", asked_.request.method->name);
    ReadBefore& before = result.before;
    if (before.sentence) {
      visit("sentence", asked_.place.sentence);
      sentence_fields(visit, *before.sentence);
    } else {
      visit("tokens", before.tokens);
      visit("clipped", before.clipped);
    }
    if (before.answer) visit("answer", named(*before.answer));
    if (before.sentence || before.answer) visit("position", result.position);
    visit("token", result.token, about_explained_token);
    visit("against", result.against, about_compared_token);
    std::visit([&](auto& part) { part_fields(visit, part); }, result.part);
  }

  std::unique_ptr<NextSteps> begin(const TextInput& text) const {
    if (asked_.request.is("circuit")) return begin_next_circuit(pipeline_, text, asked_);
    return std::make_unique<NextGradientsSteps>(pipeline_, text, asked_);
  }

  NamedTokens named(const std::vector<std::int32_t>& ids) const {
    const Tokenizer& tokenizer = *pipeline_.vocabulary();
    NamedTokens answer = {.text = tokenizer.decode(ids)};
    for (const std::int32_t id : ids) answer.tokens.push_back({id, tokenizer.display_text(id)});
    return answer;
  }

  static void part_fields(ResultWriter& visit, Gradients& part) {
    visit.gradients(std::move(part.tensors));
  }
  static void part_fields(ResultWriter& visit, GradientScores& part) { fields(visit, part); }
  static void part_fields(ResultWriter& visit, IntegratedGradients& part) { fields(visit, part); }
  static void part_fields(ResultWriter& visit, Relevance& part) { fields(visit, part); }
  static void part_fields(ResultWriter& visit, PropagatedRelevance& part) { fields(visit, part); }
  static void part_fields(ResultWriter& visit, WordFaithfulness& part) { fields(visit, part); }
  static void part_fields(ResultWriter& visit, PairCircuit& part) { fields(visit, part); }
  static void part_fields(ResultWriter& visit, AttributionGraph& part) { fields(visit, part); }
  static void part_fields(ResultWriter& visit, ZeroedValues& part) { fields(visit, part); }

  Pipeline& pipeline_;
  AskedNext asked_;
  std::vector<OwnedText> texts_;
  std::unique_ptr<NextSteps> steps_;
  Results<NextGradients> results_;
};

}  // namespace

NextLead::NextLead(const NextSubject& subject, NextAttributionOptions options) : subject_(subject) {
  subject.attributions.expect_tokens(options);
  if (subject.own && !options.token && options.against != *subject.own) options.token = subject.own;
  const NextTokenRun run = run_to_next_token(subject.model, subject.text(), {});
  chosen_ = subject.attributions.choose(run.logits, options);
  contrast_ = subject.attributions.contrast_of(chosen_);
}

Gradients NextLead::gradients(const std::vector<std::string>& names,
                              const std::vector<Patch>& patches) const {
  const TracePlan plan(subject_.model.model, subject_.model.session,
                       {.gradients = names, .patches = patches});
  const std::size_t source = subject_.encoded ? subject_.encoded->sources.tokens() : 0;
  const TextLengths lengths = {.source = source, .target = subject_.decoded.size()};
  plan.expect_fit(lengths);
  TraceBudget().take(saturating_product({2, plan.numbers(lengths)}));
  return next_token_gradients(subject_.model, subject_.text(), contrast_, names, patches);
}

GradientScores NextLead::gradient_times_input() const {
  return {propagated(BackwardRules::gradients).scores};
}

PropagatedRelevance NextLead::propagated(BackwardRules rules) const {
  return next_gradient_times_input(subject_.model, subject_.text(), contrast_, rules);
}

Relevance NextLead::relevance() const {
  const StackConfig& config = subject_.model->decoder().stack().config();
  const std::size_t tokens =
      subject_.decoded.size() + (subject_.encoded ? subject_.encoded->sources.tokens() : 0);
  TraceBudget().take(
      saturating_product({2, config.layers.size(), config.n_heads(), tokens, tokens}));
  return next_relevance(subject_.model, subject_.text(), contrast_);
}

NextValueZeroing NextLead::value_zeroing() const {
  const std::size_t rows = subject_.decoded.size(), columns = subject_.text().tokens();
  const std::size_t sources = columns - rows;
  std::uint64_t numbers =
      saturating_product({subject_.model->decoder().stack().config().layers.size(), rows, columns});
  if (subject_.encoded) {
    const StackConfig& config = subject_.model.translator().encoder().stack().config();
    numbers += saturating_product({config.layers.size(), sources, sources});
  }
  TraceBudget().take(numbers);
  return {subject_.model, subject_.text()};
}

std::unique_ptr<AttributionGraphSearch> NextLead::attribution_graph(
    const DictionarySet& dictionaries, const ChosenGraph& options) const {
  // What each of the explained features adds up from.
  std::uint64_t parts = subject_.text().tokens();
  for (std::size_t i = 0; i < dictionaries.size(); ++i) {
    parts += saturating_product(
        {subject_.text().tokens(), dictionaries[i].config().active + std::size_t{1}});
  }
  TraceBudget().take(saturating_product({options.feature_count + 1, parts}));
  return std::make_unique<AttributionGraphSearch>(
      subject_.model, subject_.text(), contrast_, dictionaries,
      AttributionGraphOptions{.features = options.feature_count,
                              .nodes = options.node_share,
                              .edges = options.edge_share,
                              .checked = options.checked_edges});
}

std::vector<std::vector<std::size_t>> NextLead::parts() const {
  std::vector<std::vector<std::size_t>> parts;
  for (const std::size_t token :
       tokens_with_text(subject_.decoded, subject_.attributions.tokenizer())) {
    if (token + 1 < subject_.decoded.size()) parts.push_back({token});
  }
  if (!subject_.encoded) return parts;
  for (const std::size_t token :
       tokens_with_text(subject_.encoded->sources.ids(), subject_.source_tokenizer)) {
    parts.push_back({subject_.decoded.size() + token});
  }
  return parts;
}

std::vector<float> NextLead::token_scores(const std::string& method) const {
  if (method == "rollout") return next_rollout(subject_.model, subject_.text());
  if (method == "gradient_times_input") return gradient_times_input().scores;
  if (method == "relevance") return relevance().scores;
  if (method == "attn_lrp") return propagated(BackwardRules::attn_lrp).scores;
  if (method == "cp_lrp") return propagated(BackwardRules::cp_lrp).scores;
  if (method == "value_zeroing") {
    NextValueZeroing zeroing = value_zeroing();
    while (zeroing.step()) {
    }
    return zeroing.take().scores;
  }
  if (method == "integrated_gradients") {
    IntegratedGradientsSum sum = integrated_gradients();
    while (sum.step()) {
    }
    return sum.take().scores;
  }
  if (method == "direct_logit_attribution") {
    const NextAttributionOptions tokens = {.token = token().id, .against = against().id};
    return read_scores(subject_.attributions.sum(subject_.text(), tokens).attribution);
  }
  refuse_option("of", {"expected a method that scores the tokens before a next token, got {}",
                       {describe(method)}});
}

FaithfulnessTest NextLead::faithfulness(const TestedScores& test, std::uint32_t seed) const {
  std::vector<float> tokens = test.scores ? *test.scores : token_scores(test.of);
  expect_scores(tokens, subject_.text().tokens());
  FaithfulnessTest::Ranking ranking = {.parts = parts(), .scores = {}};
  for (const std::vector<std::size_t>& part : ranking.parts) {
    ranking.scores.push_back(tokens[part.front()]);
  }
  ranking.tokens = std::move(tokens);
  return {masked_runs(subject_.model, subject_.text(), contrast_), std::move(ranking), test.orders,
          seed};
}

IntegratedGradientsSum NextLead::integrated_gradients(std::optional<std::size_t> baseline) const {
  MovedTokens moved = {
      .decoder = tokens_with_text(subject_.decoded, subject_.attributions.tokenizer()),
      .encoder = {},
      .baseline = {}};
  if (subject_.encoded) {
    moved.encoder = tokens_with_text(subject_.encoded->sources.ids(), subject_.source_tokenizer);
  }
  // The encoder may have a vocabulary of its own.
  const std::size_t tokens =
      std::min(subject_.attributions.vocabulary(), subject_.source_tokenizer.size());
  expect_below("baseline_token", "the id of a token", baseline.value_or(0), tokens);
  if (baseline) moved.baseline = static_cast<std::int32_t>(*baseline);
  return integrate_gradients(subject_.model, subject_.text(), std::move(moved), contrast_);
}

bool asks_for_next_gradients(const Pipeline& pipeline, const ExplainRequest& request) {
  return (request.method->gradients || request.is("faithfulness") || request.is("circuit") ||
          request.is("value_zeroing")) &&
         writes(pipeline.config().task);
}

std::unique_ptr<TypedJob<NextGradients>> begin_next_gradients(Pipeline& pipeline,
                                                              std::span<const TextInput> texts,
                                                              const ExplainRequest& request) {
  return std::make_unique<NextGradientsJob>(pipeline, texts, request);
}

}  // namespace glassformer
