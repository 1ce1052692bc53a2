// The public classes: each gives the same results as its task's pipeline, bit for bit, and refuses
// folders of other tasks.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "glassformer/glassformer.hpp"
#include "support/error_of.hpp"
#include "tasks/answer/answer.hpp"
#include "tasks/classify/classify.hpp"
#include "tasks/embed/embed.hpp"
#include "tasks/load.hpp"
#include "tasks/tag/token_classify.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer::test {
namespace {

const std::filesystem::path fixtures = GLASSFORMER_SOURCE_DIR "/tests/fixtures";
const std::filesystem::path sequence = fixtures / "checkpoints/bert_sequence";
const std::filesystem::path tokens = fixtures / "checkpoints/bert_tokens";
const std::filesystem::path answers = fixtures / "checkpoints/bert_answer";
const std::filesystem::path vectors = fixtures / "checkpoints/bert_embed";
const std::filesystem::path translations = fixtures / "golden/translate_pre_norm_shared";

const std::string text = "The men walk to the market. It was the best of all days!";

template <class Public>
void check_refuses(const std::filesystem::path& folder) {
  CHECK(error_of([&] { Public::load(folder); }).code() == ErrorCode::wrong_task);
  CHECK(error_of([&] { Public::load(fixtures / "no such folder"); }).code() ==
        ErrorCode::missing_file);
}

}  // namespace

TEST_CASE("the public Classifier labels texts and pairs", "[glassformer]") {
  Classifier classifier = Classifier::load(sequence);
  const auto pipeline = load_pipeline<ClassifyPipeline>(sequence);
  const TextInput pair(text, "How are you?");
  const ClassifyOptions options = {
      .encoder = {.attention = true, .trace = {"logits"}, .ablate = {{0, 1}}}};
  for (const TextInput& input : {TextInput(text), pair}) {
    const Classification got = classifier.classify(input, options);
    const Classification expected = pipeline->classify(input, options);
    CHECK(got.label == expected.label);
    CHECK(got.scores == expected.scores);
    CHECK(got.score == *std::ranges::max_element(got.scores));
    CHECK(got.tokens == expected.tokens);
    CHECK(got.attention->data == expected.attention->data);
    CHECK(got.attention->queries == got.tokens.size());
    CHECK(got.trace.at(0).data == got.logits);
  }
  CHECK(std::ranges::find(classifier.labels(), classifier.classify(text).label) !=
        classifier.labels().end());
  const std::vector<TextInput> inputs = {text, "", pair};
  const auto results = classifier.classify_batch(inputs);
  REQUIRE(results.size() == 3);
  CHECK(std::get<Classification>(results[0]).scores == classifier.classify(text).scores);
  CHECK(std::get<Error>(results[1]).code() == ErrorCode::empty_input);
  CHECK(std::get<Classification>(results[2]).scores == classifier.classify(pair).scores);

  Classifier moved = std::move(classifier);
  CHECK(moved.compute() == Compute::f32);
  moved = Classifier::load(sequence, {.compute = Compute::int8});
  CHECK(moved.compute() == Compute::int8);
  CHECK(moved.classify(text).scores != pipeline->classify(text).scores);
  check_refuses<Classifier>(translations);
}

TEST_CASE("the public TokenClassifier finds entities", "[glassformer]") {
  TokenClassifier classifier = TokenClassifier::load(tokens);
  const auto pipeline = load_pipeline<TokenClassifyPipeline>(tokens);
  TokenClassifyOptions options = {
      .encoder = {.attention = true}, .aggregation = Aggregation::simple, .ignore_labels = {}};
  CHECK(error_of([&] { classifier.classify(text, options); }).code() == ErrorCode::too_large);
  options.window = TokenClassifyWindow::first;
  const TokenClassification got = classifier.classify(text, options);
  CHECK(!got.entities.empty());
  CHECK(got.entities == pipeline->classify(text, options).entities);
  CHECK(got.attention->keys == got.tokens.size());
  CHECK(classifier.labels() == pipeline->config().labels);
  CHECK(classifier.compute() == Compute::f32);
  const std::vector<std::string_view> inputs = {"", text};
  const auto results = classifier.classify_batch(inputs, options);
  CHECK(std::get<Error>(results.at(0)).code() == ErrorCode::empty_input);
  CHECK(std::get<TokenClassification>(results.at(1)).tokens == got.tokens);
  check_refuses<TokenClassifier>(sequence);
}

