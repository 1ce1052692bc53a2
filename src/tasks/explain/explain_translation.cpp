#include <algorithm>

#include "explain/contrast.hpp"
#include "explain/readings/lens.hpp"
#include "explain/readings/rollout.hpp"
#include "explain/traced.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/explain/explanation_job.hpp"
#include "tasks/explain/next/next_patching.hpp"
#include "tasks/limits.hpp"
#include "tasks/translate/translate.hpp"
#include "text/sentences.hpp"

namespace glassformer {
namespace {

struct Options {
  std::string method;
  std::optional<std::string> from = {}, to = {};
  std::size_t beams = 1, words = usual_lens_words;
  // Options of the attribution.
  std::size_t sentence = 0, position = 0;
  std::vector<std::int32_t> prefix = {};
  NextAttributionOptions attribution = {};
  bool shows_progress = false;
};

Options options_of(const ExplainRequest& request) {
  const ExplainOptions& asked = request.options;
  return {.method = std::string(request.method->name),
          .from = asked.from,
          .to = asked.to,
          .beams = asked.beams.value_or(1),
          .words = asked.words,
          .sentence = asked.sentence,
          .position = asked.position.value_or(asked.prefix.size()),
          .prefix = asked.prefix,
          .attribution = next_attribution_options(request),
          .shows_progress = asked.on_progress};
}

using Sentence = ExplainedSentence;

class TranslationExplainer {
 public:
  TranslationExplainer(TranslatePipeline& pipeline, Options options)
      : pipeline_(pipeline),
        options_(std::move(options)),
        attributions_(pipeline.runner(), pipeline.target_tokenizer(), pipeline.specials().never) {
    attributions_.expect_tokens(options_.attribution);
    // Rejects languages that the model does not know.
    pipeline_.begin(std::span<const std::string_view>(),
                    {.from = options_.from, .to = options_.to});
  }

  const TranslatePipeline& pipeline() const { return pipeline_; }
  const Options& options() const { return options_; }
  const NextTokenAttribution& attributions() const { return attributions_; }
  std::size_t encoder_layers() const { return pipeline_.config().encoder().layers.size(); }
  std::size_t decoder_layers() const { return pipeline_.config().decoder().layers.size(); }

  // Translates one sentence and adds what the method needs.
  Sentence begin(std::string_view text, const SentenceRange& range) const {
    TranslateOptions asked = {.from = options_.from, .to = options_.to, .beams = options_.beams};
    if (options_.method == "rollout") {
      asked.attention = true;
      expect_residuals(pipeline_.config().encoder(), "rollout");
      expect_residuals(pipeline_.config().decoder(), "rollout");
      if (pipeline_.config().decoder().recurrent()) {
        throw_error(ErrorCode::unsupported,
                    "method: expected lens or decoder_lens, got rollout, as this decoder has a "
                    "recurrent unit instead of self-attention");
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
    Sentence sentence = {
        .start = range.start16, .end = range.end16, .translation = translate(text, range, asked)};
    if (options_.method == "rollout") {
      const SentenceTranslation& of = sentence.translation;
      sentence.rollout = rollout({*of.encoder, *of.decoder, *of.cross});
      expect_finite(sentence.rollout);
    }
    if (options_.method == "lens") {
      sentence.lens = read_stream(sentence.translation);
      for (const std::vector<std::vector<Guess>>& rows : sentence.lens.layers) {
        std::vector<std::int32_t> ids;
        for (const std::vector<Guess>& guesses : rows) ids.push_back(guesses[0].id);
        sentence.readings.push_back(pipeline_.target_tokenizer().decode(ids));
      }
    }
    return sentence;
  }

  // Encodes the source of a translation for the decoder.
  Seq2Seq::Encoded encode(const SentenceTranslation& translation) const {
    std::vector<std::int32_t> ids;
    for (const InputToken& token : translation.source_tokens) ids.push_back(token.id);
    Batch source;
    source.add(ids);
    return pipeline_.model().encode(source, {}, pipeline_.session());
  }

  // Prepares activation patching of a sentence of a text by that of another.
  PatchedPair patched_pair(std::string_view base, std::string_view donor) const;

  // DecoderLens: translates with the stream of an encoder layer in place of the last one's.
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
    TranslateOptions asked = {.from = options_.from, .to = options_.to, .beams = options_.beams};
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
                                 view(stream.data.data(), {stream.shape[0], stream.shape[1]}),
                                 GuessLimits{options_.words, pipeline_.target_tokenizer().size()}));
      name_guesses(read.layers.back(), pipeline_.target_tokenizer());
    }
    return read;
  }

