// Limits: requests too large for memory are refused before they start, memory grows
// only as needed, and a non-finite value is never a result.

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <new>

#include "base/strings/utf8.hpp"
#include "kernels/kernels.hpp"
#include "kernels/packed/matrix.hpp"
#include "models/initialize.hpp"
#include "support/allocations.hpp"
#include "support/error_of.hpp"
#include "support/text_fixture.hpp"
#include "tasks/classify/classify.hpp"
#include "tasks/embedded_tensors.hpp"
#include "tasks/limits.hpp"
#include "tasks/translate/translate.hpp"
#include "text/sentencepiece/bpe.hpp"
#include "text/sentencepiece/unigram.hpp"
#include "weights/quantize.hpp"

namespace glassformer::test {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

ModelConfig classifier_config(const Tokenizer& tokenizer) {
  ModelConfig config;
  config.task = Task::text_classification;
  config.labels = {"negative", "positive"};
  config.architecture.head = {.kind = HeadKind::sequence_classes, .outputs = 2};
  StackConfig& stack = config.architecture.encoder.emplace();
  stack.tokens().vocab_size = tokenizer.size();
  stack.max_length = 64;
  stack.d_model = 16;
  LayerConfig layer;
  layer.attention = {.n_heads = 4, .n_kv_heads = 4, .d_head = 4, .bias = true, .out_bias = true};
  layer.feed_forward.d_ff = 24;
  stack.layers.assign(2, layer);
  stack.layer_norm.eps = 1e-5f;
  stack.final_norm = true;
  return config;
}

ModelConfig translator_config(const Tokenizer& tokenizer) {
  ModelConfig config = classifier_config(tokenizer);
  config.task = Task::translation;
  config.labels = {};
  config.source_language = "en";
  config.target_language = "de";
  StackConfig& decoder = config.architecture.decoder.emplace(config.encoder());
  decoder.max_length = 24;
  for (LayerConfig& layer : decoder.layers) layer.mixer = Mixer::causal;
  config.architecture.head = {.kind = HeadKind::next_token, .outputs = tokenizer.size()};
  config.suffix_tokens = {"</s>"};
  config.start_token = "<s>";
  config.end_token = "</s>";
  return config;
}

// Fills the parameters with random weights; those of matrices are scaled by `factor`.
void fill(const std::vector<NamedParameter>& parameters, float factor = 1, std::uint64_t seed = 1) {
  SplitMix64 random(seed);
  for (const NamedParameter& parameter : parameters) {
    std::vector<float> values = initial_values(parameter, random);
    if (parameter.shape.size() == 2) {
      for (float& value : values) value *= factor;
    }
    if (parameter.set_integers) {
      const QuantizedMatrix matrix = quantize(values, parameter.shape[0], parameter.bits);
      parameter.set_integers(matrix.values, matrix.scales, 0);
    } else {
      parameter.set(values, 0);
    }
  }
}

std::string repeat(std::string_view unit, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += unit;
  return text;
}

}  // namespace

TEST_CASE("products of sizes saturate instead of overflowing", "[limits]") {
  CHECK(saturating_product({}) == 1);
  CHECK(saturating_product({3, 0, 5}) == 0);
  CHECK(saturating_product({std::uint64_t{1} << 32, (std::uint64_t{1} << 32) - 1}) ==
        0xFFFFFFFF00000000u);
  CHECK(saturating_product({std::uint64_t{1} << 32, std::uint64_t{1} << 32}) ==
        std::numeric_limits<std::uint64_t>::max());
  CHECK(checked_product("x", {6, 7}) == 42);
  const Error error = error_of([] {
    checked_product("attention weights", {1u << 20, 1u << 20, 1u << 30});
  });
  CHECK(error.code() == ErrorCode::too_large);
  CHECK_THAT(error.what(), ContainsSubstring("attention weights: expected at most ") &&
                               ContainsSubstring(", got 1048576 x 1048576 x 1073741824"));
  const std::size_t large = std::size_t{1} << (sizeof(std::size_t) * 4);  // its square is 0
  CHECK(error_of([&] {
          return AttentionMap{.layers = 1, .heads = 1, .queries = large, .keys = large};
        }).code() == ErrorCode::too_large);
}

