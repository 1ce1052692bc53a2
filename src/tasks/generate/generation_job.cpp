#include <algorithm>
#include <cmath>

#include "run/trace/trace_plan.hpp"
#include "search/beam_search.hpp"
#include "tasks/generate/generate.hpp"
#include "tasks/limits.hpp"
#include "tasks/output_writer.hpp"
#include "tasks/reading/input_tokens.hpp"
#include "tasks/search_plan.hpp"

namespace glassformer {
namespace {

// The purpose of a call: to write a text, or to list its next tokens.
using GenerateTask = std::variant<GenerateOptions, NextOptions>;

// The number of prompt tokens that one step reads: enough to keep the matrix products busy, few
// enough that a caller can stop between two steps.
constexpr std::size_t prompt_rows = 256;

[[noreturn]] void refuse_infinite() {
  throw_error(ErrorCode::non_finite,
              "text: expected finite log-probabilities of the next token, got others: the model's "
              "activations exceed the range of floats");
}

void expect_ids(const char* option, const std::optional<std::vector<std::size_t>>& ids,
                std::size_t vocab_size) {
  for (const std::size_t id : ids.value_or(std::vector<std::size_t>())) {
    if (id < vocab_size) continue;
    refuse_option({"{}: expected ids below {}, got {}", {option, vocab_size, id}});
  }
}

constexpr std::size_t most_stops = 64, longest_stop = 1024;  // the latter in bytes

void expect_stops(std::span<const std::string> stops) {
  if (stops.size() > most_stops) {
    refuse_option({"stopStrings: expected at most {} texts, got {}", {most_stops, stops.size()}});
  }
  for (const std::string& stop : stops) {
    if (!stop.empty() && stop.size() <= longest_stop) continue;
    refuse_option({"stopStrings: expected texts of 1 to {} bytes, got one of {}",
                   {longest_stop, stop.size()}});
  }
}

}  // namespace

struct GenerationState {
  struct Text {
    std::string text;  // until it is read
    std::optional<Error> error = {};
    Generation generation = {};
    Prediction prediction = {};
  };
  // The attention weights and traced tensors of the encoder and of the steps along a path.
  struct Shown {
    GenerationAttention attention = {};
    std::vector<TracedTensor> trace = {};
  };

  GenerationState(GeneratePipeline& owner, const GenerateTask& task)
      : pipeline(owner),
        generate(std::holds_alternative<GenerateOptions>(task)),
        options(generate ? std::get<GenerateOptions>(task) : GenerateOptions()) {
    if (generate) {
      settings = owner.settings(options);
      plan = plan_of(options, settings);
    } else {
      const NextOptions& next = std::get<NextOptions>(task);
      settings = owner.settings(next);
      count = next.count;
      plan.choice = choice_of(next, settings);
      plan.constraints = constraints_of(next, settings);
      static_cast<DecoderOptions&>(options) = next;
    }
    const StackConfig& stack = owner.config_.decoder();
    const SampleOptions& sample =
        generate ? static_cast<const SampleOptions&>(options) : std::get<NextOptions>(task);
    if (sample.bad_words) {
      std::ranges::move(tokens_of_words(*sample.bad_words, owner.tokenizer(), settings.end_ids),
                        std::back_inserter(plan.constraints.rules.never));
    }
    expect_ids("suppressTokens", sample.suppress_tokens, stack.vocab_size());
    expect_ids("beginSuppressTokens", sample.begin_suppress_tokens, stack.vocab_size());
    stop_strings = options.stop_strings.value_or(settings.stop_strings);
    expect_stops(stop_strings);
    for (const HeadIndex& head : options.ablate) {
      const bool own = head.attention == AttentionSite::decoder;
      if (owner.config_.architecture.encoder) {
        const bool encoder = head.attention == AttentionSite::encoder;
        expect_head("ablate", head.layer, head.head, encoder ? owner.config_.encoder() : stack);
        continue;
      }
      if (own && head.layer < stack.layers.size() && head.head < stack.n_heads()) continue;
      throw_error(ErrorCode::invalid_option,
                  {"ablate: expected the decoder's layers below {} and heads below {}, got {}layer "
                   "{}, head {}",
                   {stack.layers.size(), stack.n_heads(), own ? "" : "another stack's ", head.layer,
                    head.head}});
    }
    trace = TracePlan(owner.model_->decoder(), owner.session(),
                      {.attention = options.attention,
                       .names = options.trace,
                       .patches = with_ablations(options.patch, options.ablate)});
  }

