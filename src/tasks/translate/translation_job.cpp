#include <algorithm>
#include <cmath>

#include "base/heap_sort.hpp"
#include "base/strings/utf8.hpp"
#include "run/trace/trace_plan.hpp"
#include "tasks/limits.hpp"
#include "tasks/reading/input_tokens.hpp"
#include "tasks/translate/translate.hpp"
#include "tasks/writing/writing.hpp"

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

template <class Range>
void move_by(std::uint32_t units, Range& range) {
  range.start += units;
  range.end += units;
}

// Returns the ranges of tokens in a text that starts at `start`.
template <class AnyToken>
std::vector<TextRange> ranges_of(const std::vector<AnyToken>& tokens, std::uint32_t start) {
  std::vector<TextRange> ranges;
  for (const AnyToken& token : tokens) ranges.push_back({token.start - start, token.end - start});
  return ranges;
}

std::vector<AlignmentLink> alignment_of(const SentenceTranslation& result, std::string_view source,
                                        const AttentionMap& cross,
                                        const std::optional<AlignmentOptions>& options) {
  const auto target = words_of(result.output.text, ranges_of(result.output.tokens, 0));
  const auto words = words_of(source, ranges_of(result.source_tokens, result.start));
  std::vector<AlignmentLink> links =
      align(cross, options.value_or(AlignmentOptions()), target, words);
  for (AlignmentLink& link : links) move_by(result.start, link.source);
  return links;
}

std::vector<SearchNode> nodes_of(const std::vector<Candidate>& tree, const Tokenizer& tokenizer) {
  std::vector<SearchNode> nodes;
  for (const Candidate& node : tree) {
    nodes.push_back({.parent = node.parent,
                     .id = node.id,
                     .text = tokenizer.display_text(node.id),
                     .logprob = node.logprob,
                     .total = static_cast<float>(node.total),
                     .kept = node.kept});
  }
  return nodes;
}

// Turns offsets in the translation of a sentence into offsets in the whole translation, where it
// begins at target_start.
void place(SentenceTranslation& sentence) {
  const auto move_all = [&](std::vector<OutputToken>& tokens) {
    for (OutputToken& token : tokens) move_by(sentence.target_start, token);
  };
  move_all(sentence.output.tokens);
  for (OutputText& hypothesis : sentence.hypotheses) move_all(hypothesis.tokens);
  if (!sentence.alignment) return;
  for (AlignmentLink& link : *sentence.alignment) move_by(sentence.target_start, link.target);
}

}  // namespace

// Reads all texts, sorts their sentences by length and translates them in batches, or one after the
// other for a stream.
class TranslatingJob final : public TranslationJob {
 public:
  TranslatingJob(TranslatePipeline& pipeline, std::span<const std::string_view> texts,
                 const TranslateOptions& options)
      : pipeline_(pipeline),
        config_(pipeline.config_),
        options_(options),
        plan_{.search = pipeline.search_of(options),
              .tokens = pipeline.model_.vocab_size(),
              .special =
                  pipeline.as_library(options) ? pipeline.library_special_ : pipeline.special_},
        reader_(pipeline.reader_for(options)) {
    plan_.constraints = pipeline.constraints_for(options);
    trace_ = TracePlan(pipeline.model_, pipeline.session(),
                       {.attention = options.attention,
                        .names = options.trace,
                        .patches = with_ablations(options.patch, options.ablate)});
    plan_.captured = trace_.request();
    plan_.captured.attention = sees();
    plan_.special.start = pipeline.start_for(options);
    plan_.prompt = {plan_.special.start};
    if (!plan_.constraints.empty() && plan_.search.beams == 1) {
      plan_.choice.emplace();            // the most probable token that they allow
      plan_.search.renormalize = false;  // log-probabilities stay the model's
    }
    if (pipeline.shortlist_ &&
        std::ranges::find(options.patch, "logits", &Patch::name) != options.patch.end()) {
      throw_error(
          ErrorCode::unsupported,
          "patch: logits: expected a translator without a shortlist, which leaves out most");
    }
    for (const std::string_view text : texts) texts_.push_back({.text = std::string(text)});
  }

  bool step() override {
    streamed_.reset();
    if (writing_) {
      go_on();
    } else {
      if (unread_ < texts_.size()) read_some();
      if (unread_ == texts_.size() && next_ < order_.size()) start_batch();
    }
    return !done();
  }

  bool done() const override {
    return unread_ == texts_.size() && !writing_ && next_ == order_.size();
  }
  const std::optional<StreamedToken>& streamed() const override { return streamed_; }
  const SentenceTranslation& sentence() const override { return sentences_[current_].result; }

