#include <algorithm>
#include <cmath>

#include "base/heap_sort.hpp"
#include "base/strings/utf8.hpp"
#include "run/trace/trace_plan.hpp"
#include "search/beam_search.hpp"
#include "search/sampling_search.hpp"
#include "tasks/limits.hpp"
#include "tasks/output_writer.hpp"
#include "tasks/reading/input_tokens.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer {
namespace {

// Sentences run together until a batch holds this many source tokens or hypotheses: enough to keep
// the matrix products busy, small enough that the activations stay in the cache.
constexpr std::size_t batch_tokens = 512;
constexpr std::size_t batch_hypotheses = 64;
// A step reads texts until it has read this many bytes.
constexpr std::size_t read_bytes = 64 << 10;
// A search keeps the attention weights of all its nodes if they take no more bytes than this.
// Otherwise, the translation is decoded again to get them.
constexpr std::uint64_t traced_bytes = 16 << 20;

// Returns the ranges of tokens in a text that starts at `start`.
template <class AnyToken>
std::vector<TextRange> ranges_of(const std::vector<AnyToken>& tokens, std::uint32_t start) {
  std::vector<TextRange> ranges;
  for (const AnyToken& token : tokens) ranges.push_back({token.start - start, token.end - start});
  return ranges;
}

void move_by(std::uint32_t units, std::vector<OutputToken>& tokens) {
  for (OutputToken& token : tokens) {
    token.start += units;
    token.end += units;
  }
}

// Turns offsets in the translation of a sentence into offsets in the whole translation, where it
// begins at target_start.
void place(SentenceTranslation& sentence) {
  const std::uint32_t begin = sentence.target_start;
  move_by(begin, sentence.output.tokens);
  for (OutputText& hypothesis : sentence.hypotheses) move_by(begin, hypothesis.tokens);
  if (!sentence.alignment) return;
  for (AlignmentLink& link : *sentence.alignment) {
    link.target.start += begin;
    link.target.end += begin;
  }
}

}  // namespace

struct TranslationJob::State {
  struct Sentence {
    std::size_t text;  // index of its text
    SourceSentence source;
    SentenceTranslation result;
    std::vector<std::int32_t> prefix = {};
    std::vector<std::size_t> masked = {};
    bool finished = false;
  };
  struct Text {
    std::string text;                 // until it is read
    std::size_t first = 0, last = 0;  // range of its sentences
    std::string after;                // the text after them
    std::optional<Error> error;
  };
  // The attention weights and traced tensors of the steps of a hypothesis.
  struct Shown {
    AttentionMap decoder = {}, cross = {};
    std::vector<TracedTensor> trace = {};
  };

  State(TranslatePipeline& owner, const TranslateOptions& wanted)
      : pipeline(owner),
        options(wanted),
        how(owner.search_of(wanted)),
        special(owner.as_library(wanted) ? owner.library_special_ : owner.special_),
        reader(owner.reader_for(wanted)),
        constraints(owner.constraints_for(wanted)),
        plan(owner.model_, owner.session(),
             {.attention = wanted.attention,
              .names = wanted.trace,
              .patches = with_ablations(wanted.patch, wanted.ablate)}) {
    special.start = owner.start_for(wanted);
    if (chooses()) how.renormalize = false;  // log-probabilities stay the model's
    if (owner.shortlist_ &&
        std::ranges::find(wanted.patch, "logits", &Patch::name) != wanted.patch.end()) {
      throw_error(
          ErrorCode::unsupported,
          "patch: logits: expected a translator without a shortlist, which leaves out most");
    }
  }