TEST_CASE("the public QuestionAnswerer answers questions", "[glassformer]") {
  QuestionAnswerer answerer = QuestionAnswerer::load(answers);
  const auto pipeline = load_pipeline<AnswerPipeline>(answers);
  const AnswerOptions options = {.encoder = {.attention = true}, .max_answer_len = 3};
  const Answer got = answerer.answer("Who walks?", text, options);
  const Answer expected = pipeline->answer("Who walks?", text, options);
  CHECK(got.answer == text.substr(got.start, got.end - got.start));
  CHECK(got.answer == expected.answer);
  CHECK(got.score == expected.score);
  CHECK(got.attention->queries == got.tokens.size());
  CHECK(got.tokens.front().sequence == 0);
  CHECK(std::ranges::count(got.tokens, 1, &InputToken::sequence) > 0);
  CHECK(answerer.compute() == Compute::f32);
  CHECK(error_of([&] { answerer.answer("Who walks?", ""); }).code() == ErrorCode::empty_input);
  check_refuses<QuestionAnswerer>(vectors);
}

TEST_CASE("the public Embedder makes vectors", "[glassformer]") {
  Embedder embedder = Embedder::load(vectors);
  const auto pipeline = load_pipeline<EmbedPipeline>(vectors);
  const Embedded got = embedder.embed(text);
  CHECK(got.embedding == pipeline->embed(text).embedding);
  CHECK(similarity(got.embedding, got.embedding) > 0.9999f);
  const std::vector<std::string_view> inputs = {text, "  "};
  const EmbedOptions both = {.poolings = {TokenPooling::cls, TokenPooling::max}};
  const auto results = embedder.embed_batch(inputs, both);
  CHECK(std::get<Embedded>(results.at(0)).embedding.size() == 2 * got.embedding.size());
  CHECK(std::get<Error>(results.at(1)).code() == ErrorCode::empty_input);
  CHECK(embedder.compute() == Compute::f32);
  check_refuses<Embedder>(answers);
}

TEST_CASE("several texts are accepted in the usual containers", "[glassformer]") {
  Embedder embedder = Embedder::load(vectors);
  const auto expected = embedder.embed(text).embedding;
  const auto check = [&](const auto& results) {
    REQUIRE(results.size() == 2);
    CHECK(std::get<Embedded>(results[1]).embedding == expected);
  };
  const std::vector<std::string> strings = {"Good.", text};
  check(embedder.embed_batch(strings));
  check(embedder.embed_batch(std::vector<std::string>(strings)));
  check(embedder.embed_batch(std::vector<std::string_view>{strings.begin(), strings.end()}));
  check(embedder.embed_batch({"Good.", text}));
  const char* const literals[] = {"Good.", text.c_str()};
  check(embedder.embed_batch(literals));
  CHECK(embedder.embed_batch({}).empty());

  Classifier classifier = Classifier::load(sequence);
  const auto verdicts = classifier.classify_batch(strings);
  REQUIRE(verdicts.size() == 2);
  CHECK(std::get<Classification>(verdicts[1]).scores == classifier.classify(text).scores);
}

