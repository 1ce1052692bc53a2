#include "tasks/explain/explain.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "explain/contrast.hpp"
#include "explain/readings/direct_logit_attribution.hpp"
#include "explain/readings/head_loadings.hpp"
#include "explain/readings/lens.hpp"
#include "explain/readings/relevance.hpp"
#include "explain/readings/rollout.hpp"
#include "explain/readings/value_norms.hpp"
#include "explain/traced.hpp"
#include "tasks/explain/feature_explanation.hpp"
#include "tasks/explain/next/next_gradients.hpp"
#include "tasks/explain/score_explanation.hpp"
#include "tasks/generate/generate.hpp"
#include "tasks/limits.hpp"
#include "tasks/reading/input_tokens.hpp"
#include "tasks/translate/alignment.hpp"
#include "tasks/translate/translate.hpp"
#include "text/sentences.hpp"

namespace glassformer {
namespace {

constexpr std::size_t most_cells = 64;

// Appends the words and sentences of one text of an input. Its tokens have this kind.
void append_words(std::string_view text, TemplatePart::Kind kind, ExplainInput& read) {
  std::vector<TextRange> ranges;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < read.input.tokens.size(); ++i) {
    if (read.input.kinds[i] != kind) continue;
    ranges.push_back({read.input.tokens[i].start, read.input.tokens[i].end});
    places.push_back(i);
  }
  for (const Word& word : words_of(text, ranges)) {
    std::vector<std::size_t>& tokens = read.words.emplace_back();
    for (std::size_t i = word.first; i <= word.last; ++i) tokens.push_back(places[i]);
  }
  std::size_t token = 0;
  bool first = true;  // the first sentence includes the tokens before its first word
  for (const SentenceRange& sentence : split_sentences(text)) {
    while (!first && token < ranges.size() && ranges[token].end <= sentence.start16) ++token;
    first = false;
    if (token < ranges.size()) read.sentence_starts.push_back(places[token]);
  }
}

// Returns the tokens of an input for an alignment.
std::vector<AlignedToken> to_align(const ExplainInput& input) {
  std::vector<AlignedToken> tokens;
  for (std::size_t i = 0; i < input.text.tokens(); ++i) {
    tokens.push_back({input.text.ids[i], input.input.kinds[i] == TemplatePart::Kind::special});
  }
  for (const std::vector<std::size_t>& word : input.words) {
    for (std::size_t i = 1; i < word.size(); ++i) tokens[word[i]].starts_word = false;
  }
  return tokens;
}

Probability probability_of(Scoring scoring) {
  switch (scoring) {
    case Scoring::softmax:
      return Probability::softmax;
    case Scoring::sigmoid:
      return Probability::sigmoid;
    case Scoring::raw:
      break;
  }
  return Probability::none;
}

}  // namespace

ClassifierExplainer::ClassifierExplainer(MatchPipeline& pipeline, std::vector<std::string> labels)
    : pipeline_(pipeline), labels_(std::move(labels)) {}

ClassifierExplainer::ClassifierExplainer(EncoderPipeline& pipeline)
    : pipeline_(pipeline), labels_(pipeline.config().labels) {}

void ClassifierExplainer::expect_no_decoder(const char* method) const {
  if (!model()->decoder()) return;
  throw_error(ErrorCode::unsupported,
              {"{}: expected a classifier without a decoder, got one with a decoder", {method}});
}

ExplainInput ClassifierExplainer::read(const TextInput& text) const {
  ExplainInput read;
  read.input = static_cast<ClassifyPipeline&>(pipeline_).read(text, {})[0];
  read.text = explained_text(read.input);
  append_words(text.text, TemplatePart::Kind::first_text, read);
  if (text.pair) append_words(*text.pair, TemplatePart::Kind::second_text, read);
  return read;
}

ExplainInput ClassifierExplainer::read(const Picture& picture, const ImageOptions& options) const {
  ReadPicture prepared =
      read_picture(picture, pipeline_.config(), options.interpolate, options.size);
  ExplainInput read;
  read.input = std::move(prepared.input);
  read.text = explained_text(read.input);
  read.region = prepared.region;
  for (std::size_t i = prepared.grid.special.size(); i < prepared.grid.tokens(); ++i) {
    read.words.push_back({i});
  }
  read.grid = std::move(prepared.grid);
  return read;
}

