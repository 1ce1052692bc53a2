#include <algorithm>
#include <array>

#include "base/decimal.hpp"
#include "explain/contrast.hpp"
#include "explain/lens.hpp"
#include "explain/rollout.hpp"
#include "explain/traced.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/explain/explain_work.hpp"
#include "tasks/limits.hpp"
#include "tasks/translate/translate.hpp"
#include "text/sentences.hpp"

namespace glassformer {
namespace {

constexpr std::array<std::string_view, 4> methods = {"rollout", "lens", "decoder_lens", "ledger"};

struct Options {
  std::string method;
  std::size_t beams = 1, words = 5;
  // Of the ledger.
  std::size_t sentence = 0, position = 0;
  std::vector<std::int32_t> prefix = {};
  NextLedgerOptions ledger = {};
};

Options read_options(const TaskOptions& task) {
  OptionsReader reader(task);
  Options options;
  reader.require("method");
  options.method = methods[reader.choose("method", methods)];
  if (reader.find("beams")) {
    options.beams = static_cast<std::size_t>(reader.integer("beams", 1, max_beams));
  }
  if (options.method == "lens" && reader.find("words")) {
    options.words = static_cast<std::size_t>(reader.integer("words", 1, most_lens_words));
  }
  if (options.method == "ledger") {
    if (reader.find("sentence")) options.sentence = reader.index("sentence");
    for (const std::size_t id : reader.indices("prefix", "ids")) {
      options.prefix.push_back(static_cast<std::int32_t>(id));
    }
    options.position = options.prefix.size();
    if (reader.find("position")) options.position = reader.index("position");
    options.ledger = read_next_ledger(reader);
  }
  reader.finish();
  return options;
}

// One sentence, explained.
struct Sentence {
  std::uint32_t start, end;  // in the text
  SentenceTranslation translation;
  std::vector<float> rollout = {};  // [T, T + S]
  NextLens lens = {};
  std::vector<std::pair<std::string, float>> read_from = {};  // text and score by layer
};

class TranslationExplainer {
 public:
  TranslationExplainer(TranslatePipeline& pipeline, Options options)
      : pipeline_(pipeline),
        options_(std::move(options)),
        ledgers_(pipeline.runner(), pipeline.target_tokenizer(), pipeline.specials().never) {
    ledgers_.expect_tokens(options_.ledger);
  }

  const TranslatePipeline& pipeline() const { return pipeline_; }
  const Options& options() const { return options_; }
  const NextTokenLedger& ledgers() const { return ledgers_; }
  std::size_t encoder_layers() const { return pipeline_.config().encoder().layers.size(); }
  std::size_t decoder_layers() const { return pipeline_.config().decoder().layers.size(); }

  // Translates one sentence and shows what the method needs.
  Sentence begin(std::string_view text, const SentenceRange& range) const {
    TranslateOptions asked = {.beams = options_.beams};
    if (options_.method == "rollout") {
      asked.attention = true;
      if (pipeline_.config().decoder().recurrent()) {
        throw_error(ErrorCode::unsupported,
                    "method: expected lens or decoder_lens, got rollout, as this decoder has a "
                    "recurrent unit in the place of self-attention");
      }
    }
    if (options_.method == "lens") {
      asked.trace = {"decoder.layers.*.input",
                     "decoder.layers." + std::to_string(decoder_layers() - 1) + ".output"};
    }
    if (options_.method == "decoder_lens") asked.trace = {"encoder.layers.*.input"};
    if (!options_.prefix.empty()) {
      asked.prefixes = {options_.prefix};
      asked.max_length = options_.position + 1;
    }
    Sentence sentence = {range.start16, range.end16, translate(text, range, asked)};
    if (options_.method == "rollout") {
      const SentenceTranslation& of = sentence.translation;
      sentence.rollout = rollout({*of.encoder, *of.decoder, *of.cross});
      expect_finite(sentence.rollout);
    }
    if (options_.method == "lens") sentence.lens = read_stream(sentence.translation);
    return sentence;
  }

  // The source of a translation, as the decoder reads it.
  Seq2Seq::Encoded encode(const SentenceTranslation& translation) const {
    std::vector<std::int32_t> ids;
    for (const InputToken& token : translation.source_tokens) ids.push_back(token.id);
    Batch source;
    source.add(ids);
    return pipeline_.model().encode(source, {}, pipeline_.session());
  }

