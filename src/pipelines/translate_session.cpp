#include <algorithm>
#include <functional>
#include <map>

#include "io/utf8.hpp"
#include "pipelines/translate.hpp"

namespace glassformer {
namespace {

// Sentences run together until a batch holds this many source tokens or hypotheses: enough to keep
// the matrix products busy, small enough that the activations stay in the cache.
constexpr std::size_t batch_tokens = 512;
constexpr std::size_t batch_hypotheses = 64;

// Ranges of tokens in a text that starts at `start`.
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

// Makes offsets in a sentence's own translation offsets in the whole one, in which it begins at
// target_start.
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

struct TranslatePipeline::Session::State {
  struct Sentence {
    std::size_t text;  // which one it is of
    SourceSentence source;
    SentenceTranslation result;
    bool finished = false;
  };
  struct Text {
    std::size_t first = 0, last = 0;  // its sentences
    std::string after;                // what stands behind them
    std::optional<Error> error;
  };

  State(TranslatePipeline& owner, const TranslateOptions& wanted)
      : pipeline(owner), options(wanted) {}

  void add(std::string_view text);
  void sort();
  void start_batch();
  void finish_batch();
  void finish(std::size_t source, Sentence& sentence);
  void stream();
  OutputText output(std::size_t source, const Hypothesis& hypothesis, bool final) const;
  std::string text(std::size_t i) const;
  Translation translation(const Text& text);

  TranslatePipeline& pipeline;
  TranslateOptions options;
  std::vector<Text> texts;
  std::vector<Sentence> sentences;
  std::vector<std::size_t> order;  // sentences, as they are translated
  std::size_t next = 0;            // in order: the first that no batch has had

  // The batch at work.
  std::vector<std::size_t> batch;  // sentences
  std::optional<Seq2SeqScorer> scorer;
  std::optional<BeamSearch> search;

  std::optional<StreamedToken> streamed;
  std::size_t current = 0;  // the sentence of `streamed`
};

void TranslatePipeline::Session::State::add(std::string_view text) {
  Text& entry = texts.emplace_back();
  entry.first = entry.last = sentences.size();
  try {
    SourceText source = pipeline.reader_.read(text);
    for (SourceSentence& sentence : source.sentences) {
      SentenceTranslation result = {};
      result.start = sentence.start;
      result.end = sentence.end;
      result.clipped = sentence.clipped;
      result.source_tokens = sentence.tokens;
      sentences.push_back({texts.size() - 1, std::move(sentence), std::move(result)});
    }
    entry.last = sentences.size();
    entry.after = std::move(source.after);
  } catch (const Error& error) {
    entry.error = error;
  }
}

// Batches of sentences of like length leave few steps to the longest alone.
void TranslatePipeline::Session::State::sort() {
  std::multimap<std::size_t, std::size_t, std::greater<>> by_length;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    by_length.emplace(options.stream ? 0 : sentences[i].source.tokens.size(), i);
  }
  order.clear();
  for (const auto& [length, sentence] : by_length) order.push_back(sentence);
}

void TranslatePipeline::Session::State::start_batch() {
  const ModelConfig& config = pipeline.config_;
  InspectionRequest request = {.capture = options.attention, .ablate = options.ablate};
  Batch sources;
  std::vector<std::size_t> max_lengths;
  std::vector<std::vector<std::int32_t>> choices;
  DecodingLimits limits = {.nodes = 0, .positions = 0, .rows = 0};
  for (batch.clear(); next < order.size(); ++next) {
    const std::vector<Token>& tokens = sentences[order[next]].source.tokens;
    const bool full = sources.tokens() + tokens.size() > batch_tokens ||
                      limits.rows + options.beams > batch_hypotheses;
    if (!batch.empty() && (full || options.stream)) break;
    std::vector<std::int32_t> ids;
    for (const Token& token : tokens) ids.push_back(token.id);
    sources.add(ids);
    if (pipeline.shortlist_) choices.push_back(pipeline.choices(ids));
    batch.push_back(order[next]);

    const std::size_t wanted = options.max_length > 0 ? options.max_length : 3 * ids.size() + 16;
    const std::size_t length = std::min(wanted, config.max_target_length);
    max_lengths.push_back(length);
    limits.nodes += 1 + options.beams * (length - 1);
    limits.positions = std::max(limits.positions, length);
    limits.rows += options.beams;
  }

  Seq2Seq::Encoded encoded = pipeline.model_.encode(sources, request);
  for (std::size_t i = 0; i < encoded.attention.size(); ++i) {
    sentences[batch[i]].result.encoder = std::move(encoded.attention[i]);
  }
  request.capture = options.attention || options.alignment;
  scorer.emplace(pipeline.model_, pipeline.model_.begin(encoded, limits, request),
                 std::move(choices));
  search.emplace(*scorer, pipeline.special_,
                 SearchOptions{.beams = options.beams, .length_penalty = options.length_penalty},
                 max_lengths);
}

void TranslatePipeline::Session::State::finish_batch() {
  for (std::size_t i = 0; i < batch.size(); ++i) finish(i, sentences[batch[i]]);
  search.reset();
  scorer.reset();
  batch.clear();
}

void TranslatePipeline::Session::State::finish(std::size_t source, Sentence& sentence) {
  SentenceTranslation& result = sentence.result;
  const std::vector<Hypothesis> hypotheses = search->hypotheses(source);
  const std::vector<Candidate>& tree = search->tree(source);
  result.output = output(source, hypotheses[0], true);
  if (options.hypotheses) {
    for (const Hypothesis& hypothesis : hypotheses) {
      result.hypotheses.push_back(output(source, hypothesis, true));
    }
    result.tree = tree;
  }
  if (options.attention || options.alignment) {
    // The step that emitted the last token was fed with the one before it.
    const NodeIndex node = tree[tree[hypotheses[0].last].parent].node;
    AttentionMap cross = scorer->state().cross_attention(node);
    const auto target = words_of(result.output.text, ranges_of(result.output.tokens, 0));
    const auto words =
        words_of(sentence.source.text, ranges_of(result.source_tokens, result.start));
    result.alignment = align(cross, options.alignment.value_or(AlignmentOptions()), target, words);
    for (AlignmentLink& link : *result.alignment) {
      link.source.start += result.start;
      link.source.end += result.start;
    }
    if (options.attention) {
      result.decoder = scorer->state().self_attention(node);
      result.cross = std::move(cross);
    }
  }
  sentence.finished = true;
}

// The text and tokens of a hypothesis; unless it is final, characters that are not whole wait.
OutputText TranslatePipeline::Session::State::output(std::size_t source,
                                                     const Hypothesis& hypothesis,
                                                     bool final) const {
  TextDecoder decoder(pipeline.target_tokenizer());
  OutputText result = {.text = {}, .score = hypothesis.score, .tokens = {}};
  const std::vector<CandidateIndex> path = search->path(source, hypothesis.last);
  std::size_t size = 0;
  std::uint32_t end = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Candidate& candidate = search->tree(source)[path[i]];
    decoder.push(candidate.id);
    if (final && i + 1 == path.size()) decoder.finish();
    const std::string_view added = std::string_view(decoder.text()).substr(size);
    const bool space = added.size() > 1 && added[0] == ' ';
    const std::uint32_t start = end + (space ? 1 : 0);
    end += utf16_size(added);
    size += added.size();
    result.tokens.push_back({candidate.id, start, end, candidate.logprob});
  }
  result.text = decoder.text();
  return result;
}