std::vector<InputToken> ClassifierExplainer::tokens_of(const ExplainInput& input) const {
  if (input.grid) return {};
  std::vector<InputToken> tokens = input.input.pair
                                       ? pair_tokens(input.input, pipeline_.tokenizer())
                                       : input_tokens(input.input.tokens, pipeline_.tokenizer());
  if (decoder_rows(input) == 0) return tokens;
  const std::int32_t start = pipeline_.config().architecture.start_id;
  std::vector<InputToken> all = {{start, pipeline_.tokenizer().display_text(start), 0, 0}};
  all.insert(all.end(), tokens.begin(), tokens.end() - 1);
  all.insert(all.end(), tokens.begin(), tokens.end());
  return all;
}

std::size_t ClassifierExplainer::decoder_rows(const ExplainInput& input) const {
  return model()->decoder() ? input.text.tokens() : 0;
}

std::size_t ClassifierExplainer::find_label(const std::string& label) const {
  const auto found = std::ranges::find(labels_, label);
  if (found != labels_.end()) {
    const auto second = std::find(found + 1, labels_.end(), label);
    if (second != labels_.end()) {
      throw_error(ErrorCode::invalid_option,
                  {"label: expected the number of one of the labels \"{}\", such as {} or {}",
                   {label, found - labels_.begin(), second - labels_.begin()}});
    }
    return static_cast<std::size_t>(found - labels_.begin());
  }
  std::size_t number = 0;
  const char* end = label.data() + label.size();
  const auto [stop, failed] = std::from_chars(label.data(), end, number);
  if (failed == std::errc() && stop == end && number < labels_.size()) return number;
  std::string known;
  for (const std::string& name : labels_) known.append(known.empty() ? "" : ", ").append(name);
  throw_error(ErrorCode::invalid_option,
              {"label: expected one of {}, got \"{}\"", {shortened(known, 200), label}});
}

std::size_t ClassifierExplainer::answer(const ExplainInput& input) const {
  const Tensor logits = run_input(model(), input.text, {}).logits;
  expect_finite({logits.data(), logits.size()});
  return largest({logits.data(), logits.size()});
}

std::size_t ClassifierExplainer::label_of(const ExplainInput& input,
                                          const std::optional<std::string>& label) const {
  return label ? find_label(*label) : answer(input);
}

std::vector<float> ClassifierExplainer::pooling_of(const ExplainInput& input) const {
  std::vector<float> shares(input.text.tokens());
  Sequences text;
  text.add(shares.size());
  static_cast<const SequenceHead&>(model()->head()).pooling().weigh(text, 0, shares);
  return shares;
}

std::vector<TracedTensor> ClassifierExplainer::trace(const ExplainInput& input,
                                                     std::vector<std::string> names) const {
  const TracePlan plan(model().model, model().session, {.names = names});
  TraceBudget().take(plan.numbers({.source = input.text.tokens()}));
  return glassformer::trace(model(), input.text, std::move(names));
}

Stream ClassifierExplainer::stream(const ExplainInput& input) const {
  const ExplainedStack of = last_stack(model().model);
  const std::size_t layers = of.stack.config().layers.size();
  return stream_of(trace(input, stream_tensors(layers, of.name)), layers, of.name);
}

std::uint64_t ClassifierExplainer::attention_numbers(const ExplainInput& input) const {
  const StackConfig& config = pipeline_.config().encoder();
  const std::size_t tokens = input.text.tokens();
  std::size_t maps = config.layers.size();
  if (model()->decoder()) maps += 2 * pipeline_.config().decoder().layers.size();
  return saturating_product({maps, config.n_heads(), tokens, tokens});
}

Rollout ClassifierExplainer::rollout(const ExplainInput& input) const {
  expect_residuals(pipeline_.config().encoder(), "rollout");
  TraceBudget().take(attention_numbers(input));
  const auto output = run_input(model(), input.text, {.attention = true});
  expect_finite({output.logits.data(), output.logits.size()});
  Rollout result = {};
  if (model()->decoder()) {
    expect_residuals(pipeline_.config().decoder(), "rollout");
    result.matrix = glassformer::rollout(
        {output.attention[0], output.decoder_attention[0], output.cross_attention[0]});
  } else {
    result.matrix = glassformer::rollout(output.attention[0]);
  }
  result.scores = pooled_rollout(result.matrix, pooling_of(input));
  return result;
}

ValueNorms ClassifierExplainer::value_norms(const ExplainInput& input) const {
  expect_no_decoder("value_norms");
  std::vector<std::string> names = value_norm_tensors();
  names.emplace_back("logits");
  const std::vector<TracedTensor> traced = trace(input, std::move(names));
  expect_finite(find_traced(traced, "logits").data);
  ValueNorms norms =
      glassformer::value_norms(explained_stack(model()->encoder(), "encoder"), traced);
  expect_finite(norms.heads.data);
  expect_finite(norms.layers.data);
  return norms;
}