  void read_some();
  void read(std::size_t text);
  void sort();
  std::size_t max_length(std::size_t source_tokens) const;
  std::uint64_t search_bytes(std::size_t length) const;
  std::uint64_t traced_numbers(std::size_t keys, std::size_t length) const;
  void expect_room(const SourceText& source);
  void start_batch();
  void go_on();
  bool sees() const { return options.attention || options.alignment; }
  bool replays() const {
    return !options.trace.empty() || (sees() && !scorer->state().has_attention());
  }
  // Whether constraints decide which single token comes next.
  bool chooses() const { return !constraints.empty() && how.beams == 1; }
  void finish(std::size_t source, Sentence& sentence);
  Shown show(std::size_t source, const Sentence& sentence, CandidateIndex last);
  void stream();
  void settle();
  OutputText output(std::size_t source, const Hypothesis& hypothesis, bool final) const;
  std::string text(std::size_t i) const;
  Translation translation(const Text& text);

  TranslatePipeline& pipeline;
  TranslateOptions options;
  SearchOptions how;
  SpecialTokens special;
  SourceReader reader;
  Constraints constraints;
  TracePlan plan;
  std::vector<Text> texts;
  std::size_t unread = 0;  // the first text that is not read yet
  TraceBudget budget;
  std::vector<Sentence> sentences;
  std::vector<std::size_t> order;  // sentences, in the order of their translation
  std::size_t next = 0;            // index in `order` of the first sentence that has not run

  // The current batch.
  std::vector<std::size_t> batch;  // sentences
  bool searching = false;
  std::size_t finished = 0;  // number of its sentences that are finished
  Seq2Seq::Encoded encoded;
  std::optional<DecodingScorer> scorer;
  std::optional<ConstrainedScorer> constrained;
  std::unique_ptr<Search> search;

  std::optional<StreamedToken> streamed;
  std::size_t current = 0;          // the sentence of `streamed`
  std::string settled;              // translations of its text's sentences before it
  std::uint32_t settled_units = 0;  // the same, in UTF-16 units
  std::size_t settled_to = 0;       // the first sentence that is not in `settled`
  std::size_t shown_bytes = 0;      // of its text, after the last step
};

void TranslationJob::State::read_some() {
  if (unread == texts.size()) return;
  for (std::size_t bytes = 0; unread < texts.size() && bytes < read_bytes; ++unread) {
    bytes += texts[unread].text.size();
    read(unread);
  }
  if (unread == texts.size()) sort();
}

void TranslationJob::State::read(std::size_t text) {
  Text& entry = texts[text];
  entry.first = entry.last = sentences.size();
  try {
    expect_text_size(TranslatePipeline::max_text_bytes, entry.text.size());
    SourceText source = reader.read(entry.text);
    expect_room(source);
    for (SourceSentence& sentence : source.sentences) {
      SentenceTranslation result = {};
      result.start = sentence.start;
      result.end = sentence.end;
      result.clipped = sentence.clipped;
      result.source_tokens = input_tokens(sentence.tokens, pipeline.source_tokenizer());
      Sentence& read = sentences.emplace_back(
          Sentence{.text = text, .source = std::move(sentence), .result = std::move(result)});
      const std::size_t place = sentences.size() - 1 - entry.first;
      if (place < options.prefixes.size()) read.prefix = options.prefixes[place];
      if (place < options.mask_tokens.size()) {
        read.masked = options.mask_tokens[place];
        expect_mask(read.source.tokens.size(), read.masked);
      }
    }
    entry.last = sentences.size();
    entry.after = std::move(source.after);
  } catch (const Error& error) {
    entry.error = error;
  }
  entry.text = std::string();
}

// Returns the maximum number of tokens of a sentence's translation.
std::size_t TranslationJob::State::max_length(std::size_t source_tokens) const {
  const GenerationConfig& folder = pipeline.config_.generation;
  std::size_t wanted = 3 * source_tokens + 16;
  if (options.max_length > 0) {
    wanted = options.max_length;
  } else if (folder.max_new_tokens) {
    wanted = *folder.max_new_tokens;
  } else if (folder.max_length_factor) {
    const float length = *folder.max_length_factor * static_cast<float>(source_tokens);
    wanted = static_cast<std::size_t>(std::ceil(std::clamp(length, 1.0f, 1e6f)));
  } else if (folder.max_length) {
    wanted = std::max<std::size_t>(*folder.max_length, 2) - 1;  // the start token is counted there
  }
  return std::min(wanted, pipeline.config_.decoder().max_length);
}