TEST_CASE("the public Translator translates whole texts and streams tokens", "[glassformer]") {
  Translator translator = Translator::load(translations);
  const auto pipeline = load_pipeline<TranslatePipeline>(translations);
  const TranslateOptions options = {.beams = 2, .attention = true, .hypotheses = true};
  const Translation got = translator.translate(text, options);
  const Translation expected = pipeline->translate(text, options);
  CHECK(got.text == expected.text);
  CHECK(got.score == expected.score);
  REQUIRE(got.sentences.size() == 2);
  for (std::size_t i = 0; i < got.sentences.size(); ++i) {
    const SentenceTranslation& sentence = got.sentences[i];
    CHECK(sentence.source_tokens == expected.sentences[i].source_tokens);
    CHECK(sentence.output.tokens == expected.sentences[i].output.tokens);
    CHECK(sentence.cross->data == expected.sentences[i].cross->data);
    CHECK(sentence.hypotheses.size() == 2);
    CHECK(sentence.tree.at(0).text ==
          pipeline->target_tokenizer().display_text(sentence.tree[0].id));
  }
  CHECK(translator.source_language() == pipeline->config().source_language);
  CHECK(translator.target_language() == pipeline->config().target_language);
  CHECK(translator.compute() == Compute::f32);

  std::string last;
  std::size_t steps = 0;
  const Translation streamed = translator.stream(text, [&](const TranslationStep& step) {
    CHECK(step.text.starts_with(last));
    CHECK(step.token.text == pipeline->target_tokenizer().display_text(step.token.id));
    CHECK(!step.cross);
    last = step.text;
    ++steps;
  });
  CHECK(steps > 2);
  CHECK(streamed.text == pipeline->translate(text, {.beams = 1}).text);
  CHECK(streamed.text.starts_with(last));
  CHECK(error_of([&] { translator.stream(" ", [](const TranslationStep&) {}); }).code() ==
        ErrorCode::empty_input);
  std::size_t until = 0;
  const auto give_up = [&](const TranslationStep& step) {
    CHECK(step.cross->queries == 1);
    if (++until == 2) throw Error(ErrorCode::internal, "enough");
  };
  CHECK(error_of([&] {
          translator.stream(text, give_up, {.beams = 1, .attention = true});
        }).code() == ErrorCode::internal);
  CHECK(translator.translate(text, options).text == got.text);

  const std::vector<std::string_view> inputs = {text, ""};
  const auto results = translator.translate_batch(inputs, options);
  CHECK(std::get<Translation>(results.at(0)).text == got.text);
  CHECK(std::get<Error>(results.at(1)).code() == ErrorCode::empty_input);
  CHECK(error_of([&] { Translator::load(translations, {.shortlist = true}); }).code() ==
        ErrorCode::missing_file);
  check_refuses<Translator>(sequence);
}

TEST_CASE("models find the direction between two lists of texts, and patches add it",
          "[glassformer]") {
  Classifier classifier = Classifier::load(sequence);
  const std::string name = "encoder.layers.0.output";
  const auto last_row = [&](std::string_view of) {
    const Classification result = classifier.classify(of, {.encoder = {.trace = {name}}});
    const TracedTensor& tensor = result.trace.at(0);
    const std::size_t size = tensor.data.size() / tensor.shape[0];
    return std::vector<float>(tensor.data.end() - static_cast<std::ptrdiff_t>(size),
                              tensor.data.end());
  };
  const SteeringVector found =
      classifier.steering_vector({.name = name}, {"good film", "a good film"}, {"bad"});
  const std::vector<float> a = last_row("good film"), b = last_row("a good film"),
                           c = last_row("bad");
  REQUIRE(found.vector.size() == a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(std::abs(found.vector[i] - ((a[i] + b[i]) / 2 - c[i])) < 1e-6f);
  }
  CHECK(found.name == name);
  CHECK(found.norm > 0);
  const Patch patch = {.name = name, .kind = PatchKind::add, .scale = 2, .value = found.vector};
  CHECK(classifier.classify("bad", {.encoder = {.patch = {patch}}}).scores !=
        classifier.classify("bad").scores);

  Translator translator = Translator::load(translations);
  const SteeringVector mean = translator.steering_vector(
      {.name = "encoder.layers.0.output", .rows = SteeredRows::mean}, {text}, {"no"});
  CHECK(mean.stream_norm > 0);
  CHECK(error_of([&] { classifier.steering_vector({.name = name}, {}, {"bad"}); }).code() ==
        ErrorCode::invalid_option);
  CHECK(error_of([&] {
          classifier.steering_vector({.name = "encoder.layers.0.self_attn.weights"}, {"a"}, {"b"});
        }).code() == ErrorCode::invalid_option);
}

TEST_CASE("a folder of any task opens as the class for its task", "[glassformer]") {
  CHECK(std::holds_alternative<Classifier>(load(sequence)));
  CHECK(std::holds_alternative<TokenClassifier>(load(tokens)));
  CHECK(std::holds_alternative<QuestionAnswerer>(load(answers)));
  CHECK(std::holds_alternative<Embedder>(load(vectors)));
  AnyModel model = load(translations);
  CHECK(std::get<Translator>(model).translate(text).sentences.size() == 2);
}

}  // namespace glassformer::test