ValueZeroing ClassifierExplainer::value_zeroing(const ExplainInput& input) const {
  expect_no_decoder("value_zeroing");
  const std::size_t tokens = input.text.tokens();
  TraceBudget().take(
      saturating_product({pipeline_.config().encoder().layers.size() + 2, tokens, tokens}));
  return {model(), input.text, stream(input)};
}

ZeroedValues ClassifierExplainer::scored(ZeroedValues values, const ExplainInput& input) const {
  expect_finite(values.matrix);
  values.scores = pooled_rollout(values.matrix, pooling_of(input));
  return values;
}

Lens ClassifierExplainer::lens(const ExplainInput& input) const {
  Lens lens = glassformer::lens(model(), stream(input));
  expect_finite(lens.logits);
  expect_finite(lens.token_logits);
  return lens;
}

LogitAttribution ClassifierExplainer::direct_logit_attribution(
    const ExplainInput& input, const LogitAttributionOptions& options) const {
  std::vector<std::string> names = attribution_tensors(model().model);
  if (options.loadings) add_loading_tensors(last_stack(model().model), model()->compute(), names);
  const std::vector<TracedTensor> traced = trace(input, std::move(names));
  const std::vector<float>& logits = find_traced(traced, "logits").data;
  expect_finite(logits);
  const std::size_t label = options.label ? find_label(*options.label) : largest(logits);
  const Contrast contrast = contrast_for(label, logits.size());
  HeadLoadings loadings(last_stack(model().model), traced, model().session);
  StreamLedger::Observer observer;
  if (options.loadings) observer = [&](const auto& gradients) { loadings.read(gradients); };
  LogitAttribution attribution =
      glassformer::direct_logit_attribution(model().model, traced, contrast, observer);
  loadings.add_to(attribution);
  if (options.effects) {
    const ExplainedStack of = last_stack(model().model);
    const Stream stream = stream_of(traced, of.stack.config().layers.size(), of.name);
    measure_effects(model(), input.text, stream, contrast, attribution);
  }
  expect_finite(attribution.written);
  expect_finite(attribution.read);
  return attribution;
}

Contrast ClassifierExplainer::contrast_of(std::size_t label) const {
  return contrast_for(label, labels_.size());
}

GradientScores ClassifierExplainer::gradient_times_input(const ExplainInput& input,
                                                         std::size_t label) const {
  return {propagated(input, label, BackwardRules::gradients).scores};
}

PropagatedRelevance ClassifierExplainer::propagated(const ExplainInput& input, std::size_t label,
                                                    BackwardRules rules) const {
  expect_linked_gradients();
  return glassformer::gradient_times_input(model(), input.text, contrast_of(label), rules);
}

Relevance ClassifierExplainer::relevance(const ExplainInput& input, std::size_t label) const {
  expect_linked_gradients();
  expect_relevance(pipeline_.config().encoder());
  TraceBudget().take(saturating_product({2, attention_numbers(input)}));
  const auto [encoder, decoder, cross] = weight_gradients(model(), input.text, contrast_of(label));
  Relevance result = {};
  if (model()->decoder()) {
    expect_relevance(pipeline_.config().decoder());
    result.matrix = glassformer::relevance({encoder.weights, decoder.weights, cross.weights},
                                           {encoder.gradients, decoder.gradients, cross.gradients});
  } else {
    result.matrix = glassformer::relevance(encoder.weights, encoder.gradients);
  }
  result.scores = pooled_rollout(result.matrix, pooling_of(input));
  return result;
}

IntegratedGradientsSum ClassifierExplainer::integrated_gradients(const ExplainInput& input,
                                                                 std::size_t label) const {
  expect_linked_gradients();
  std::vector<std::size_t> scaled;
  for (std::size_t i = 0; i < input.text.tokens(); ++i) {
    if (input.input.kinds[i] != TemplatePart::Kind::special) scaled.push_back(i);
  }
  return integrate_gradients(model(), input.text, std::move(scaled), contrast_of(label));
}