// Returns the memory that the search for a translation of at most `length` tokens may take: for
// each node its keys and values, and about 128 bytes in the trees.
std::uint64_t TranslationJob::State::search_bytes(std::size_t length) const {
  const StackConfig& decoder = pipeline.config_.decoder();
  const std::uint64_t node = cache_bytes(decoder);
  return saturating_product({how.beams, length, node + 128});
}

// Returns the number of attention weights of all nodes of such a search over a source of `keys`
// tokens.
std::uint64_t TranslationJob::State::traced_numbers(std::size_t keys, std::size_t length) const {
  const StackConfig& decoder = pipeline.config_.decoder();
  return saturating_product(
      {decoder.layers.size(), decoder.n_heads(), how.beams, length, (length + 1) / 2 + keys});
}

// Throws if the searches or attention weights of a text may take too much memory.
void TranslationJob::State::expect_room(const SourceText& source) {
  const ModelConfig& config = pipeline.config_;
  std::uint64_t numbers = 0;
  for (const SourceSentence& sentence : source.sentences) {
    const std::size_t keys = sentence.tokens.size(), length = max_length(keys);
    const std::uint64_t bytes = search_bytes(length);
    if (bytes > max_search_bytes) {
      throw_error(ErrorCode::too_large,
                  {"text: the search for up to {} tokens with {} beams may take {}, expected at "
                   "most {}; ask for fewer beams or a smaller maxLength",
                   {length, how.beams, mebibytes(bytes), mebibytes(max_search_bytes)}});
    }
    plan.expect_fit({.source = keys, .target = length});
    numbers += plan.numbers({.source = keys, .target = length});
    if (!sees()) continue;
    const std::uint64_t decoder = saturating_product(
        {config.decoder().layers.size(), config.decoder().n_heads(), length, length + keys});
    TraceBudget().take(options.stream ? traced_numbers(keys, length) : decoder);
    if (!options.attention) continue;
    numbers += decoder + saturating_product({config.encoder().layers.size(),
                                             config.encoder().n_heads(), keys, keys});
  }
  budget.take(numbers);
}

// Sorts the sentences by length: in a batch of similar lengths, few steps run for the longest only.
void TranslationJob::State::sort() {
  order = sorted_order(sentences.size(), [&](std::size_t a, std::size_t b) {
    return !options.stream && sentences[a].source.tokens.size() > sentences[b].source.tokens.size();
  });
}

void TranslationJob::State::start_batch() {
  Batch sources;
  std::vector<std::size_t> max_lengths;
  std::vector<std::vector<std::int32_t>> choices;
  DecodingLimits limits = {.nodes = 0, .positions = 0, .rows = 0};
  std::uint64_t bytes = 0, traced = 0;
  for (batch.clear(); next < order.size(); ++next) {
    const std::vector<Token>& tokens = sentences[order[next]].source.tokens;
    const std::size_t length = max_length(tokens.size());
    const bool full = sources.tokens() + tokens.size() > batch_tokens ||
                      limits.rows + how.beams > batch_hypotheses ||
                      bytes + search_bytes(length) > max_search_bytes;
    if (!batch.empty() && (full || options.stream)) break;
    std::vector<std::int32_t> ids;
    for (const Token& token : tokens) ids.push_back(token.id);
    sources.add(ids, sentences[order[next]].masked);
    if (pipeline.shortlist_) {
      choices.push_back(pipeline.choices(ids, sentences[order[next]].prefix));
    }
    batch.push_back(order[next]);

    max_lengths.push_back(length);
    bytes += search_bytes(length);
    traced += traced_numbers(tokens.size(), length);
    limits.nodes += 1 + how.beams * (length - 1);
    limits.positions = std::max(limits.positions, length);
    limits.rows += how.beams;
  }

  TraceRequest request = plan.request();
  encoded = pipeline.model_.encode(sources, request, pipeline.session());
  for (std::size_t i = 0; i < encoded.attention.size(); ++i) {
    sentences[batch[i]].result.encoder = std::move(encoded.attention[i]);
  }
  for (std::size_t i = 0; i < encoded.traces.size(); ++i) {
    sentences[batch[i]].result.trace = std::move(encoded.traces[i]);
  }
  // Each step of a stream returns its attention.
  const bool fits = options.trace.empty() && traced <= traced_bytes / sizeof(float);
  request.attention = sees() && (options.stream || fits);
  request.names.clear();
  scorer.emplace(pipeline.model_,
                 pipeline.model_.begin(encoded, limits, request, pipeline.session()),
                 std::move(choices));
  NextTokenScorer* scores = &*scorer;
  if (!constraints.empty()) {
    scores = &constrained.emplace(*scorer, constraints,
                                  chooses() ? ScoreKind::logits : ScoreKind::logprobs, limits.rows,
                                  scorer->vocab_size());
  }
  if (chooses()) {
    search = std::make_unique<SamplingSearch>(*scores, special, TokenChoice(), how, max_lengths,
                                              scorer->vocab_size());
  } else {
    search = std::make_unique<BeamSearch>(*scores, special, how, max_lengths);
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::vector<std::int32_t>& prefix = sentences[batch[i]].prefix;
    search->force(i, prefix);
    if (constrained) constrained->force(i, prefix.size());
  }
  searching = true;
  finished = 0;
}