  void take_step();
  void start();
  DecodingState begin_decoding(const DecodingLimits& limits);
  void expect_room(const GenerationInput& input);
  void feed_some();
  void predict();
  void stream();
  void finish();
  void drop();
  OutputText output(const Hypothesis& hypothesis, bool final) const;
  bool completes_stop_string(const std::vector<Candidate>& tree, CandidateIndex last) const;
  Shown show(CandidateIndex last);
  Shown shown_by(const DecodingState& state, NodeIndex node);
  // The sources that the decoder attends to; null without an encoder.
  const Seq2Seq::Encoded* sources() const {
    return pipeline.config_.architecture.encoder ? &encoded : nullptr;
  }
  // Whether there are several beams. The path of the result is then read again for attention and
  // traces.
  bool searches() const { return plan.search.beams > 1 && generate; }
  // Whether the decoding is kept for a later call. It then is one path.
  bool keeps() const {
    const bool plain = options.trace.empty() && options.patch.empty() && options.ablate.empty();
    return options.keep && plain && !searches() && !pipeline.config_.architecture.encoder;
  }

  GeneratePipeline& pipeline;
  bool generate;  // otherwise: lists the next tokens
  GenerateOptions options;
  std::size_t count = 0;
  GenerationConfig settings;  // of the folder and the task
  GenerationPlan plan;
  std::vector<std::string> stop_strings;
  TracePlan trace;
  TraceBudget budget;
  std::vector<Text> texts;
  std::size_t current = 0;

