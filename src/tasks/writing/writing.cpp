#include "tasks/writing/writing.hpp"

#include <algorithm>

#include "search/beam_search.hpp"
#include "tasks/limits.hpp"

namespace glassformer {
namespace {

std::unique_ptr<Search> make_search(NextTokenScorer& scorer, const WritingPlan& plan) {
  SearchOptions options = plan.search;
  if (plan.prompt.size() > 1) options.parent = static_cast<NodeIndex>(plan.prompt.size() - 2);
  if (!plan.choice) {
    return std::make_unique<BeamSearch>(scorer, plan.special, options, plan.max_lengths);
  }
  return std::make_unique<SamplingSearch>(scorer, plan.special, *plan.choice, options,
                                          plan.max_lengths, plan.tokens);
}

// Returns one source of a batch.
Seq2Seq::Encoded one_of(const Seq2Seq::Encoded& batch, std::size_t source) {
  const Batch& sources = batch.sources;
  const std::size_t length = sources.length(source), width = batch.states.shape(1);
  std::vector<std::size_t> masked;
  for (std::size_t i = 0; i < length; ++i) {
    if (!std::ranges::binary_search(sources.visible(source), i)) masked.push_back(i);
  }
  Seq2Seq::Encoded one;
  one.sources.add(sources.ids(source), masked);
  const float* states = batch.states.data() + sources.start(source) * width;
  one.states = copy_of(const_view(states, {length, width}));
  return one;
}

bool has_source(const DecodingState& state, NodeIndex node) {
  return state.source_length(state.tree()[node].source) > 0;
}

}  // namespace

Captured capture(const DecodingState& state, NodeIndex node, const TraceRequest& request) {
  Captured captured;
  if (request.attention) {
    captured.attention.decoder = state.self_attention(node);
    if (has_source(state, node)) captured.attention.cross = state.cross_attention(node);
  }
  if (!request.names.empty()) captured.trace = state.trace(node);
  return captured;
}

void give_texts(ConstrainedScorer& scorer, const Constraints& constraints,
                const Seq2Seq::Encoded* sources, std::span<const std::int32_t> prompt) {
  if (constraints.encoder_repetition_penalty == 1) return;
  if (!sources) return scorer.give(0, {prompt.begin(), prompt.end()});
  for (std::size_t i = 0; i < sources->sources.size(); ++i) {
    const auto ids = sources->sources.ids(i);
    scorer.give(i, {ids.begin(), ids.end()});
  }
}

Writing::Writing(WriterRunner runner, const Tokenizer& tokenizer, const WritingPlan& plan,
                 DecodingScorer decoding)
    : runner_(runner),
      tokenizer_(tokenizer),
      plan_(plan),
      decoding_(std::move(decoding)),
      scorer_(decoding_, plan.constraints, plan.choice ? ScoreKind::logits : ScoreKind::logprobs,
              plan.search.beams * plan.max_lengths.size(), plan.tokens),
      search_(make_search(scorer_, plan)) {
  give_texts(scorer_, plan.constraints, plan.sources, plan.prompt);
  leading_.emplace(tokenizer);
}

void Writing::force(std::size_t text, std::span<const std::int32_t> prefix) {
  search_->force(text, prefix);
  scorer_.force(text, prefix.size());
}

OutputText Writing::output(std::size_t text, const Hypothesis& hypothesis) const {
  OutputWriter writer(tokenizer_);
  for (const CandidateIndex i : search_->path(text, hypothesis.last)) {
    const Candidate& candidate = search_->tree(text)[i];
    writer.push(candidate.id, candidate.logprob);
  }
  writer.finish();
  return {.text = writer.text(), .score = hypothesis.score, .tokens = writer.tokens()};
}

std::vector<OutputText> Writing::outputs(std::size_t text) const {
  std::vector<OutputText> outputs;
  for (const Hypothesis& one : search_->hypotheses(text)) outputs.push_back(output(text, one));
  return outputs;
}

Captured Writing::captured(std::size_t text, CandidateIndex last) const {
  const TraceRequest& request = plan_.captured;
  if (!request.attention && request.names.empty()) return {};
  const std::vector<Candidate>& tree = search_->tree(text);
  // The step that wrote the last token read the one before it.
  if (!plan_.reads_again) return capture(decoding_.state(), tree[tree[last].parent].node, request);
  std::vector<std::int32_t> ids = plan_.prompt;
  for (const CandidateIndex i : search_->path(text, last)) ids.push_back(tree[i].id);
  // If no token could follow, the step that would have written one read the end of the prompt.
  if (tree[last].length > 0) ids.pop_back();
  std::optional<Seq2Seq::Encoded> source;
  if (plan_.sources) source = one_of(*plan_.sources, text);
  const DecodingState state = runner_.read(source ? &*source : nullptr, ids, request);
  return capture(state, static_cast<NodeIndex>(ids.size() - 1), request);
}

bool Writing::follow() {
  const std::vector<Candidate>& tree = search_->tree(0);
  const CandidateIndex leader = search_->leader(0);
  const Candidate& last = tree[leader];
  // If no token may follow, the leader is still that of the step before, or the prompt.
  const bool stays =
      last.length == 0 || (plan_.search.beams == 1 && last.length == leading_->tokens().size());
  if (leader != leader_) {
    const bool grows = last.parent == leader_;
    if (!grows) leading_.emplace(tokenizer_);
    for (const CandidateIndex i : grows ? std::vector{leader} : search_->path(0, leader)) {
      leading_->push(tree[i].id, tree[i].logprob);
    }
    leader_ = leader;
  }
  if (search_->done(0)) leading_->finish();
  return !stays && !plan_.special.ends(last.id);  // an end token adds nothing to the text
}

GenerationAttention Writing::leading_attention() const {
  const std::vector<Candidate>& tree = search_->tree(0);
  const NodeIndex node = tree[tree[leader_].parent].node;
  GenerationAttention attention = {.decoder = decoding_.state().self_attention_step(node)};
  if (has_source(decoding_.state(), node)) {
    attention.cross = decoding_.state().cross_attention_step(node);
  }
  return attention;
}

Error non_finite_text() {
  return Error(ErrorCode::non_finite,
               "text: expected finite log-probabilities of the next token, got others: the model's "
               "activations exceed the range of floats");
}

std::uint64_t search_bytes(const StackConfig& decoder, std::uint64_t nodes) {
  return saturating_product({nodes, cache_bytes(decoder) + 128});
}

void expect_search_fits(const StackConfig& decoder, const SearchSize& size) {
  const std::uint64_t bytes = search_bytes(decoder, size.nodes);
  if (bytes <= max_search_bytes) return;
  throw_error(ErrorCode::too_large,
              {"text: the search for {}{} tokens with {} beams may take {}, expected at most {}; "
               "ask for fewer beams or a smaller {}",
               {size.most, size.tokens, size.beams, mebibytes(bytes), mebibytes(max_search_bytes),
                Field(size.option)}});
}

std::uint64_t decoder_weights(const StackConfig& decoder, const TextLengths& lengths) {
  return saturating_product(
      {decoder.layers.size(), decoder.n_heads(), lengths.target, lengths.target + lengths.source});
}

std::uint64_t result_numbers(const ModelConfig& config, const TracePlan& trace,
                             const TextLengths& lengths) {
  trace.expect_fit(lengths);
  std::uint64_t numbers = trace.numbers(lengths);
  if (!trace.request().attention) return numbers;
  numbers += decoder_weights(config.decoder(), lengths);
  if (!config.architecture.encoder) return numbers;
  const StackConfig& encoder = config.encoder();
  return numbers + saturating_product(
                       {encoder.layers.size(), encoder.n_heads(), lengths.source, lengths.source});
}

}  // namespace glassformer