void TranslationJob::State::go_on() {
  const bool replays = this->replays();
  if (searching) {
    searching = search->step();
    if (options.stream) stream();
    if (searching || replays) return;
  }
  do {
    finish(finished, sentences[batch[finished]]);
    ++finished;
  } while (finished < batch.size() && !replays);
  if (finished < batch.size()) return;
  search.reset();
  constrained.reset();
  scorer.reset();
  encoded = {};
  batch.clear();
}

void TranslationJob::State::finish(std::size_t source, Sentence& sentence) {
  SentenceTranslation& result = sentence.result;
  sentence.finished = true;
  if (!search->finite(source)) {
    texts[sentence.text].error =
        Error(ErrorCode::non_finite,
              "text: expected finite log-probabilities of the next token, got others: the model's "
              "activations exceed the range of floats");
    return;
  }
  const std::vector<Hypothesis> hypotheses = search->hypotheses(source);
  result.output = output(source, hypotheses[0], true);
  if (options.hypotheses) {
    for (const Hypothesis& hypothesis : hypotheses) {
      result.hypotheses.push_back(output(source, hypothesis, true));
    }
    for (const Candidate& node : search->tree(source)) {
      result.tree.push_back({.parent = node.parent,
                             .id = node.id,
                             .text = pipeline.target_tokenizer().display_text(node.id),
                             .logprob = node.logprob,
                             .total = static_cast<float>(node.total),
                             .kept = node.kept});
    }
  }
  if (!sees() && !replays()) return;
  auto [decoder, cross, trace] = show(source, sentence, hypotheses[0].last);
  std::ranges::move(trace, std::back_inserter(result.trace));
  if (sees()) {
    const auto target = words_of(result.output.text, ranges_of(result.output.tokens, 0));
    const auto words =
        words_of(sentence.source.text, ranges_of(result.source_tokens, result.start));
    result.alignment = align(cross, options.alignment.value_or(AlignmentOptions()), target, words);
    for (AlignmentLink& link : *result.alignment) {
      link.source.start += result.start;
      link.source.end += result.start;
    }
    if (options.attention) {
      if (decoder.heads > 0) result.decoder = std::move(decoder);
      result.cross = std::move(cross);
    }
  }
}