  // DecoderLens: the translation with a layer's stream in the place of the last one's.
  void read_from_layer(std::string_view text, const SentenceRange& range,
                       Sentence& sentence) const {
    const std::size_t layer = sentence.read_from.size();
    if (layer == encoder_layers()) {
      sentence.read_from.emplace_back(sentence.translation.output.text,
                                      sentence.translation.output.score);
      return;
    }
    const TracedTensor& stream =
        find_traced(sentence.translation.trace, encoder_layer_name(layer, "input"));
    TranslateOptions asked = {.beams = options_.beams};
    asked.patch = {{.name = encoder_layer_name(encoder_layers() - 1, "output"),
                    .shape = stream.shape,
                    .value = stream.data}};
    const SentenceTranslation read = translate(text, range, asked);
    sentence.read_from.emplace_back(read.output.text, read.output.score);
  }

 private:
  SentenceTranslation translate(std::string_view text, const SentenceRange& range,
                                const TranslateOptions& asked) const {
    Translation translation =
        pipeline_.translate(text.substr(range.begin, range.end - range.begin), asked);
    if (translation.sentences.size() != 1) {
      throw_error(ErrorCode::unsupported,
                  {"explain: expected sentences within the model's limit of {} tokens, got a "
                   "longer one",
                   {pipeline_.config().max_source_length()}});
    }
    return std::move(translation.sentences[0]);
  }

  NextLens read_stream(const SentenceTranslation& of) const {
    NextLens read;
    for (std::size_t layer = 0; layer <= decoder_layers(); ++layer) {
      const bool last = layer == decoder_layers();
      TracedTensor stream = find_traced(
          of.trace, layer_name("decoder", last ? layer - 1 : layer, last ? "output" : "input"));
      read.layers.push_back(lens(pipeline_.runner(),
                                 view<2>(stream.data.data(), {stream.shape[0], stream.shape[1]}),
                                 GuessLimits{options_.words, pipeline_.target_tokenizer().size()}));
      name_guesses(read.layers.back(), pipeline_.target_tokenizer());
    }
    return read;
  }

  TranslatePipeline& pipeline_;
  Options options_;
  NextTokenLedger ledgers_;
};

// The sentences of a text. Throws `too_large`, `empty_input`.
std::vector<SentenceRange> sentences_of(std::string_view text) {
  expect_text_size(TranslatePipeline::max_text_bytes, text.size());
  std::vector<SentenceRange> ranges = split_sentences(text);
  if (ranges.empty()) {
    throw_error(ErrorCode::empty_input, "text: expected at least one token, got none");
  }
  return ranges;
}

// What is known of a sentence, whatever the method.
void write_fields(ResultWriter& json, const Sentence& sentence) {
  const SentenceTranslation& of = sentence.translation;
  json.field("start", sentence.start);
  json.field("end", sentence.end);
  json.field("text", of.output.text);
  json.key("tokens");
  json.array(of.output.tokens, [&](const OutputToken& token) {
    json.object([&] {
      json.field("id", token.id);
      json.field("text", token.text);
    });
  });
  json.key("sourceTokens");
  write(json, of.source_tokens);
}

// Of each sentence of a text.
class TranslationWork final : public ExplainWork {
 public:
  TranslationWork(const TranslationExplainer& explainer, std::string_view text)
      : explainer_(explainer), text_(text), ranges_(sentences_of(text)) {}

  // The next sentence, or what the next layer of the last one reads as.
  bool step() override {
    const bool reads = explainer_.options().method == "decoder_lens";
    const std::size_t layers = reads ? explainer_.encoder_layers() + 1 : 0;
    if (sentences_.empty() || sentences_.back().read_from.size() == layers) {
      sentences_.push_back(explainer_.begin(text_, ranges_[sentences_.size()]));
    } else {
      explainer_.read_from_layer(text_, ranges_[sentences_.size() - 1], sentences_.back());
    }
    return sentences_.size() < ranges_.size() || sentences_.back().read_from.size() < layers;
  }

  void write(ResultWriter& json) const override {
    json.key("sentences");
    json.array([&] {
      for (std::size_t i = 0; i < sentences_.size(); ++i) {
        json.object([&] { write_sentence(json, sentences_[i], i); });
      }
    });
  }

  std::string line() const override;

 private:
  // Tensors are named "sentences.0.rollout".
  void write_sentence(ResultWriter& json, const Sentence& sentence, std::size_t index) const {
    const SentenceTranslation& of = sentence.translation;
    write_fields(json, sentence);
    if (!sentence.rollout.empty()) {
      const std::size_t targets = of.decoder->queries, sources = of.encoder->queries;
      const std::string prefix = json.embeds() ? "" : "sentences." + std::to_string(index) + ".";
      json.tensor({prefix + "rollout", {targets, targets + sources}, sentence.rollout});
    }
    if (!sentence.lens.layers.empty()) glassformer::write(json, sentence.lens);
    if (!sentence.read_from.empty()) {
      json.key("layers");
      json.array(sentence.read_from, [&](const std::pair<std::string, float>& read) {
        json.object([&] {
          json.field("text", read.first);
          json.field("score", read.second);
        });
      });
    }
  }