  std::string text(std::size_t i) const override {
    std::string text;
    for (std::size_t s = texts_[i].first; s < texts_[i].last; ++s) {
      const Sentence& sentence = sentences_[s];
      if (sentence.result.output.tokens.empty()) return text;  // its translation has not begun
      text += sentence.source.before + sentence.result.output.text;
      if (!sentence.finished) return text;
    }
    return text + texts_[i].after;
  }

  bool show(ResultWriter& writer) override {
    if (!streamed_) return false;
    const SentenceTranslation& of = sentence();
    const bool first = of.output.tokens.size() == 1;
    writer.object([&] {
      writer("token", streamed_->token);
      writer("text", of.output.text);
      if (first) {
        writer("before", streamed_->before);
        writer.key("sentence");
        writer.object([&] {
          writer("index", streamed_->sentence);
          writer("start", of.start);
          writer("end", of.end);
          writer("targetStart", of.target_start);
          writer("sourceTokens", of.source_tokens);
        });
      }
      if (!streamed_->cross) return;
      std::optional<AttentionMap> encoder = first ? of.encoder : std::nullopt;
      writer.attention({&encoder, &streamed_->decoder, &streamed_->cross});
    });
    return true;
  }

  Results<Translation> take() override {
    Results<Translation> results;
    for (const Text& text : texts_) {
      if (text.error) {
        results.emplace_back(*text.error);
      } else {
        results.emplace_back(translation(text));
      }
    }
    return results;
  }