TEST_CASE("attention too large for memory is refused before the model runs", "[limits]") {
  ModelConfig config = classifier_config(tokenizer_named("unigram"));
  StackConfig& stack = *config.architecture.encoder;
  LayerConfig layer = stack.layers[0];
  layer.attention.n_heads = layer.attention.n_kv_heads = 8;
  layer.attention.d_head = 2;
  stack.layers.assign(8, layer);
  stack.max_length = 8192;
  ClassifyPipeline pipeline(config, own_tokenizer("unigram"));
  fill(pipeline.parameters());
  const std::string text = repeat("film ", 9000);
  const std::vector<std::string_view> texts = {text, "a film"};
  std::vector<std::variant<Classification, Error>> results;
  const std::size_t peak = peak_of([&] {
    results = pipeline.classify_batch(TextInputs(texts).items(), {.encoder = {.attention = true}});
  });
  const Error& error = std::get<Error>(results[0]);
  CHECK(error.code() == ErrorCode::too_large);
  // 8 layers, 8 heads, 8192 tokens squared, 4 bytes: overflows to 0 in 32 bits.
  CHECK_THAT(error.what(), ContainsSubstring("the requested tensors may take 16384 MiB, expected "
                                             "at most 512 MiB in one call"));
  CHECK(std::get<Classification>(results[1]).attention.has_value());
  CHECK(peak < 2'000'000);

  TraceBudget budget;  // of all texts in a call
  budget.take(100 << 20);
  CHECK_THAT(
      error_of([&] { budget.take(30 << 20); }).what(),
      ContainsSubstring("may take 120 MiB") && ContainsSubstring("other texts take 400 MiB"));
  budget.take(28 << 20);
  CHECK(error_of([&] { budget.take(1); }).code() == ErrorCode::too_large);
}