  const TranslationExplainer& explainer_;
  std::string text_;
  std::vector<SentenceRange> ranges_;
  std::vector<Sentence> sentences_;
};

// Of rollout each token and how much of it is of the source; of the lenses each layer's reading.
std::string TranslationWork::line() const {
  std::vector<std::string> fields;
  for (const Sentence& sentence : sentences_) {
    const SentenceTranslation& of = sentence.translation;
    const std::size_t written = sentence.rollout.empty() ? 0 : of.output.tokens.size();
    for (std::size_t t = 0; t < written; ++t) {
      const std::size_t targets = of.decoder->queries, columns = targets + of.encoder->queries;
      float source = 0;
      for (std::size_t c = targets; c < columns; ++c) source += sentence.rollout[t * columns + c];
      const std::string& token = of.output.tokens[t].text;
      fields.push_back(token.substr(token.starts_with(' ') ? 1 : 0) + "=" + six_decimals(source));
    }
    for (const std::vector<std::vector<Guess>>& rows : sentence.lens.layers) {
      std::vector<std::int32_t> ids;
      for (const std::vector<Guess>& guesses : rows) ids.push_back(guesses[0].id);
      fields.push_back(explainer_.pipeline().target_tokenizer().decode(ids));
    }
    for (const auto& [text, score] : sentence.read_from) fields.push_back(text);
  }
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    line.append(i > 0 ? "\t" : "").append(fields[i]);
  }
  return line;
}

// Of one token of one sentence.
class LedgerWork final : public ExplainWork {
 public:
  LedgerWork(const TranslationExplainer& explainer, std::string_view text)
      : explainer_(explainer), text_(text), ranges_(sentences_of(text)) {
    expect_below("sentence", "one of the text's sentences", options().sentence, ranges_.size());
  }

  // The translation and its sum, or the effect of the next column.
  bool step() override {
    if (result_) {
      explainer_.ledgers().measure_next({decoded_, &encoded_}, *result_);
    } else {
      begin();
    }
    return !is_whole(*result_, options().ledger);
  }

  void write(ResultWriter& json) const override {
    json.field("sentence", options().sentence);
    write_fields(json, *sentence_);
    json.field("position", options().position);
    glassformer::write(json, *result_);
  }
  std::string line() const override { return line_of(result_->ledger); }

 private:
  const Options& options() const { return explainer_.options(); }
  static void expect_below(const char* name, const char* what, std::size_t got, std::size_t end) {
    if (got < end) return;
    refuse_option({"{}: expected {}, below {}, got {}", {name, what, end, got}});
  }

  void begin() {
    sentence_ = explainer_.begin(text_, ranges_[options().sentence]);
    const std::vector<OutputToken>& tokens = sentence_->translation.output.tokens;
    const std::size_t position = options().position;
    expect_below("position", "one of the translation's tokens", position, tokens.size());
    decoded_.push_back(explainer_.pipeline().specials().start);
    for (std::size_t t = 0; t < position; ++t) decoded_.push_back(tokens[t].id);
    encoded_ = explainer_.encode(sentence_->translation);
    NextLedgerOptions asked = options().ledger;
    if (!asked.token && asked.against != tokens[position].id) asked.token = tokens[position].id;
    result_ = explainer_.ledgers().sum({decoded_, &encoded_}, asked);
  }

  const TranslationExplainer& explainer_;
  std::string text_;
  std::vector<SentenceRange> ranges_;
  std::optional<Sentence> sentence_;
  std::vector<std::int32_t> decoded_;
  Seq2Seq::Encoded encoded_;
  std::optional<NextLedger> result_;
};

class TranslationExplainJob final : public ExplainJob {
 public:
  TranslationExplainJob(TranslatePipeline& pipeline, std::span<const TextInput> texts,
                        Options options, ResultForm form)
      : ExplainJob(texts, options.method, form), explainer_(pipeline, std::move(options)) {
    for (const TextInput& text : texts) static_cast<void>(text.alone());
  }

 private:
  std::unique_ptr<ExplainWork> begin(const TextInput& text) override {
    if (method() == "ledger") return std::make_unique<LedgerWork>(explainer_, text.text);
    return std::make_unique<TranslationWork>(explainer_, text.text);
  }

  TranslationExplainer explainer_;
};

}  // namespace

std::unique_ptr<Job> begin_explanation(TranslatePipeline& pipeline,
                                       std::span<const TextInput> texts, const TaskOptions& options,
                                       ResultForm form) {
  return std::make_unique<TranslationExplainJob>(pipeline, texts, read_options(options), form);
}

}  // namespace glassformer