 private:
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
    std::string after = {};           // the text after them
    std::optional<Error> error = {};
  };

  void write_fields(ResultWriter& writer, Translation& result) override { fields(writer, result); }

  bool sees() const { return options_.attention || options_.alignment; }

  void read_some() {
    for (std::size_t bytes = 0; unread_ < texts_.size() && bytes < read_bytes; ++unread_) {
      bytes += texts_[unread_].text.size();
      read(texts_[unread_]);
    }
    if (unread_ < texts_.size()) return;
    // In a batch of similar lengths, few steps run for the longest sentence only.
    const auto tokens = [&](std::size_t i) { return sentences_[i].source.tokens.size(); };
    order_ = sorted_order(sentences_.size(), [&](std::size_t a, std::size_t b) {
      return !options_.stream && tokens(a) > tokens(b);
    });
  }

  void read(Text& text) {
    text.first = text.last = sentences_.size();
    try {
      expect_text_size(TranslatePipeline::max_text_bytes, text.text.size());
      SourceText source = reader_.read(text.text);
      expect_fits(source);
      for (SourceSentence& sentence : source.sentences) {
        add(std::move(sentence), sentences_.size() - text.first);
      }
      text.last = sentences_.size();
      text.after = std::move(source.after);
    } catch (const Error& error) {
      text.error = error;
    }
    text.text = std::string();
  }

  // Adds sentence `index` of the text that is being read.
  void add(SourceSentence source, std::size_t index) {
    SentenceTranslation result = {};
    result.start = source.start;
    result.end = source.end;
    result.clipped = source.clipped;
    result.source_tokens = input_tokens(source.tokens, pipeline_.source_tokenizer());
    Sentence& added = sentences_.emplace_back(
        Sentence{.text = unread_, .source = std::move(source), .result = std::move(result)});
    if (index < options_.prefixes.size()) added.prefix = options_.prefixes[index];
    if (index < options_.mask_tokens.size()) {
      added.masked = options_.mask_tokens[index];
      expect_mask(added.source.tokens.size(), added.masked);
    }
  }

  // Returns the maximum number of tokens of a sentence's translation.
  std::size_t max_length(std::size_t source_tokens) const {
    const GenerationConfig& folder = config_.generation;
    std::size_t wanted = 3 * source_tokens + 16;
    if (options_.max_length) {
      wanted = *options_.max_length;
    } else if (folder.max_new_tokens) {
      wanted = *folder.max_new_tokens;
    } else if (folder.max_length_factor) {
      const float length = *folder.max_length_factor * static_cast<float>(source_tokens);
      wanted = static_cast<std::size_t>(std::ceil(std::clamp(length, 1.0f, 1e6f)));
    } else if (folder.max_length) {
      wanted = std::max<std::size_t>(*folder.max_length, 2) - 1;  // the start token is counted
    }
    return std::min(wanted, config_.decoder().max_length);
  }

  // Returns the number of attention weights of all nodes of a search.
  std::uint64_t weights_of_nodes(const TextLengths& lengths) const {
    const StackConfig& decoder = config_.decoder();
    return saturating_product({decoder.layers.size(), decoder.n_heads(), plan_.search.beams,
                               lengths.target, (lengths.target + 1) / 2 + lengths.source});
  }

  // Throws if the searches or attention weights of a text may take too much memory.
  void expect_fits(const SourceText& source) {
    const std::size_t beams = plan_.search.beams;
    std::uint64_t numbers = 0;
    for (const SourceSentence& sentence : source.sentences) {
      const std::size_t keys = sentence.tokens.size(), length = max_length(keys);
      expect_search_fits(config_.decoder(), {.most = "up to ",
                                             .tokens = length,
                                             .beams = beams,
                                             .nodes = beams * length,
                                             .option = "max_length"});
      const TextLengths lengths = {.source = keys, .target = length};
      numbers += result_numbers(config_, trace_, lengths);
      if (!sees()) continue;
      TraceBudget().take(options_.stream ? weights_of_nodes(lengths)
                                         : decoder_weights(config_.decoder(), lengths));
    }
    budget_.take(numbers);
  }

  // What a batch needs, in addition to its sentences in `batch_`.
  struct BatchInput {
    Batch sources = {};
    std::vector<std::vector<std::int32_t>> choices = {};  // with a shortlist
    DecodingLimits limits = {.nodes = 0, .positions = 0, .rows = 0};
    std::uint64_t weights = 0;  // of the attention of all nodes
  };

  // Chooses the sentences of the next batch.
  BatchInput next_batch() {
    BatchInput input;
    DecodingLimits& limits = input.limits;
    const std::size_t beams = plan_.search.beams;
    std::uint64_t bytes = 0;
    batch_.clear();
    plan_.max_lengths.clear();
    for (; next_ < order_.size(); ++next_) {
      const Sentence& sentence = sentences_[order_[next_]];
      const std::vector<Token>& tokens = sentence.source.tokens;
      const std::size_t length = max_length(tokens.size());
      bytes += search_bytes(config_.decoder(), beams * length);
      const bool full = input.sources.tokens() + tokens.size() > batch_tokens ||
                        limits.rows + beams > batch_hypotheses || bytes > max_search_bytes;
      if (!batch_.empty() && (full || options_.stream)) break;
      std::vector<std::int32_t> ids;
      for (const Token& token : tokens) ids.push_back(token.id);
      input.sources.add(ids, sentence.masked);
      if (pipeline_.shortlist_) input.choices.push_back(pipeline_.choices(ids, sentence.prefix));
      batch_.push_back(order_[next_]);
      plan_.max_lengths.push_back(length);
      input.weights += weights_of_nodes({.source = tokens.size(), .target = length});
      limits.nodes += 1 + beams * (length - 1);
      limits.positions = std::max(limits.positions, length);
      limits.rows += beams;
    }
    return input;
  }

  void start_batch() {
    BatchInput input = next_batch();
    TraceRequest request = trace_.request();
    encoded_ = pipeline_.model_.encode(input.sources, request, pipeline_.session());
    for (std::size_t i = 0; i < encoded_.attention.size(); ++i) {
      sentences_[batch_[i]].result.encoder = std::move(encoded_.attention[i]);
    }
    for (std::size_t i = 0; i < encoded_.traces.size(); ++i) {
      sentences_[batch_[i]].result.trace = std::move(encoded_.traces[i]);
    }
    // Each step of a stream returns its attention.
    const bool fits = options_.trace.empty() && input.weights <= traced_bytes / sizeof(float);
    request.attention = sees() && (options_.stream || fits);
    request.names.clear();
    plan_.reads_again = !options_.trace.empty() || (sees() && !request.attention);
    plan_.sources = &encoded_;
    DecodingState state = pipeline_.runner().begin(&encoded_, input.limits, request);
    writing_.emplace(pipeline_.runner(), pipeline_.target_tokenizer(), plan_,
                     DecodingScorer(pipeline_.model_, std::move(state), std::move(input.choices)));
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      writing_->force(i, sentences_[batch_[i]].prefix);
    }
    finished_ = 0;
    if (options_.stream) start_stream();
  }

  // Writes a token of each sentence or, at the end, finishes sentences: all at once, or one per
  // step if they are read again.
  void go_on() {
    if (writing_->running()) {
      writing_->step();
      if (options_.stream && writing_->search().finite(0)) stream();
      if (writing_->running() || plan_.reads_again) return;
    }
    do {
      finish_sentence(finished_++);
    } while (finished_ < batch_.size() && !plan_.reads_again);
    if (finished_ < batch_.size()) return;
    writing_.reset();
    encoded_ = {};
  }

  // Sets the result of sentence `i` of the batch.
  void finish_sentence(std::size_t i) {
    Sentence& sentence = sentences_[batch_[i]];
    SentenceTranslation& result = sentence.result;
    sentence.finished = true;
    if (!writing_->search().finite(i)) {
      texts_[sentence.text].error = non_finite_text();
      return;
    }
    const Hypothesis best = writing_->search().hypotheses(i)[0];
    result.output = writing_->output(i, best);
    if (options_.hypotheses) {
      result.hypotheses = writing_->outputs(i);
      result.tree = nodes_of(writing_->search().tree(i), pipeline_.target_tokenizer());
    }
    auto [attention, trace] = writing_->captured(i, best.last);
    std::ranges::move(trace, std::back_inserter(result.trace));
    if (!sees()) return;
    result.alignment =
        alignment_of(result, sentence.source.text, *attention.cross, options_.alignment);
    if (!options_.attention) return;
    if (attention.decoder->heads > 0) result.decoder = std::move(attention.decoder);
    result.cross = std::move(attention.cross);
  }

  // Joins the translations of a text's sentences.
  Translation translation(const Text& text) {
    Translation translation = {.text = {}, .score = 0, .sentences = {}};
    std::size_t tokens = 0;
    std::uint32_t units = 0;  // of translation.text
    for (std::size_t i = text.first; i < text.last; ++i) {
      SentenceTranslation& result = sentences_[i].result;
      const std::string& before = sentences_[i].source.before;
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

  // Begins to stream the only sentence of the batch.
  void start_stream() {
    const std::size_t before = std::exchange(current_, batch_[0]);
    Sentence& sentence = sentences_[current_];
    SentenceTranslation& result = sentence.result;
    result.target_start = utf16_size(sentence.source.before);
    if (current_ == texts_[sentence.text].first) {
      settled_.clear();
      shown_bytes_ = 0;
      return;
    }
    const Sentence& last = sentences_[before];
    settled_ += last.source.before + last.result.output.text;
    result.target_start += last.result.target_start + utf16_size(last.result.output.text);
  }

  void stream() {
    Sentence& sentence = sentences_[current_];
    SentenceTranslation& result = sentence.result;
    const bool first = result.output.tokens.empty();
    const bool more = writing_->follow();
    const OutputWriter& leading = writing_->leading();
    result.output = {.text = leading.text(), .score = 0, .tokens = leading.tokens()};
    if (!more) return;
    streamed_ = {.text = sentence.text,
                 .sentence = current_ - texts_[sentence.text].first,
                 .token = leading.tokens().back(),
                 .decoder = {},
                 .cross = {}};
    move_by(result.target_start, streamed_->token);
    const std::string& before = sentence.source.before;
    if (first) {
      // A search may end with a shorter text than it showed.
      const std::string all = settled_ + before;
      streamed_->before = all.substr(std::min(shown_bytes_, all.size()));
    }
    shown_bytes_ = settled_.size() + before.size() + leading.text().size();
    if (!options_.attention) return;
    auto [decoder, encoder, cross] = writing_->leading_attention();
    if (decoder->heads > 0) streamed_->decoder = std::move(decoder);
    streamed_->cross = std::move(cross);
  }

  TranslatePipeline& pipeline_;
  const ModelConfig& config_;
  TranslateOptions options_;
  WritingPlan plan_;
  SourceReader reader_;
  TracePlan trace_;
  TraceBudget budget_;
  std::vector<Text> texts_;
  std::size_t unread_ = 0;  // the first text that is not read yet
  std::vector<Sentence> sentences_;
  std::vector<std::size_t> order_;  // sentences, in the order of their translation
  std::size_t next_ = 0;            // index in `order_` of the first sentence that has not run

  // The current batch.
  std::vector<std::size_t> batch_;  // sentences
  std::size_t finished_ = 0;        // number of its sentences that are finished
  Seq2Seq::Encoded encoded_;
  std::optional<Writing> writing_;

  // The stream.
  std::optional<StreamedToken> streamed_;
  std::size_t current_ = 0;      // the sentence of `streamed_`
  std::string settled_;          // the translations of its text's sentences before it
  std::size_t shown_bytes_ = 0;  // of its text, after the last step
};

std::unique_ptr<TranslationJob> TranslatePipeline::begin(std::span<const std::string_view> texts,
                                                         const TranslateOptions& options) {
  check(options);
  return std::make_unique<TranslatingJob>(*this, texts, options);
}

std::unique_ptr<Job> TranslatePipeline::begin(const TaskInputs& inputs,
                                              const TaskOptions& options) {
  return begin(single_texts(inputs_of<TextInput>(inputs)), read_options<TranslateOptions>(options));
}

}  // namespace glassformer