  TranslatePipeline& pipeline_;
  Options options_;
  NextTokenAttribution attributions_;
};

// Returns the sentences of a text. Throws `too_large`, `empty_input`.
std::vector<SentenceRange> sentences_of(std::string_view text) {
  expect_text_size(TranslatePipeline::max_text_bytes, text.size());
  std::vector<SentenceRange> ranges = split_sentences(text);
  if (ranges.empty()) {
    throw_error(ErrorCode::empty_input, "text: expected at least one token, got none");
  }
  return ranges;
}

// Returns the sentence of a text that the options select.
SentenceRange selected_sentence(std::string_view text, std::size_t sentence) {
  const std::vector<SentenceRange> ranges = sentences_of(text);
  expect_below("sentence", "one of the text's sentences", sentence, ranges.size());
  return ranges[sentence];
}

PatchedPair TranslationExplainer::patched_pair(std::string_view base,
                                               std::string_view donor) const {
  const SentenceRange own = selected_sentence(base, options_.sentence);
  const SentenceRange other = selected_sentence(donor, options_.sentence);
  const auto source_tokens = [&](std::string_view text, const SentenceRange& range) {
    std::vector<InputToken> tokens =
        translate(text, range, {.from = options_.from, .to = options_.to, .max_length = 1})
            .source_tokens;
    for (InputToken& token : tokens) {
      token.start += range.start16;
      token.end += range.start16;
    }
    return tokens;
  };
  PatchedPair pair = align_pair(pipeline_.runner(), PatchedStack::encoder, source_tokens(base, own),
                                source_tokens(donor, other));
  std::vector<std::int32_t> prefix = options_.prefix;
  std::optional<NextAttributionOptions> parting;
  if (prefix.empty()) {
    const auto written = [&](std::string_view text, const SentenceRange& range,
                             const std::vector<Patch>& positions) {
      const SentenceTranslation of = translate(
          text, range,
          {.from = options_.from, .to = options_.to, .beams = options_.beams, .patch = positions});
      std::vector<std::int32_t> ids;
      for (const OutputToken& token : of.output.tokens) ids.push_back(token.id);
      return ids;
    };
    const auto ids = written(base, own, pair.patching.base_positions());
    const auto donors = written(donor, other, pair.patching.donor_positions());
    const auto [is, would] = std::ranges::mismatch(ids, donors);
    prefix.assign(ids.begin(), is);
    parting.emplace();
    if (is != ids.end() && would != donors.end()) *parting = {.token = *would, .against = *is};
  }
  for (const std::int32_t id : prefix) attributions_.expect_token("prefix", id);
  std::vector<std::int32_t> decoded = {pipeline_.start_for({.to = options_.to})};
  decoded.insert(decoded.end(), prefix.begin(), prefix.end());
  expect_below("prefix", "a number of ids", prefix.size(), pipeline_.config().decoder().max_length);
  pair.patching.read(std::move(decoded));
  pair.prefix = std::move(prefix);
  compare(pair, attributions_, options_.attribution, parting);
  return pair;
}

// Explains each sentence of a text.
class TranslationSteps final : public ExplanationSteps {
 public:
  TranslationSteps(const TranslationExplainer& explainer, std::string_view text)
      : explainer_(explainer), text_(text), ranges_(sentences_of(text)) {}