std::vector<float> ClassifierExplainer::token_scores(
    const ExplainInput& input, const std::string& method,
    const std::optional<std::string>& label) const {
  if (method == "rollout") return rollout(input).scores;
  if (method == "gradient_times_input") {
    return gradient_times_input(input, label_of(input, label)).scores;
  }
  if (method == "relevance") return relevance(input, label_of(input, label)).scores;
  if (method == "attn_lrp") {
    return propagated(input, label_of(input, label), BackwardRules::attn_lrp).scores;
  }
  if (method == "cp_lrp") {
    return propagated(input, label_of(input, label), BackwardRules::cp_lrp).scores;
  }
  if (method == "integrated_gradients") {
    IntegratedGradientsSum sum = integrated_gradients(input, label_of(input, label));
    while (sum.step()) {
    }
    return sum.take().scores;
  }
  if (method == "value_norms") {
    const ValueNorms norms = value_norms(input);
    const std::span<const float> last = norms.layers.at(norms.layers.layers - 1, 0);
    return pooled_rollout({last.begin(), last.end()}, pooling_of(input));
  }
  if (method == "value_zeroing") {
    ValueZeroing zeroing = value_zeroing(input);
    while (zeroing.step()) {
    }
    return scored(zeroing.take(), input).scores;
  }
  if (method == "direct_logit_attribution") {
    return read_scores(direct_logit_attribution(input, {.label = label}));
  }
  throw_error(ErrorCode::invalid_option,
              {"of: expected one of {}, got \"{}\"", {list_score_methods(), method}});
}

// Returns the cell of each token: one cell per word or sentence, and one per special token. Empty:
// one cell per token.
std::vector<std::size_t> ClassifierExplainer::cells_of(const ExplainInput& base) const {
  std::vector<std::size_t> cells;
  const std::size_t tokens = base.text.tokens();
  if (tokens <= most_cells) return cells;
  // Tokens of the same word, or of words in the same sentence, share a cell: a token that starts a
  // new word or sentence starts a cell. Tokens between words belong to the word before.
  std::vector<bool> starts(tokens, false);
  for (const std::vector<std::size_t>& word : base.words) starts[word[0]] = true;
  const bool by_sentence = base.words.size() > most_cells;
  for (std::size_t i = 0; i < tokens; ++i) {
    const bool special = base.input.kinds[i] == TemplatePart::Kind::special;
    const bool after_special = i > 0 && base.input.kinds[i - 1] == TemplatePart::Kind::special;
    bool starts_cell = i == 0 || special || after_special || starts[i];
    if (by_sentence && i > 0 && !special && !after_special && starts_cell) {
      starts_cell = std::ranges::binary_search(base.sentence_starts, i);
    }
    cells.push_back(i == 0 ? 0 : cells.back() + (starts_cell ? 1 : 0));
  }
  return cells;
}

ActivationPatching ClassifierExplainer::activation_patching(
    const ExplainInput& base, const ExplainInput& donor,
    const ActivationPatchingOptions& options) const {
  expect_no_decoder("activation_patching");
  // The streams of both runs and, at one site, the numbers that are carried over.
  const StackConfig& config = pipeline_.config().encoder();
  TraceBudget().take(saturating_product(
      {3 * (config.layers.size() + 1), config.d_model, base.text.tokens() + donor.text.tokens()}));
  std::optional<std::size_t> label;
  if (options.label) label = find_label(*options.label);
  return ActivationPatching(
      model(),
      {base.text, donor.text, align_tokens(to_align(base), to_align(donor)), cells_of(base)},
      options.site, label);
}

PatchingResult ClassifierExplainer::describe(const PatchingTable& table, const ExplainInput& base,
                                             const ExplainInput& donor) const {
  TokenAlignment aligned = align_tokens(to_align(base), to_align(donor));
  return {table, tokens_of(donor), std::move(aligned.donor_of), std::move(aligned.base_columns),
          std::move(aligned.donor_columns)};
}

std::vector<float> read_scores(const LogitAttribution& parts) {
  std::vector<float> scores(parts.tokens);
  for (std::size_t i = 0; i < parts.read.size(); ++i) {
    const auto kind = parts.columns[i % parts.columns.size()].kind;
    if (kind == LogitColumn::Kind::bias || kind == LogitColumn::Kind::rounding) continue;
    scores[i / parts.columns.size()] += parts.read[i];
  }
  return scores;
}

void expect_tested(const TestedScores& test) {
  const ExplanationMethod* const of = find_method(test.of);
  if (of && of->scores) return;
  refuse_option("of", {"expected one of {}, got {}", {list_score_methods(), describe(test.of)}});
}