// Returns the attention weights and traced tensors of the steps that wrote the tokens up to `last`.
// If the search did not keep them, reads the tokens again, many at once, with bit-identical
// results.
TranslationJob::State::Shown TranslationJob::State::show(std::size_t source,
                                                         const Sentence& sentence,
                                                         CandidateIndex last) {
  const std::vector<Candidate>& tree = search->tree(source);
  const auto attention_of = [](const DecodingState& state, NodeIndex node) {
    return Shown{state.self_attention(node), state.cross_attention(node)};
  };
  if (!replays()) {
    // The step that wrote the last token read the one before it.
    return attention_of(scorer->state(), tree[tree[last].parent].node);
  }
  const std::size_t start = encoded.sources.start(source), keys = encoded.sources.length(source);
  Seq2Seq::Encoded alone;
  alone.sources.add(encoded.sources.ids(source), sentence.masked);
  alone.states = copy_of(rows(encoded.states, start, keys));
  std::vector<std::int32_t> ids = {tree[0].id};
  for (const CandidateIndex candidate : search->path(source, last)) {
    ids.push_back(tree[candidate].id);
  }
  // If no token could follow, the step that would have written one read the start token.
  if (ids.size() > 1) ids.pop_back();
  TraceRequest request = plan.request();
  request.attention = sees();
  const DecodingState state = pipeline.runner().read(&alone, ids, request);
  const auto node = static_cast<NodeIndex>(ids.size() - 1);
  Shown shown = sees() ? attention_of(state, node) : Shown{};
  shown.trace = state.trace(node);
  return shown;
}

// Returns the text and tokens of a hypothesis. Unless it is final, the bytes of an incomplete
// character are held back.
OutputText TranslationJob::State::output(std::size_t source, const Hypothesis& hypothesis,
                                         bool final) const {
  OutputWriter writer(pipeline.target_tokenizer());
  for (const CandidateIndex i : search->path(source, hypothesis.last)) {
    const Candidate& candidate = search->tree(source)[i];
    writer.push(candidate.id, candidate.logprob);
  }
  if (final) writer.finish();
  return {.text = writer.text(), .score = hypothesis.score, .tokens = writer.tokens()};
}

// Extends `settled` up to the current sentence.
void TranslationJob::State::settle() {
  const std::size_t first = texts[sentences[current].text].first;
  if (settled_to < first) {
    settled.clear();
    settled_units = 0;
    shown_bytes = 0;
    settled_to = first;
  }
  for (; settled_to < current; ++settled_to) {
    const Sentence& sentence = sentences[settled_to];
    settled += sentence.source.before + sentence.result.output.text;
    settled_units += utf16_size(sentence.source.before) + utf16_size(sentence.result.output.text);
  }
}

void TranslationJob::State::stream() {
  if (!search->finite(0)) return;
  current = batch[0];
  Sentence& sentence = sentences[current];
  SentenceTranslation& result = sentence.result;
  const Text& text = texts[sentence.text];
  const CandidateIndex leader = search->leader(0);
  const Candidate& last = search->tree(0)[leader];
  const std::size_t known = result.output.tokens.size();
  settle();
  result.target_start = settled_units + utf16_size(sentence.source.before);
  result.output = output(0, {.last = leader, .score = 0, .complete = false}, search->done(0));
  const std::size_t now = result.output.tokens.size();
  if (now == 0 || (how.beams == 1 && now == known)) return;  // nothing could follow
  if (special.ends(last.id)) return;  // an end token adds nothing to the text
  streamed = {.text = sentence.text,
              .sentence = current - text.first,
              .token = result.output.tokens.back(),
              .decoder = {},
              .cross = {}};
  streamed->token.start += result.target_start;
  streamed->token.end += result.target_start;
  if (known == 0) {
    // A search may end with a shorter text than it showed.
    const std::string all = settled + sentence.source.before;
    streamed->before = all.substr(std::min(shown_bytes, all.size()));
  }
  shown_bytes = settled.size() + sentence.source.before.size() + result.output.text.size();
  if (!options.attention) return;
  const NodeIndex node = search->tree(0)[last.parent].node;
  if (AttentionMap own = scorer->state().self_attention_step(node); own.heads > 0) {
    streamed->decoder = std::move(own);
  }
  streamed->cross = scorer->state().cross_attention_step(node);
}