  // Explains the next sentence or, for decoder_lens, reads the next layer of the last one.
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

  ExplainedInput take() override { return {.part = std::move(sentences_)}; }

 private:
  const TranslationExplainer& explainer_;
  std::string text_;
  std::vector<SentenceRange> ranges_;
  std::vector<Sentence> sentences_;
};

// Translates a sentence up to the token that the explainer's options select.
ReachedPlace reach(const TranslationExplainer& explainer, std::string_view text) {
  const std::size_t position = explainer.options().position;
  ReachedPlace reached;
  reached.sentence = explainer.begin(text, selected_sentence(text, explainer.options().sentence));
  const std::vector<OutputToken>& tokens = reached.sentence.translation.output.tokens;
  expect_below("position", "one of the translation's tokens", position, tokens.size());
  reached.decoded.push_back(explainer.pipeline().start_for({.to = explainer.options().to}));
  for (std::size_t t = 0; t < position; ++t) reached.decoded.push_back(tokens[t].id);
  reached.encoded = explainer.encode(reached.sentence.translation);
  reached.own = tokens[position].id;
  return reached;
}

// Explains one token of one sentence.
class SentenceAttributionSteps final : public ExplanationSteps {
 public:
  SentenceAttributionSteps(const TranslationExplainer& explainer, std::string_view text)
      : explainer_(explainer), text_(text) {}

  // Computes the translation and its sum, or the effect of the next column.
  bool step() override {
    if (result_) {
      explainer_.attributions().measure_next(place_.text(), *result_);
    } else {
      place_ = reach(explainer_, text_);
      NextAttributionOptions asked = options().attribution;
      if (!asked.token && asked.against != place_.own) asked.token = place_.own;
      result_ = explainer_.attributions().sum(place_.text(), asked);
    }
    return !is_whole(*result_, options().attribution);
  }

  ExplainedInput take() override {
    return {.part = SentenceLogitAttribution{options().sentence, options().position,
                                             std::move(place_.sentence), *std::move(result_)}};
  }

 private:
  const Options& options() const { return explainer_.options(); }

  const TranslationExplainer& explainer_;
  std::string text_;
  ReachedPlace place_;
  std::optional<NextLogitAttribution> result_;
};

class TranslationExplanations final : public TextExplanations {
 public:
  TranslationExplanations(TranslatePipeline& pipeline, std::span<const TextInput> texts,
                          Options options)
      : TextExplanations(texts, options.method), explainer_(pipeline, std::move(options)) {
    if (!patches()) single_texts(texts);  // refuses pairs
  }

 private:
  bool patches() const { return method() == "activation_patching"; }

  std::unique_ptr<ExplanationSteps> begin(const TextInput& text) override {
    if (patches()) {
      return make_patching_steps(explainer_.patched_pair(text.text, expect_donor(text)),
                                 explainer_.options().shows_progress);
    }
    if (method() == "direct_logit_attribution")
      return std::make_unique<SentenceAttributionSteps>(explainer_, text.text);
    return std::make_unique<TranslationSteps>(explainer_, text.text);
  }

  TranslationExplainer explainer_;
};

}  // namespace

ReachedPlace reach(TranslatePipeline& pipeline, std::string_view text,
                   const TranslatedPlace& place) {
  return reach(TranslationExplainer(pipeline, {.method = "direct_logit_attribution",
                                               .from = place.from,
                                               .to = place.to,
                                               .beams = place.beams,
                                               .sentence = place.sentence,
                                               .position = place.position,
                                               .prefix = place.prefix}),
               text);
}

std::unique_ptr<TypedJob<ExplainedInput>> begin_explanation(TranslatePipeline& pipeline,
                                                            std::span<const TextInput> texts,
                                                            const ExplainRequest& request) {
  return std::make_unique<TranslationExplanations>(pipeline, texts, options_of(request));
}

}  // namespace glassformer