void expect_scores(std::span<const float> scores, std::size_t tokens) {
  if (!std::ranges::all_of(scores, [](float score) { return std::isfinite(score); })) {
    throw_error(ErrorCode::invalid_option, "scores: expected finite numbers, got others");
  }
  if (scores.size() == tokens) return;
  throw_error(ErrorCode::invalid_option,
              {"scores: expected {} numbers, one per token, got {}", {tokens, scores.size()}});
}

FaithfulnessTest ClassifierExplainer::faithfulness(const ExplainInput& input,
                                                   const FaithfulnessOptions& options) const {
  std::vector<float> tokens = options.scores;
  if (tokens.empty()) tokens = token_scores(input, options.of, options.label);
  const std::size_t decoded = decoder_rows(input);
  expect_scores(tokens, decoded + input.text.tokens());
  FaithfulnessTest::Subject subject = {.text = input.text,
                                       .ranking = {.parts = input.words, .scores = {}},
                                       .probability = probability_of(scoring())};
  for (const std::vector<std::size_t>& word : input.words) {
    float& score = subject.ranking.scores.emplace_back(0.0f);
    for (const std::size_t token : word) {
      score += tokens[decoded + token];
      if (decoded > 0) score += tokens[token + 1];  // the decoder's row that reads it
    }
  }
  subject.ranking.tokens = std::move(tokens);
  if (options.label) subject.label = find_label(*options.label);
  return FaithfulnessTest(model(), std::move(subject), options.orders, options.seed);
}

CutEffects ClassifierExplainer::cut(const ExplainInput& input, std::span<const AttentionEdge> edges,
                                    Cut cut, std::size_t label) const {
  expect_no_decoder("edges");
  return cut_edges(model(), stream(input), edges, cut, contrast_of(label));
}

CircuitSearch ClassifierExplainer::circuit(const ExplainInput& input, float least) const {
  expect_no_decoder("circuit");
  const StackConfig& config = pipeline_.config().encoder();
  const std::size_t tokens = input.text.tokens();
  // The value norms and their order, in which an arrow takes five numbers.
  TraceBudget().take(
      saturating_product({10, config.layers.size(), config.n_heads(), tokens, tokens}));
  return CircuitSearch(model(), input.text, least);
}

CircuitSubject ClassifierExplainer::circuit_subject(const ExplainInput& clean,
                                                    const ExplainInput& corrupt, std::size_t label,
                                                    std::size_t pairs) const {
  expect_no_decoder("circuit");
  const StackConfig& config = pipeline_.config().encoder();
  // What nodes add to both texts, and the gradient of each input.
  TraceBudget().take(
      saturating_product({6, pairs, 2 + config.layers.size() * (1 + config.n_heads()),
                          clean.text.tokens(), config.d_model}));
  return {circuit_texts(model(), clean.text, corrupt.text), contrast_of(label)};
}

std::unique_ptr<TypedJob<ExplainedInput>> begin_explanation(Pipeline& pipeline,
                                                            const TaskInputs& inputs,
                                                            const ExplainRequest& request) {
  check_ranges(request);
  const Task task = pipeline.config().task;
  if (task == Task::image_classification) {
    const std::span pictures = inputs_of<Picture>(inputs);
    return begin_explanation(static_cast<ImagePipeline&>(pipeline), pictures, request);
  }
  if (task == Task::zero_shot_image_classification) {
    const std::span pictures = inputs_of<Picture>(inputs);
    return begin_explanation(static_cast<MatchPipeline&>(pipeline), pictures, request);
  }
  const std::span texts = inputs_of<TextInput>(inputs);
  if (task == Task::text_classification) {
    return begin_explanation(static_cast<ClassifyPipeline&>(pipeline), texts, request);
  }
  if (task == Task::translation) {
    return begin_explanation(static_cast<TranslatePipeline&>(pipeline), texts, request);
  }
  return begin_explanation(static_cast<GeneratePipeline&>(pipeline), texts, request);
}

std::unique_ptr<Job> begin_explanation_job(Pipeline& pipeline, const TaskInputs& inputs,
                                           const TaskOptions& options) {
  const ExplainRequest request = read_explain_request(pipeline, options);
  if (request.is("score")) return begin_score_explanation(pipeline, inputs, request);
  if (request.is("features")) return begin_feature_explanation(pipeline, inputs, request);
  if (asks_for_next_gradients(pipeline, request)) {
    return begin_next_gradients(pipeline, inputs_of<TextInput>(inputs), request);
  }
  return begin_explanation(pipeline, inputs, request);
}

}  // namespace glassformer