void TranslatePipeline::Session::State::stream() {
  current = batch[0];
  SentenceTranslation& result = sentences[current].result;
  const CandidateIndex leader = search->leader(0);
  const Candidate& last = search->tree(0)[leader];
  const std::size_t known = result.output.tokens.size();
  if (known == 0) {
    result.target_start =
        utf16_size(text(sentences[current].text) + sentences[current].source.before);
  }
  result.output = output(0, {.last = leader, .score = 0, .complete = false}, search->done(0));
  const std::size_t now = result.output.tokens.size();
  if (now == 0 || (options.beams == 1 && now == known)) return;  // nothing could follow
  if (last.id == pipeline.special_.end) return;                  // nothing of the text is its own
  const std::size_t of = sentences[current].text;
  streamed = {.text = of,
              .sentence = current - texts[of].first,
              .token = result.output.tokens.back(),
              .decoder = {},
              .cross = {}};
  streamed->token.start += result.target_start;
  streamed->token.end += result.target_start;
  if (!options.attention) return;
  const NodeIndex node = search->tree(0)[last.parent].node;
  streamed->decoder = scorer->state().self_attention_step(node);
  streamed->cross = scorer->state().cross_attention_step(node);
}

std::string TranslatePipeline::Session::State::text(std::size_t i) const {
  std::string text;
  for (std::size_t s = texts[i].first; s < texts[i].last; ++s) {
    const Sentence& sentence = sentences[s];
    if (sentence.result.output.tokens.empty()) return text;  // it has not begun
    text += sentence.source.before + sentence.result.output.text;
    if (!sentence.finished) return text;
  }
  return text + texts[i].after;
}

Translation TranslatePipeline::Session::State::translation(const Text& text) {
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

TranslatePipeline::Session TranslatePipeline::begin(std::span<const std::string_view> texts,
                                                    const TranslateOptions& options) {
  check(options);
  auto state = std::make_unique<Session::State>(*this, options);
  for (const std::string_view text : texts) state->add(text);
  state->sort();
  return Session(std::move(state));
}

TranslatePipeline::Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
TranslatePipeline::Session::Session(Session&&) noexcept = default;
TranslatePipeline::Session& TranslatePipeline::Session::operator=(Session&&) noexcept = default;
TranslatePipeline::Session::~Session() = default;

bool TranslatePipeline::Session::done() const {
  return !state_->search && state_->next == state_->order.size();
}

bool TranslatePipeline::Session::step() {
  if (done()) return false;
  State& state = *state_;
  state.streamed.reset();
  if (!state.search) {
    state.start_batch();
    return true;
  }
  const bool goes_on = state.search->step();
  if (state.options.stream) state.stream();
  if (!goes_on) state.finish_batch();
  return !done();
}

const std::optional<StreamedToken>& TranslatePipeline::Session::streamed() const {
  return state_->streamed;
}

std::string TranslatePipeline::Session::text(std::size_t i) const { return state_->text(i); }

const SentenceTranslation& TranslatePipeline::Session::sentence() const {
  return state_->sentences[state_->current].result;
}

std::vector<std::variant<Translation, Error>> TranslatePipeline::Session::take_results() {
  std::vector<std::variant<Translation, Error>> results;
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