TEST_CASE("a search too large for memory is refused before it starts", "[limits]") {
  ModelConfig config = translator_config(tokenizer_named("bpe_bytes"));
  config.architecture.decoder->max_length = 131'073;
  TranslatePipeline pipeline(config, own_tokenizer("bpe_bytes"));
  fill(pipeline.parameters());
  const auto refused = [&](const TranslateOptions& options) {
    return error_of([&] { pipeline.translate("a b c", options); });
  };
  // 32 · 131,073 nodes with 2 · 16 floats per layer, and some more: 2^32 bytes would overflow to 0.
  const Error error = refused({.beams = 32, .max_length = 131'073});
  CHECK(error.code() == ErrorCode::too_large);
  CHECK_THAT(error.what(), ContainsSubstring("up to 131073 tokens with 32 beams may take 1537 MiB, "
                                             "expected at most 512 MiB"));
  CHECK(refused({.beams = 1, .max_length = 131'073, .attention = true}).code() ==
        ErrorCode::too_large);
  CHECK(refused({.beams = 1, .max_length = 131'073, .alignment = AlignmentOptions()}).code() ==
        ErrorCode::too_large);
  CHECK(refused({.beams = 1, .max_length = 131'073, .attention = true, .stream = true}).code() ==
        ErrorCode::too_large);
  CHECK(pipeline.translate("a b c", {.beams = 32}).sentences.size() == 1);
}

TEST_CASE("a search takes memory only as it grows", "[limits]") {
  ModelConfig config = translator_config(tokenizer_named("bpe_bytes"));
  config.architecture.encoder->max_length = 256;
  config.architecture.decoder->max_length = 60'000;
  TranslatePipeline pipeline(config, own_tokenizer("bpe_bytes"));
  fill(pipeline.parameters());
  const std::string text = repeat("the old man walks and ", 10);
  std::vector<std::string_view> texts = {text};
  // A new search of 30 · 60,000 nodes allocates for a likely size only. It is stopped soon.
  const std::size_t begun = peak_of([&] {
    auto job = pipeline.begin(texts, {.beams = 30, .max_length = 40'000});
    for (int i = 0; i < 5; ++i) job->step();
  });
  CHECK(begun < 12'000'000);
  // With attention, 64 beams hold the weights of one hypothesis, not of every node. They equal
  // those of a search that holds all of them.
  TranslateOptions options = {.beams = 64, .max_length = 200, .attention = true};
  Translation seen;
  const std::size_t peak = peak_of([&] { seen = pipeline.translate(text, options); });
  CHECK(peak < 30'000'000);
  options.stream = true;
  auto job = pipeline.begin(texts, options);
  const auto results = run_all(*job);
  const Translation& expected = std::get<Translation>(results[0]);
  REQUIRE(seen.sentences.size() == expected.sentences.size());
  for (std::size_t i = 0; i < seen.sentences.size(); ++i) {
    const SentenceTranslation &a = seen.sentences[i], &b = expected.sentences[i];
    CHECK(a.output.tokens == b.output.tokens);
    CHECK(a.output.tokens.size() > 100);  // more than are decoded again in one step
    CHECK(a.cross->data == b.cross->data);
    CHECK(a.decoder->data == b.decoder->data);
    CHECK(a.encoder->data == b.encoder->data);
    CHECK(a.alignment->size() == b.alignment->size());
  }
}

TEST_CASE("a decoding that outgrows its expected size gives the same result, bit for bit",
          "[limits]") {
  ModelConfig config = translator_config(tokenizer_named("bpe_bytes"));
  config.architecture.decoder->max_length = 700;
  Seq2Seq model(config.architecture);
  fill(model.parameters());
  Session session;
  Batch sources;
  sources.add(std::vector<std::int32_t>{5, 6, 7, 8});
  const auto encoded = model.encode(sources, {}, session);
  const std::size_t beams = 4, length = 690;
  REQUIRE(beams * length > likely_nodes);
  REQUIRE(length > likely_positions);
  const DecodingLimits limits = {.nodes = beams * length, .positions = length, .rows = beams};
  DecodingState state = model.begin(encoded, limits, {.attention = true}, session);
  SplitMix64 random(3);
  std::vector<Extension> step(beams), path;
  std::vector<float> last;
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t row = 0; row < beams; ++row) {
      step[row].parent = i == 0 ? no_parent : static_cast<NodeIndex>((i - 1) * beams + row);
      step[row].id = static_cast<std::int32_t>(random.next() % config.decoder().vocab_size());
    }
    path.push_back(
        {.parent = i == 0 ? no_parent : static_cast<NodeIndex>(i - 1), .id = step[2].id});
    const View hidden = model.decode(state, step);
    last.assign(&hidden(2, 0), &hidden(2, 0) + config.decoder().d_model);
  }
  const auto node = static_cast<NodeIndex>((length - 1) * beams + 2);
  const std::vector<float> weights = state.self_attention_step(node).data;

  DecodingState at_once =
      model.begin(encoded, {.nodes = length, .positions = length, .rows = length},
                  {.attention = true}, session);
  const View hidden = model.decode(at_once, path);
  CHECK(std::equal(last.begin(), last.end(), &hidden(length - 1, 0)));
  CHECK(weights == at_once.self_attention_step(static_cast<NodeIndex>(length - 1)).data);
}

TEST_CASE("a call that runs out of memory does not affect the next one", "[limits]") {
  ModelConfig config = classifier_config(tokenizer_named("unigram"));
  config.architecture.encoder->max_length = 2000;
  ClassifyPipeline classifier(config, own_tokenizer("unigram"));
  fill(classifier.parameters());
  const std::string text = repeat("the film ", 400);
  const std::vector<float> expected = [&] {
    ClassifyPipeline other(config, own_tokenizer("unigram"));
    fill(other.parameters());
    return other.classify(text).logits;
  }();
  for (const std::size_t bytes : {10'000u, 40'000u, 60'000u, 100'000u, 150'000u}) {
    CHECK_THROWS_AS(with_blocks_up_to(bytes, [&] { classifier.classify(text); }), std::bad_alloc);
  }
  CHECK(classifier.classify(text).logits == expected);

  TranslatePipeline translator(translator_config(tokenizer_named("bpe_bytes")),
                               own_tokenizer("bpe_bytes"));
  fill(translator.parameters());
  const std::string translated = translator.translate("How are you?", {.beams = 2}).text;
  for (const std::size_t bytes : {1'000u, 5'000u, 20'000u, 60'000u}) {
    CHECK_THROWS_AS(
        with_blocks_up_to(bytes, [&] { translator.translate("How are you?", {.beams = 64}); }),
        std::bad_alloc);
    CHECK(translator.translate("How are you?", {.beams = 2}).text == translated);
  }
}

TEST_CASE("texts and words have a maximum size", "[limits]") {
  const SentencePieceTokenizer tokenizer = tokenizer_named("unigram");
  ClassifyPipeline classifier(classifier_config(tokenizer), own_tokenizer("unigram"));
  fill(classifier.parameters());
  const std::string long_text((16 << 20) + 1, ' ');
  const Error error = error_of([&] { classifier.classify(long_text); });
  CHECK(error.code() == ErrorCode::too_large);
  CHECK_THAT(error.what(), ContainsSubstring("expected at most 16 MiB, got 17 MiB"));
  CHECK(error_of([&] { classifier.classify(std::string_view(long_text).substr(1)); }).code() ==
        ErrorCode::empty_input);
  CHECK(error_of([&] { tokenizer.encode("a film " + std::string(5 << 20, 'a')); }).code() ==
        ErrorCode::too_large);

  TranslatePipeline translator(translator_config(tokenizer_named("bpe_bytes")),
                               own_tokenizer("bpe_bytes"));
  fill(translator.parameters());
  const std::string book((1 << 20) + 1, ' ');
  const std::vector<std::string_view> texts = {book, "How are you?",
                                               std::string_view(book).substr(1)};
  const auto results = translator.translate_batch(texts);
  CHECK_THAT(std::get<Error>(results[0]).what(), ContainsSubstring("at most 1 MiB, got 2 MiB"));
  CHECK(std::get<Error>(results[0]).code() == ErrorCode::too_large);
  CHECK(std::get<Translation>(results[1]).sentences.size() == 1);
  CHECK(std::get<Error>(results[2]).code() == ErrorCode::empty_input);
}

TEST_CASE("a text is tokenized in memory for a few words, with the tokens of the whole",
          "[limits]") {
  std::string text;
  for (int i = 0; i < 15; ++i) {
    for (const std::string& line : committed_texts()) text += line + " ";
    text += repeat("a", 3000 + 500 * static_cast<std::size_t>(i % 5)) + "  ";
    text += "\uFDFA\uFDFA \uFDFAx ";
  }
  for (const char* name : tokenizer_models) {
    INFO(name);
    const std::string file = read_text(tokenizer_folder + name + ".model");
    const SentencePieceTokenizer tokenizer = parse_tokenizer(file);
    const SentencePieceModel model = parse_sentencepiece_model(std::as_bytes(std::span(file)));
    std::unique_ptr<Segmenter> segmenter;
    if (model.kind == SegmentationKind::bpe) segmenter = std::make_unique<Bpe>(model);
    if (!segmenter) segmenter = std::make_unique<Unigram>(model);
    std::vector<std::int32_t> expected, got;
    float score = 0;
    for (const Segment& segment : segmenter->segment(tokenizer.normalize(text), score)) {
      const bool unknown = segment.id == model.unk_id;
      for (std::size_t i = 0; unknown && model.byte_fallback && i < segment.size; ++i) {
        expected.push_back(-1);
      }
      if (unknown && !model.byte_fallback && !expected.empty() && expected.back() == -1) continue;
      if (!unknown || !model.byte_fallback) expected.push_back(unknown ? -1 : segment.id);
    }
    std::uint32_t end = 0;
    bool in_order = true;
    for (const Token& token : tokenizer.encode(text)) {
      const bool byte = byte_of_piece(tokenizer.piece(token.id)) >= 0;
      got.push_back(token.id == model.unk_id || byte ? -1 : token.id);
      in_order = in_order && token.start >= end && token.end >= token.start;
      end = token.end;
    }
    CHECK(in_order);
    CHECK(got == expected);
    CHECK(end <= utf16_size(text));
  }

  const SentencePieceTokenizer tokenizer = tokenizer_named("unigram");
  const std::string many = repeat("\uFDFA", 300'000);  // each is four words
  const std::size_t peak = peak_of([&] {
    const std::unique_ptr<TokenReader> reader = tokenizer.read(many);
    std::vector<Token> tokens;
    while (reader->read(tokens)) tokens.erase(tokens.begin(), tokens.end() - 1);
  });
  CHECK(peak < 500'000);

  for (const Clip clip : {Clip::end, Clip::middle}) {
    ModelConfig config = classifier_config(tokenizer);
    config.clip = clip;
    ClassifyPipeline classifier(config, own_tokenizer("unigram"));
    fill(classifier.parameters());
    Classification result;
    const std::size_t most = peak_of([&] { result = classifier.classify(many); });
    CHECK(most < 1'000'000);
    CHECK(result.clipped);
    const std::vector<Token> all = tokenizer.encode(many);
    const std::size_t head = clip == Clip::end ? 64 : 16;
    REQUIRE(result.tokens.size() == 64);
    for (std::size_t i = 0; i < 64; ++i) {
      const Token& expected = all[i < head ? i : all.size() - 64 + i];
      CHECK(result.tokens[i].id == expected.id);
      CHECK(result.tokens[i].start == expected.start);
      CHECK(result.tokens[i].end == expected.end);
    }
  }
}

TEST_CASE("the cost of a stream's step depends on its sentence, not on the text so far",
          "[limits]") {
  const SentencePieceTokenizer tokenizer = tokenizer_named("bpe_bytes");
  TranslatePipeline pipeline(translator_config(tokenizer), own_tokenizer("bpe_bytes"));
  fill(pipeline.parameters());
  const std::string text = "  " + repeat("How are you?  The men walk. ", 60) + "\n";
  const std::vector<std::string_view> texts = {text, "And now?", text};
  auto job = pipeline.begin(texts, {.beams = 1, .stream = true});
  std::size_t largest_early = 0, largest_late = 0;
  std::string settled, shown;
  std::size_t of = 0;
  while (!job->done()) {
    job->step();
    const auto& streamed = job->streamed();
    if (!streamed) continue;
    EmbeddedTensors writer;
    REQUIRE(job->show(writer));
    const std::size_t size = writer.take().size();
    std::size_t& largest = streamed->sentence < 10 ? largest_early : largest_late;
    largest = std::max(largest, size);
    if (streamed->text != of) shown.clear();
    of = streamed->text;
    if (job->sentence().output.tokens.size() == 1) settled = shown + streamed->before;
    shown = settled + job->sentence().output.text;
    CHECK(job->text(of).starts_with(shown));
  }
  CHECK(largest_late > 0);
  CHECK(largest_late < largest_early + 50);
}

TEST_CASE("reading long texts takes several steps", "[limits]") {
  const SentencePieceTokenizer tokenizer = tokenizer_named("bpe_bytes");
  TranslatePipeline pipeline(translator_config(tokenizer), own_tokenizer("bpe_bytes"));
  fill(pipeline.parameters());
  const std::string blank((100 << 10), ' ');
  const std::vector<std::string_view> texts = {blank, blank, blank};
  auto job = pipeline.begin(texts);
  CHECK(!job->done());
  CHECK(job->step());
  CHECK(job->step());
  CHECK(!job->step());
  for (const auto& result : job->take()) {
    CHECK(std::get<Error>(result).code() == ErrorCode::empty_input);
  }
}

TEST_CASE("a logit that is not finite is an error that does not affect the other texts",
          "[limits]") {
  const SentencePieceTokenizer tokenizer = tokenizer_named("unigram");
  const Compute compute = GENERATE(Compute::f32, Compute::int8);
  const auto code_with = [&](float factor, const std::function<void(ModelConfig&)>& change) {
    ModelConfig config = classifier_config(tokenizer);
    change(config);
    ClassifyPipeline pipeline(config, own_tokenizer("unigram"), compute);
    fill(pipeline.parameters(), factor);
    const std::string_view text = "the film was good and not bad at all";
    const auto results = pipeline.classify_batch(TextInputs(std::span(&text, 1)).items());
    const Error* error = std::get_if<Error>(&results[0]);
    return error ? std::optional(error->code()) : std::nullopt;
  };
  const auto linear = [](ModelConfig& config) {
    for (LayerConfig& layer : config.architecture.encoder->layers) layer.mixer = Mixer::linear;
  };
  CHECK(!code_with(1, linear));
  CHECK(code_with(1e4f, linear) == ErrorCode::non_finite);
  CHECK(code_with(1e25f, linear) == ErrorCode::non_finite);
  CHECK(code_with(1e25f, [](ModelConfig&) {}) == ErrorCode::non_finite);
  CHECK(code_with(1, [](ModelConfig& config) {
          StackConfig& stack = *config.architecture.encoder;
          stack.d_model = 1;
          for (LayerConfig& layer : stack.layers) {
            layer.attention.n_heads = layer.attention.n_kv_heads = layer.attention.d_head = 1;
          }
          stack.layer_norm.kind = NormKind::unbiased;
          stack.tokens().positions = PositionKind::learned;
        }) == ErrorCode::non_finite);

  // One token's vector is too large: texts without it are not affected.
  const std::int32_t end = *tokenizer.find("</s>");
  const auto spoilt = [&](const std::vector<NamedParameter>& parameters, std::int32_t token) {
    fill(parameters);
    for (const NamedParameter& parameter : parameters) {
      if (parameter.name != "encoder.embed_tokens.weight") continue;
      SplitMix64 random(7);
      std::vector<float> values = initial_values(parameter, random);
      const std::size_t d_model = parameter.shape[1];
      for (std::size_t i = 0; i < d_model; ++i) {
        values[static_cast<std::size_t>(token) * d_model + i] = i % 2 == 0 ? 3e38f : -3e38f;
      }
      if (parameter.set_integers) {
        const QuantizedMatrix matrix = quantize(values, parameter.shape[0], parameter.bits);
        parameter.set_integers(matrix.values, matrix.scales, 0);
      } else {
        parameter.set(values, 0);
      }
    }
  };
  const std::vector<std::string_view> texts = {"the film", "good", "the film was good", "film"};
  const std::int32_t good = tokenizer.encode("good").at(0).id;
  ClassifyPipeline classifier(classifier_config(tokenizer), own_tokenizer("unigram"), compute);
  spoilt(classifier.parameters(), good);
  const auto verdicts = classifier.classify_batch(TextInputs(texts).items());
  CHECK_THAT(std::get<Error>(verdicts[1]).what(), ContainsSubstring("logits: expected finite"));
  CHECK(std::get<Error>(verdicts[2]).code() == ErrorCode::non_finite);
  for (const std::size_t i : {0u, 3u}) {
    CHECK(std::get<Classification>(verdicts[i]).logits == classifier.classify(texts[i]).logits);
  }

  REQUIRE(end != good);
  for (const bool stream : {false, true}) {
    TranslatePipeline translator(translator_config(tokenizer), own_tokenizer("unigram"), {},
                                 compute);
    spoilt(translator.parameters(), good);
    auto job = translator.begin(texts, {.beams = stream ? 1u : 4u, .stream = stream});
    const auto results = run_all(*job);
    CHECK(std::get<Error>(results[1]).code() == ErrorCode::non_finite);
    CHECK(std::get<Error>(results[2]).code() == ErrorCode::non_finite);
    CHECK(!std::get<Translation>(results[0]).sentences[0].output.tokens.empty());
    CHECK(!std::get<Translation>(results[3]).sentences[0].output.tokens.empty());
  }
}

TEST_CASE("kernels never hide values that are not finite", "[limits][kernels]") {
  for (const Kernels* run : available_kernels()) {
    for (std::size_t n = 1; n < 70; ++n) {
      for (std::size_t at = 0; at < n; ++at) {
        for (const float bad : {not_a_number, -not_a_number, infinity, -infinity}) {
          INFO(run->name << ", " << bad << " at " << at << " of " << n);
          std::vector<float> row(n, 0.5f);
          row[at] = bad;
          std::vector<std::byte> bytes(run->quantized_row_bytes(n));
          float scale = 0;
          std::int32_t zero_point = 0;
          run->quantize(row.data(), 1, n, {bytes.data(), bytes.size(), &scale, &zero_point});
          REQUIRE(!std::isfinite(scale));
          REQUIRE(!std::isfinite(run->largest({row.data(), n, nullptr, 1, n})));
          if (std::isnan(bad) || bad > 0)
            REQUIRE(!std::isfinite(writing_kernels(*run).log_sum_exp(row.data(), n)));
          if (!std::isnan(bad)) continue;
          std::vector<float> features(n);
          run->elu_plus_one(features.data(), row.data(), n);
          REQUIRE(std::isnan(features[at]));
          REQUIRE(std::isnan(run->exponentials(row.data(), n, 1.0f)));
        }
      }
    }
    const PackedMatrix one = [] {
      PackedMatrix matrix(1, 1);
      matrix.set_column(0, std::array{1.0f});
      return matrix;
    }();
    if (run != &kernels()) continue;  // the matrix is packed for these kernels
    float result = 0;
    for (const Activation activation : {Activation::relu, Activation::gelu, Activation::linear}) {
      run->matmul({.a = &not_a_number,
                   .a_stride = 1,
                   .b = one.data(),
                   .panel_stride = one.panel_stride(),
                   .c = &result,
                   .c_stride = 1,
                   .m = 1,
                   .n = 1,
                   .k = 1,
                   .activation = activation});
      CHECK(std::isnan(result));
    }
  }
}

TEST_CASE("large indices are read exactly", "[limits]") {
  for (const char* index :
       {"4294967296", "4294967297", "9007199254740993", "18446744073709551615"}) {
    const std::string masks = "{\"maskTokens\": [" + std::string(index) + "]}";
    CHECK(error_of([&] { read_options<ClassifyOptions>(masks); }).code() ==
          ErrorCode::invalid_option);
    const std::string heads = "{\"alignment\": {\"heads\": [" + std::string(index) + "]}}";
    CHECK(error_of([&] { read_options<TranslateOptions>(heads); }).code() ==
          ErrorCode::invalid_option);
  }
  CHECK(read_options<ClassifyOptions>("{\"maskTokens\": [4294967295]}").encoder.mask_tokens[0] ==
        4294967295u);
}

TEST_CASE("a model that pools its first token does not allow masking it", "[limits]") {
  const SentencePieceTokenizer tokenizer = tokenizer_named("unigram");
  const auto classify = [&](Pooling pooling, std::vector<std::size_t> masked) {
    ModelConfig config = classifier_config(tokenizer);
    config.architecture.head.pooling = pooling;
    ClassifyPipeline pipeline(config, own_tokenizer("unigram"));
    fill(pipeline.parameters());
    return pipeline.classify("the film was good", {.encoder = {.mask_tokens = std::move(masked)}})
        .logits;
  };
  const Error error = error_of([&] { classify(Pooling::first, {1, 0}); });
  CHECK(error.code() == ErrorCode::invalid_option);
  CHECK_THAT(error.what(), ContainsSubstring("maskTokens: expected positions above 0"));
  CHECK(classify(Pooling::first, {1}) != classify(Pooling::first, {}));
  CHECK(classify(Pooling::mean, {0}) != classify(Pooling::mean, {}));
}

}  // namespace glassformer::test