  // The current text.
  std::vector<std::int32_t> prompt;  // read by the decoder first
  Seq2Seq::Encoded encoded;          // of a model with an encoder
  std::size_t fed = 0;               // number of prompt tokens that have been read
  std::size_t max_new = 0;           // maximum number of tokens to write
  std::size_t max_nodes = 0;         // of the search
  SpecialTokens special = {};
  std::optional<DecodingScorer> decoding;
  std::optional<ConstrainedScorer> scorer;
  std::unique_ptr<Search> search;
  bool searching = false;
  std::optional<OutputWriter> writer;  // of the streamed text, if it only grows
  std::optional<GenerationStep> streamed;
  std::vector<Extension> extensions;
};

void GenerationState::take_step() {
  streamed.reset();
  if (current == texts.size()) return;
  try {
    if (!decoding) {
      start();
    } else if (fed + 1 < prompt.size()) {
      feed_some();
    } else if (!generate) {
      predict();
    } else if (searching) {
      searching = search->step();
      if (options.stream) stream();
    } else {
      finish();
    }
  } catch (const Error& error) {
    texts[current].error = error;
    drop();
  }
}

// Throws if the search or the requested tensors may take too much memory.
void GenerationState::expect_room(const GenerationInput& input) {
  const ModelConfig& config = pipeline.config_;
  const StackConfig& stack = config.decoder();
  const std::uint64_t node = cache_bytes(stack) + 128;
  const std::uint64_t bytes = saturating_product({max_nodes, node});
  if (bytes > max_search_bytes) {
    throw_error(ErrorCode::too_large,
                {"text: the search for {} tokens with {} beams may take {}, expected at most {}; "
                 "ask for fewer beams or a smaller maxNewTokens",
                 {max_new, plan.search.beams, mebibytes(bytes), mebibytes(max_search_bytes)}});
  }
  const TextLengths lengths = {.source = input.source.size(),
                               .target = prompt.size() + max_new - 1};
  trace.expect_fit(lengths);
  std::uint64_t numbers = trace.numbers(lengths);
  if (options.attention) {
    const std::size_t keys = lengths.target + lengths.source;
    numbers += saturating_product({stack.layers.size(), stack.n_heads(), lengths.target, keys});
    if (config.architecture.encoder) {
      numbers += saturating_product({config.encoder().layers.size(), config.encoder().n_heads(),
                                     lengths.source, lengths.source});
    }
  }
  budget.take(numbers);
}

void GenerationState::start() {
  Text& text = texts[current];
  const std::size_t positions = pipeline.config_.decoder().max_length;
  expect_text_size(GeneratePipeline::max_text_bytes, text.text.size());
  GenerationInput input = pipeline.model_->read(
      text.text, generate ? most_new_tokens(options, settings, 0) : 1, settings);
  text.text = std::string();
  prompt = std::move(input.prompt);
  const std::size_t most = generate ? most_new_tokens(options, settings, prompt.size()) : 1;
  max_new = std::min(most, positions + 1 - prompt.size());
  max_nodes = prompt.size() + (generate ? plan.search.beams : 1) * (max_new - 1);
  expect_room(input);
  text.generation.prompt_tokens = input_tokens(input.tokens, pipeline.tokenizer());
  text.generation.clipped = input.clipped;
  encoded = pipeline.model_->encode(input, trace.request(), pipeline.session());

  const std::size_t beams = generate ? plan.search.beams : 1;
  DecodingState state =
      begin_decoding({.nodes = max_nodes,
                      .positions = prompt.size() + max_new - 1,
                      .rows = std::max(beams, std::min(prompt.size(), prompt_rows))});
  const LanguageModel& decoder = pipeline.model_->decoder();
  decoder.reserve_logits(beams, pipeline.session());
  decoding.emplace(decoder, std::move(state));
  plan.constraints.rules.min_length = least_length(options.min_new_tokens, settings, prompt.size());
  plan.constraints.rules.begin = prompt.size();
  const std::size_t tokens =
      std::min(pipeline.tokenizer().size(), pipeline.config_.decoder().vocab_size());
  scorer.emplace(*decoding, plan.constraints, searches() ? ScoreKind::logprobs : ScoreKind::logits,
                 beams, tokens);
  if (!generate) return;

  const std::vector<std::int32_t>& ends = settings.end_ids;
  special.start = prompt.back();
  special.end = ends.empty() ? -1 : ends[0];
  special.other_ends.assign(ends.begin() + (ends.empty() ? 0 : 1), ends.end());
  special.never.assign(tokens, false);
  special.never.resize(pipeline.config_.decoder().vocab_size(), true);
  SearchOptions how = plan.search;
  if (prompt.size() > 1) how.parent = static_cast<NodeIndex>(prompt.size() - 2);
  if (!stop_strings.empty()) {
    how.stops = [this](const std::vector<Candidate>& tree, CandidateIndex last) {
      return completes_stop_string(tree, last);
    };
  }
  const std::span lengths(&max_new, 1);
  if (searches()) {
    search = std::make_unique<BeamSearch>(*scorer, special, how, lengths);
  } else {
    search = std::make_unique<SamplingSearch>(*scorer, special, plan.choice, how, lengths, tokens);
  }
  searching = true;
  if (options.stream && !searches()) writer.emplace(pipeline.tokenizer());
}

// Begins the decoding of a prompt, or goes on from what was kept, and sets `fed`.
DecodingState GenerationState::begin_decoding(const DecodingLimits& limits) {
  fed = 0;
  if (keeps()) {
    const std::shared_ptr<DecodingState> kept = std::move(pipeline.session().kept);
    if (kept && kept->has_attention() == options.attention) {
      const HypothesisTree& tree = kept->tree();
      const std::size_t most = std::min(prompt.size() - 1, tree.size());
      while (fed < most && tree[static_cast<NodeIndex>(fed)].id == prompt[fed]) ++fed;
    }
    texts[current].generation.reused = fed;
    if (fed > 0) {
      pipeline.model_->decoder().resume(*kept, fed, limits);
      return std::move(*kept);
    }
  }
  TraceRequest request = trace.request();
  if (searches()) {
    request.names.clear();
    request.attention = options.attention && options.stream;
  }
  return pipeline.runner().begin(sources(), limits, request);
}

// Reads tokens of the prompt, all but the last one, which the search reads.
void GenerationState::feed_some() {
  extensions.clear();
  const std::size_t end = std::min(prompt.size() - 1, fed + prompt_rows);
  for (; fed < end; ++fed) {
    extensions.push_back(next_in_line(fed, prompt[fed]));
  }
  DecodingState& state = decoding->state();
  const LanguageModel& decoder = pipeline.model_->decoder();
  const View hidden = decoder.decode(state, extensions);
  if (trace.request().touches("logits")) decoder.project(const_view(hidden), state);
}

void GenerationState::predict() {
  Text& text = texts[current];
  Prediction& prediction = text.prediction;
  const Extension last = next_in_line(fed, prompt.back());
  const NextTokens next = scorer->feed(std::span(&last, 1))[0];
  if (!std::isfinite(*next.normalizer)) refuse_infinite();
  TokenChances chances(next.logits.size());
  chances.weigh(next.logits, plan.choice.sampling);
  for (auto chance = chances.next(); chance; chance = chances.next()) {
    const float logit = next.unchanged[static_cast<std::size_t>(chance->id)];
    prediction.next.push_back({.id = chance->id,
                               .text = pipeline.tokenizer().display_text(chance->id),
                               .logprob = logit - *next.normalizer,
                               .probability = static_cast<float>(chance->probability)});
    if (prediction.next.size() == count) break;
  }
  prediction.prompt_tokens = std::move(text.generation.prompt_tokens);
  prediction.clipped = text.generation.clipped;
  Shown shown = shown_by(decoding->state(), static_cast<NodeIndex>(prompt.size() - 1));
  prediction.attention = std::move(shown.attention);
  prediction.trace = std::move(shown.trace);
  drop();
}

// Whether a stop string ends within the last token of this text, prompt included.
bool GenerationState::completes_stop_string(const std::vector<Candidate>& tree,
                                            CandidateIndex last) const {
  std::size_t longest = 0;
  for (const std::string& stop : stop_strings) longest = std::max(longest, stop.size());
  // Each token has at least one byte, so these tokens are enough, even if the first one loses its
  // space.
  std::vector<std::int32_t> tail;  // in reverse order
  for (CandidateIndex at = last; at != 0 && tail.size() <= longest; at = tree[at].parent) {
    tail.push_back(tree[at].id);
  }
  for (std::size_t i = prompt.size(); i > 0 && tail.size() <= longest;) {
    tail.push_back(prompt[--i]);
  }
  const std::unique_ptr<TextDecoder> decoder = pipeline.tokenizer().make_decoder();
  for (std::size_t i = tail.size(); i > 1;) decoder->push(tail[--i]);
  const std::size_t before = decoder->text().size();
  decoder->push(tail[0]);
  const std::string_view text = decoder->text();
  const std::string name = pipeline.tokenizer().display_text(tail[0]);
  return std::ranges::any_of(stop_strings, [&](const std::string& stop) {
    if (text.size() == before) return name.find(stop) != name.npos;  // a special token
    const std::size_t from = before - std::min(before, stop.size() - 1);
    return text.find(stop, from) != text.npos;
  });
}

// Returns the text and tokens of a hypothesis. Unless it is final, the bytes of an incomplete
// character are held back.
OutputText GenerationState::output(const Hypothesis& hypothesis, bool final) const {
  OutputWriter written(pipeline.tokenizer());
  for (const CandidateIndex i : search->path(0, hypothesis.last)) {
    const Candidate& candidate = search->tree(0)[i];
    written.push(candidate.id, candidate.logprob);
  }
  if (final) written.finish();
  return {.text = written.text(), .score = hypothesis.score, .tokens = written.tokens()};
}

void GenerationState::stream() {
  if (!search->finite(0)) return;
  const std::vector<Candidate>& tree = search->tree(0);
  const Candidate& last = tree[search->leader(0)];
  if (special.ends(last.id)) return;  // an end token adds nothing to the text
  // If no token may follow, the leader is still that of the step before, or the prompt.
  if (last.length == 0 || (writer && last.length == writer->tokens().size())) return;
  GenerationStep& step = streamed.emplace();
  if (writer) {
    writer->push(last.id, last.logprob);
    if (search->done(0)) writer->finish();
    step.text = writer->text();
    step.token = writer->tokens().back();
  } else {
    OutputText so_far = output({search->leader(0), 0, false}, search->done(0));
    step.text = std::move(so_far.text);
    step.token = std::move(so_far.tokens.back());
  }
  if (options.attention) {
    const DecodingState& state = decoding->state();
    const NodeIndex node = tree[last.parent].node;
    step.attention.decoder = state.self_attention_step(node);
    if (encoded.attention.empty()) return;
    step.attention.cross = state.cross_attention_step(node);
    if (last.length == 1) step.attention.encoder = encoded.attention[0];
  }
}

void GenerationState::finish() {
  if (!search->finite(0)) refuse_infinite();
  const std::vector<Hypothesis> hypotheses = search->hypotheses(0);
  if (hypotheses.empty()) throw_error(ErrorCode::internal, "a search without an outcome");
  Generation& result = texts[current].generation;
  result.output = output(hypotheses[0], true);
  result.ended = hypotheses[0].complete;
  if (options.hypotheses) {
    for (const Hypothesis& hypothesis : hypotheses) {
      result.hypotheses.push_back(output(hypothesis, true));
    }
  }
  Shown shown = show(hypotheses[0].last);
  result.attention = std::move(shown.attention);
  result.trace = std::move(shown.trace);
  drop();
}

GenerationState::Shown GenerationState::shown_by(const DecodingState& state, NodeIndex node) {
  Shown shown;
  if (options.attention) {
    shown.attention.decoder = state.self_attention(node);
    if (!encoded.attention.empty()) {
      shown.attention.encoder = std::move(encoded.attention[0]);
      shown.attention.cross = state.cross_attention(node);
    }
  }
  if (!encoded.traces.empty()) shown.trace = std::move(encoded.traces[0]);
  if (!options.trace.empty()) std::ranges::move(state.trace(node), std::back_inserter(shown.trace));
  return shown;
}

// Returns the attention weights and traced tensors of the steps that wrote the tokens up to `last`.
// The step that wrote the last token read the one before it.
GenerationState::Shown GenerationState::show(CandidateIndex last) {
  if (!options.attention && options.trace.empty()) return {};
  const std::vector<Candidate>& tree = search->tree(0);
  if (!searches()) return shown_by(decoding->state(), tree[tree[last].parent].node);
  std::vector<std::int32_t> path = prompt;
  for (const CandidateIndex i : search->path(0, last)) path.push_back(tree[i].id);
  // If no token could follow, the step that would have written one read the end of the prompt.
  if (tree[last].length > 0) path.pop_back();
  const DecodingState state = pipeline.runner().read(sources(), path, trace.request());
  return shown_by(state, static_cast<NodeIndex>(path.size() - 1));
}

// Ends the work on the current text.
void GenerationState::drop() {
  writer.reset();
  search.reset();
  scorer.reset();
  if (decoding && keeps() && !texts[current].error) {
    pipeline.session().kept = std::make_shared<DecodingState>(std::move(decoding->state()));
  }
  decoding.reset();
  encoded = {};
  searching = false;
  ++current;
}

namespace {

std::unique_ptr<GenerationState> make_state(GeneratePipeline& pipeline,
                                            std::span<const std::string_view> texts,
                                            const GenerateTask& task) {
  auto state = std::make_unique<GenerationState>(pipeline, task);
  for (const std::string_view text : texts) {
    state->texts.emplace_back(GenerationState::Text{.text = std::string(text)});
  }
  return state;
}

bool take_step(GenerationState& state) {
  state.take_step();
  return state.current < state.texts.size();
}

template <class Typed>
Results<Typed> take_all(GenerationState& state, Typed GenerationState::Text::*result) {
  Results<Typed> results;
  for (GenerationState::Text& text : state.texts) {
    if (text.error) {
      results.emplace_back(*text.error);
    } else {
      results.emplace_back(std::move(text.*result));
    }
  }
  return results;
}

}  // namespace

GenerationJob GeneratePipeline::begin(std::span<const std::string_view> texts,
                                      const GenerateOptions& options) {
  return GenerationJob(make_state(*this, texts, options));
}

PredictionJob GeneratePipeline::begin(std::span<const std::string_view> texts,
                                      const NextOptions& options) {
  return PredictionJob(make_state(*this, texts, options));
}

GenerationJob::GenerationJob(std::unique_ptr<GenerationState> state) : state_(std::move(state)) {}
GenerationJob::GenerationJob(GenerationJob&&) noexcept = default;
GenerationJob& GenerationJob::operator=(GenerationJob&&) noexcept = default;
GenerationJob::~GenerationJob() = default;

bool GenerationJob::step() { return take_step(*state_); }

const std::optional<GenerationStep>& GenerationJob::streamed() const { return state_->streamed; }

bool GenerationJob::show(ResultWriter& writer) {
  if (!state_->streamed) return false;
  GenerationStep& step = *state_->streamed;
  const bool first = state_->search->tree(0)[state_->search->leader(0)].length == 1;
  writer.object([&] {
    writer("token", step.token);
    writer("text", step.text);
    if (first) writer("promptTokens", state_->texts[state_->current].generation.prompt_tokens);
    std::vector<TracedTensor> none;
    shown_fields(writer, step.attention, none);
  });
  return true;
}

Results<Generation> GenerationJob::take() {
  return take_all(*state_, &GenerationState::Text::generation);
}

PredictionJob::PredictionJob(std::unique_ptr<GenerationState> state) : state_(std::move(state)) {}
PredictionJob::PredictionJob(PredictionJob&&) noexcept = default;
PredictionJob& PredictionJob::operator=(PredictionJob&&) noexcept = default;
PredictionJob::~PredictionJob() = default;

bool PredictionJob::step() { return take_step(*state_); }

Results<Prediction> PredictionJob::take() {
  return take_all(*state_, &GenerationState::Text::prediction);
}

}  // namespace glassformer