std::string TranslationJob::State::text(std::size_t i) const {
  std::string text;
  for (std::size_t s = texts[i].first; s < texts[i].last; ++s) {
    const Sentence& sentence = sentences[s];
    if (sentence.result.output.tokens.empty()) return text;  // its translation has not begun
    text += sentence.source.before + sentence.result.output.text;
    if (!sentence.finished) return text;
  }
  return text + texts[i].after;
}

Translation TranslationJob::State::translation(const Text& text) {
  Translation translation = {.text = {}, .score = 0, .sentences = {}};
  std::size_t tokens = 0;
  std::uint32_t units = 0;  // of translation.text
  for (std::size_t i = text.first; i < text.last; ++i) {
    SentenceTranslation& result = sentences[i].result;
    const std::string& before = sentences[i].source.before;
    translation.text += before + result.output.text;
    result.target_start = units + utf16_size(before);
    result.target_end = units = result.target_start + utf16_size(result.output.text);
    translation.score += result.output.score * static_cast<float>(result.output.tokens.size());
    tokens += result.output.tokens.size();
    place(result);
    translation.sentences.push_back(std::move(result));
  }
  translation.text += text.after;
  if (tokens > 0) translation.score /= static_cast<float>(tokens);
  return translation;
}

TranslationJob TranslatePipeline::begin(std::span<const std::string_view> texts,
                                        const TranslateOptions& options) {
  check(options);
  auto state = std::make_unique<TranslationJob::State>(*this, options);
  for (const std::string_view text : texts) state->texts.emplace_back().text = text;
  return TranslationJob(std::move(state));
}

std::unique_ptr<Job> TranslatePipeline::begin(const TaskInputs& inputs,
                                              const TaskOptions& options) {
  return std::make_unique<TranslationJob>(
      begin(single_texts(inputs.texts), read_options<TranslateOptions>(options)));
}

TranslationJob::TranslationJob(std::unique_ptr<State> state) : state_(std::move(state)) {}
TranslationJob::TranslationJob(TranslationJob&&) noexcept = default;
TranslationJob& TranslationJob::operator=(TranslationJob&&) noexcept = default;
TranslationJob::~TranslationJob() = default;

bool TranslationJob::done() const {
  return state_->unread == state_->texts.size() && !state_->search &&
         state_->next == state_->order.size();
}

bool TranslationJob::step() {
  State& state = *state_;
  state.streamed.reset();
  if (state.search) {
    state.go_on();
  } else {
    state.read_some();
    const bool all_read = state.unread == state.texts.size();
    if (all_read && state.next < state.order.size()) state.start_batch();
  }
  return !done();
}

const std::optional<StreamedToken>& TranslationJob::streamed() const { return state_->streamed; }

std::string TranslationJob::text(std::size_t i) const { return state_->text(i); }

const SentenceTranslation& TranslationJob::sentence() const {
  return state_->sentences[state_->current].result;
}

bool TranslationJob::show(ResultWriter& writer) {
  if (!streamed()) return false;
  StreamedToken& step = *state_->streamed;
  SentenceTranslation& sentence = state_->sentences[state_->current].result;
  const bool first = sentence.output.tokens.size() == 1;
  writer.object([&] {
    writer("token", step.token);
    writer("text", sentence.output.text);
    if (first) {
      writer("before", step.before);
      writer.key("sentence");
      writer.object([&] {
        writer("index", step.sentence);
        writer("start", sentence.start);
        writer("end", sentence.end);
        writer("targetStart", sentence.target_start);
        writer("sourceTokens", sentence.source_tokens);
      });
    }
    if (!step.cross) return;
    std::optional<AttentionMap> encoder = first ? sentence.encoder : std::nullopt;
    writer.attention({&encoder, &step.decoder, &step.cross});
  });
  return true;
}

Results<Translation> TranslationJob::take() {
  Results<Translation> results;
  for (const State::Text& text : state_->texts) {
    if (text.error) {
      results.emplace_back(*text.error);
    } else {
      results.emplace_back(state_->translation(text));
    }
  }
  return results;
}

}  // namespace glassformer
