#include "glassformer/explainer.hpp"

#include "tasks/explain/explain.hpp"
#include "tasks/explain/next/next_gradients.hpp"
#include "tasks/explain/next/next_patching.hpp"
#include "tasks/load.hpp"

namespace glassformer {

Explainer Explainer::load(const std::filesystem::path& folder, const LoadOptions& options) {
  return Explainer(load_pipeline<ClassifyPipeline>(folder, options));
}

Explainer::Explainer(std::unique_ptr<ClassifyPipeline> pipeline) : pipeline_(std::move(pipeline)) {}
Explainer::Explainer(Explainer&&) noexcept = default;
Explainer& Explainer::operator=(Explainer&&) noexcept = default;
Explainer::~Explainer() = default;

Explanation<Rollout> Explainer::rollout(const TextInput& text) {
  const ClassifierExplainer explainer(*pipeline_);
  const ExplainInput input = explainer.read(text);
  return explainer.explain(input, explainer.answer(input), explainer.rollout(input));
}

Explanation<ValueNorms> Explainer::value_norms(const TextInput& text) {
  const ClassifierExplainer explainer(*pipeline_);
  const ExplainInput input = explainer.read(text);
  return explainer.explain(input, explainer.answer(input), explainer.value_norms(input));
}

Explanation<ZeroedValues> Explainer::value_zeroing(const TextInput& text) {
  const ClassifierExplainer explainer(*pipeline_);
  const ExplainInput input = explainer.read(text);
  ValueZeroing zeroing = explainer.value_zeroing(input);
  while (zeroing.step()) {
  }
  return explainer.explain(input, explainer.answer(input), explainer.scored(zeroing.take(), input));
}

Explanation<GradientScores> Explainer::gradient_times_input(
    const TextInput& text, const std::optional<std::string>& label) {
  const ClassifierExplainer explainer(*pipeline_);
  const ExplainInput input = explainer.read(text);
  const std::size_t chosen = explainer.label_of(input, label);
  return explainer.explain(input, chosen, explainer.gradient_times_input(input, chosen));
}

Explanation<IntegratedGradients> Explainer::integrated_gradients(
    const TextInput& text, const std::optional<std::string>& label) {
  const ClassifierExplainer explainer(*pipeline_);
  const ExplainInput input = explainer.read(text);
  const std::size_t chosen = explainer.label_of(input, label);
  IntegratedGradientsSum sum = explainer.integrated_gradients(input, chosen);
  while (sum.step()) {
  }
  return explainer.explain(input, chosen, sum.take());
}

Explanation<Relevance> Explainer::relevance(const TextInput& text,
                                            const std::optional<std::string>& label) {
  const ClassifierExplainer explainer(*pipeline_);
  const ExplainInput input = explainer.read(text);
  const std::size_t chosen = explainer.label_of(input, label);
  return explainer.explain(input, chosen, explainer.relevance(input, chosen));
}

namespace {

Explanation<PropagatedRelevance> propagated(ClassifyPipeline& pipeline, const TextInput& text,
                                            const std::optional<std::string>& label,
                                            BackwardRules rules) {
  const ClassifierExplainer explainer(pipeline);
  const ExplainInput input = explainer.read(text);
  const std::size_t chosen = explainer.label_of(input, label);
  return explainer.explain(input, chosen, explainer.propagated(input, chosen, rules));
}

}  // namespace

Explanation<PropagatedRelevance> Explainer::attn_lrp(const TextInput& text,
                                                     const std::optional<std::string>& label) {
  return propagated(*pipeline_, text, label, BackwardRules::attn_lrp);
}

Explanation<PropagatedRelevance> Explainer::cp_lrp(const TextInput& text,
                                                   const std::optional<std::string>& label) {
  return propagated(*pipeline_, text, label, BackwardRules::cp_lrp);
}

Explanation<Lens> Explainer::lens(const TextInput& text) {
  const ClassifierExplainer explainer(*pipeline_);
  const ExplainInput input = explainer.read(text);
  return explainer.explain(input, explainer.answer(input), explainer.lens(input));
}

Explanation<LogitAttribution> Explainer::direct_logit_attribution(
    const TextInput& text, const LogitAttributionOptions& options) {
  const ClassifierExplainer explainer(*pipeline_);
  const ExplainInput input = explainer.read(text);
  return explainer.explain(input, explainer.label_of(input, options.label),
                           explainer.direct_logit_attribution(input, options));
}

Explanation<PatchingResult> Explainer::activation_patching(
    const TextInput& base, const TextInput& donor, const ActivationPatchingOptions& options) {
  const ClassifierExplainer explainer(*pipeline_);
  const ExplainInput read_base = explainer.read(base), read_donor = explainer.read(donor);
  ActivationPatching patching = explainer.activation_patching(read_base, read_donor, options);
  while (patching.step()) {
  }
  const PatchingTable& table = patching.table();
  return explainer.explain(read_base, table.label,
                           explainer.describe(table, read_base, read_donor));
}

Explanation<Faithfulness> Explainer::faithfulness(const TextInput& text,
                                                  const FaithfulnessOptions& options) {
  const ClassifierExplainer explainer(*pipeline_);
  const ExplainInput input = explainer.read(text);
  FaithfulnessTest test = explainer.faithfulness(input, options);
  while (test.step()) {
  }
  return explainer.explain(input, explainer.label_of(input, options.label), test.take());
}

Explanation<CutEffects> Explainer::cut(const TextInput& text, std::span<const AttentionEdge> edges,
                                       Cut cut, const std::optional<std::string>& name) {
  const ClassifierExplainer explainer(*pipeline_);
  const ExplainInput input = explainer.read(text);
  const std::size_t label = explainer.label_of(input, name);
  return explainer.explain(input, label, explainer.cut(input, edges, cut, label));
}

namespace {

void take_circuit_options(const EdgeCircuitOptions& options, ExplainOptions& asked) {
  static_cast<ChosenEdges&>(asked) = {.more_pairs = {},
                                      .metric = options.metric,
                                      .ablation = options.ablation,
                                      .steps = options.steps,
                                      .edge_count = options.edge_count,
                                      .cut_edges = options.cut,
                                      .random_circuits = options.orders};
  for (const EdgeCircuitOptions::Pair& pair : options.more_pairs) {
    CircuitPair& more = asked.more_pairs.emplace_back();
    more.text = pair.clean;
    more.pair = pair.corrupt;
    if (pair.token) more.token = static_cast<std::size_t>(*pair.token);
    if (pair.against) more.against = static_cast<std::size_t>(*pair.against);
  }
  asked.least = options.least;
  asked.seed = options.seed;
}

}  // namespace

Explanation<EdgeCircuit> Explainer::circuit(const TextInput& clean, const TextInput& corrupt,
                                            const EdgeCircuitOptions& options,
                                            const std::optional<std::string>& label) {
  ExplainRequest request = request_for(*pipeline_, "circuit");
  take_circuit_options(options, request.options);
  request.options.label = label;
  check_ranges(request);
  const TextInput pair = {clean.alone(), corrupt.alone()};
  const auto job = begin_explanation(*pipeline_, std::span(&pair, 1), request);
  ExplainedInput found = only(run_all(*job));
  return {std::move(found.tokens), found.clipped, *found.label,
          std::get<PairCircuit>(std::move(found.part)).circuit};
}

Explanation<Circuit> Explainer::circuit(const TextInput& text, float least) {
  const ClassifierExplainer explainer(*pipeline_);
  const ExplainInput input = explainer.read(text);
  CircuitSearch search = explainer.circuit(input, least);
  while (search.step()) {
  }
  Circuit circuit = search.circuit();
  const std::size_t label = circuit.label;
  return explainer.explain(input, label, std::move(circuit));
}

NextTokenExplainer NextTokenExplainer::load(const std::filesystem::path& folder,
                                            const LoadOptions& options) {
  return NextTokenExplainer(load_pipeline<GeneratePipeline>(folder, options));
}

NextTokenExplainer::NextTokenExplainer(std::unique_ptr<GeneratePipeline> pipeline)
    : pipeline_(std::move(pipeline)) {
  static_cast<void>(GenerationExplainer(*pipeline_));  // throws if it is not supported
}
NextTokenExplainer::NextTokenExplainer(NextTokenExplainer&&) noexcept = default;
NextTokenExplainer& NextTokenExplainer::operator=(NextTokenExplainer&&) noexcept = default;
NextTokenExplainer::~NextTokenExplainer() = default;

namespace {

// Returns the explanation that `method` computes for a text.
template <class Method>
auto explain_next(GeneratePipeline& pipeline, std::string_view text, const Method& method) {
  const GenerationExplainer explainer(pipeline);
  const GenerationInput input = explainer.read(text);
  return Explanation{explainer.tokens_of(input), input.clipped, {}, method(explainer, input)};
}

// Returns the explanation of a lead that `method` computes.
template <class Method>
auto explain_lead(GeneratePipeline& pipeline, std::string_view text, const NextPairOptions& options,
                  const Method& method) {
  const NextSubject subject = read_to_next(pipeline, text, {});
  const NextLead lead(subject, {.token = options.token, .against = options.against});
  return Explanation{subject.before.tokens, subject.before.clipped, {}, method(lead)};
}

Explanation<NextPropagatedRelevance> propagated(GeneratePipeline& pipeline, std::string_view text,
                                                const NextPairOptions& options,
                                                BackwardRules rules) {
  return explain_lead(pipeline, text, options, [rules](const NextLead& lead) {
    return NextPropagatedRelevance{lead.token(), lead.against(), lead.propagated(rules)};
  });
}

}  // namespace

Explanation<Rollout> NextTokenExplainer::rollout(std::string_view text) {
  return explain_next(*pipeline_, text, [](const auto& explainer, const auto& input) {
    return explainer.rollout(input);
  });
}

Explanation<ValueNorms> NextTokenExplainer::value_norms(std::string_view text) {
  return explain_next(*pipeline_, text, [](const auto& explainer, const auto& input) {
    return explainer.value_norms(input);
  });
}

Explanation<NextLens> NextTokenExplainer::lens(std::string_view text, std::size_t words) {
  return explain_next(*pipeline_, text, [&](const auto& explainer, const auto& input) {
    return explainer.lens(input, words);
  });
}

Explanation<NextLogitAttribution> NextTokenExplainer::direct_logit_attribution(
    std::string_view text, const NextAttributionOptions& options) {
  return explain_next(*pipeline_, text, [&](const auto& explainer, const auto& input) {
    return explainer.direct_logit_attribution(input, options);
  });
}

Explanation<NextPatchingResult> NextTokenExplainer::activation_patching(
    std::string_view base, std::string_view donor, const NextPairOptions& options) {
  PatchedPair pair =
      GenerationExplainer(*pipeline_)
          .patched_pair(base, donor, {.token = options.token, .against = options.against});
  while (pair.token && pair.patching.step()) {
  }
  return {pair.tokens, pair.clipped, {}, result_of(pair)};
}

Explanation<NextGradientTensors> NextTokenExplainer::gradients(
    std::string_view text, const std::vector<std::string>& names, const NextPairOptions& options) {
  return explain_lead(*pipeline_, text, options, [&](const NextLead& lead) {
    return NextGradientTensors{lead.token(), lead.against(), lead.gradients(names).tensors};
  });
}

Explanation<NextGradientScores> NextTokenExplainer::gradient_times_input(
    std::string_view text, const NextPairOptions& options) {
  return explain_lead(*pipeline_, text, options, [](const NextLead& lead) {
    return NextGradientScores{lead.token(), lead.against(), lead.gradient_times_input().scores};
  });
}

Explanation<NextIntegratedGradients> NextTokenExplainer::integrated_gradients(
    std::string_view text, const NextPairOptions& options, std::optional<std::size_t> baseline) {
  return explain_lead(*pipeline_, text, options, [&](const NextLead& lead) {
    IntegratedGradientsSum sum = lead.integrated_gradients(baseline);
    while (sum.step()) {
    }
    return NextIntegratedGradients{lead.token(), lead.against(), sum.take()};
  });
}

Explanation<NextRelevance> NextTokenExplainer::relevance(std::string_view text,
                                                         const NextPairOptions& options) {
  return explain_lead(*pipeline_, text, options, [](const NextLead& lead) {
    return NextRelevance{lead.token(), lead.against(), lead.relevance()};
  });
}

Explanation<NextZeroedValues> NextTokenExplainer::value_zeroing(std::string_view text,
                                                                const NextPairOptions& options) {
  return explain_lead(*pipeline_, text, options, [](const NextLead& lead) {
    NextValueZeroing zeroing = lead.value_zeroing();
    while (zeroing.step()) {
    }
    return NextZeroedValues{lead.token(), lead.against(), zeroing.take()};
  });
}

Explanation<NextPropagatedRelevance> NextTokenExplainer::attn_lrp(std::string_view text,
                                                                  const NextPairOptions& options) {
  return propagated(*pipeline_, text, options, BackwardRules::attn_lrp);
}

Explanation<NextPropagatedRelevance> NextTokenExplainer::cp_lrp(std::string_view text,
                                                                const NextPairOptions& options) {
  return propagated(*pipeline_, text, options, BackwardRules::cp_lrp);
}

Explanation<NextFaithfulness> NextTokenExplainer::faithfulness(std::string_view text,
                                                               const FaithfulnessOptions& options,
                                                               const NextPairOptions& pair) {
  TestedScores tested = {.of = options.of, .orders = options.orders};
  if (!options.scores.empty()) tested.scores = options.scores;
  expect_tested(tested);
  return explain_lead(*pipeline_, text, pair, [&](const NextLead& lead) {
    FaithfulnessTest test = lead.faithfulness(tested, options.seed);
    while (test.step()) {
    }
    return NextFaithfulness{lead.token(), lead.against(), test.take()};
  });
}

Explanation<NextEdgeCircuit> NextTokenExplainer::circuit(std::string_view clean,
                                                         std::string_view corrupt,
                                                         const EdgeCircuitOptions& options,
                                                         const NextPairOptions& pair) {
  ExplainRequest request = request_for(*pipeline_, "circuit");
  ExplainOptions& asked = request.options;
  take_circuit_options(options, asked);
  if (pair.token) asked.token = static_cast<std::size_t>(*pair.token);
  if (pair.against) asked.against = static_cast<std::size_t>(*pair.against);
  const TextInput texts = {clean, corrupt};
  const auto job = begin_next_gradients(*pipeline_, std::span(&texts, 1), request);
  NextGradients found = only(run_all(*job));
  return {std::move(found.before.tokens),
          found.before.clipped,
          {},
          {found.token, found.against, std::get<PairCircuit>(std::move(found.part)).circuit}};
}

void NextTokenExplainer::load_dictionaries(const std::filesystem::path& folder) {
  glassformer::load_dictionaries(folder, *pipeline_);
}

Explanation<NextAttributionGraph> NextTokenExplainer::attribution_graph(
    std::string_view text, const AttributionGraphOptions& options, const NextPairOptions& pair) {
  const ChosenGraph chosen = {.feature_count = options.features,
                              .node_share = options.nodes,
                              .edge_share = options.edges,
                              .checked_edges = options.checked};
  return explain_lead(*pipeline_, text, pair, [&](const NextLead& lead) {
    const auto search = lead.attribution_graph(pipeline_->dictionaries(), chosen);
    while (search->step()) {
    }
    return NextAttributionGraph{lead.token(), lead.against(), search->take()};
  });
}

}  // namespace glassformer
