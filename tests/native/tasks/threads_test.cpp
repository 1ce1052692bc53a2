// Models on several threads: the same answers, bit for bit, whether the threads share the work of a
// call or make calls of their own.

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "glassformer/glassformer.hpp"

namespace glassformer::test {
namespace {

const std::filesystem::path weights = GLASSFORMER_SOURCE_DIR "/weights";

const std::vector<std::string> reviews = {
    "A gripping, beautifully shot film.",
    "The first hour is gripping, and the two leads are a joy to watch, but the ending drags on so "
    "long that even the most patient viewer will look for the door.",
    "No.",
    "I have seen worse films this year, though none that bored me so thoroughly for so long."};

using Values = std::vector<float>;

void append(Values& values, const Values& more) {
  values.insert(values.end(), more.begin(), more.end());
}

Values all_of(const Classification& result) {
  Values values = result.logits;
  append(values, result.attention->data);
  for (const TracedTensor& tensor : result.trace) append(values, tensor.data);
  return values;
}

Values all_of(const Translation& result) {
  Values values = {result.score};
  for (const SentenceTranslation& sentence : result.sentences) {
    for (const OutputToken& token : sentence.output.tokens) {
      values.push_back(static_cast<float>(token.id));
      values.push_back(token.logprob);
    }
    if (sentence.cross) append(values, sentence.cross->data);
  }
  return values;
}

}  // namespace

TEST_CASE("threads change no bit of a classification", "[glassformer][threads]") {
  const Compute compute = GENERATE(Compute::f32, Compute::int8);
  const std::filesystem::path folder = weights / "sentiment";
  Classifier alone = Classifier::load(folder, {.compute = compute, .threads = 1});
  for (const std::size_t threads : {2u, 3u}) {
    Classifier classifier = Classifier::load(folder, {.compute = compute, .threads = threads});
    ClassifyOptions attention = {
        .encoder = {.attention = true, .trace = {"encoder.layers.*.output"}}};
    if (compute == Compute::f32) {
      attention.encoder.patch = {{.name = "encoder.layers.1.self_attn.weights",
                                  .heads = std::vector<std::size_t>{0, 5},
                                  .value = {0.25f}}};
    }
    for (const std::string& text : reviews) {
      CHECK(classifier.classify(text).logits == alone.classify(text).logits);
      CHECK(all_of(classifier.classify(text, attention)) ==
            all_of(alone.classify(text, attention)));
    }
    const std::vector<TextInput> inputs(reviews.begin(), reviews.end());
    const auto expected = alone.classify_batch(inputs);
    const auto got = classifier.classify_batch(inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      CHECK(std::get<Classification>(got[i]).logits ==
            std::get<Classification>(expected[i]).logits);
    }
  }
}

TEST_CASE("threads change no bit of a translation", "[glassformer][threads]") {
  const std::filesystem::path folder = weights / "en-de";
  const std::string text = "The men walk to the market. " + reviews[1];
  const TranslateOptions options = {.attention = true};
  Translator alone = Translator::load(folder, {.threads = 1});
  const Translation expected = alone.translate(text, options);
  Translator translator = Translator::load(folder, {.threads = 3});
  const Translation got = translator.translate(text, options);
  CHECK(got.text == expected.text);
  CHECK(all_of(got) == all_of(expected));
}

TEST_CASE("threads change no bit of a text that is written", "[glassformer][threads]") {
  const std::filesystem::path folder = weights / "writer";
  GenerateOptions options;
  options.sample = false;
  options.beams = GENERATE(1u, 3u);
  options.max_new_tokens = 20;
  const auto written = [&](std::size_t threads) {
    Generator generator = Generator::load(folder, {.threads = threads});
    Values values;
    for (const OutputToken& token : generator.generate(reviews[1], options).output.tokens) {
      values.push_back(static_cast<float>(token.id));
      values.push_back(token.logprob);
    }
    return values;
  };
  const Values alone = written(1);
  CHECK(!alone.empty());
  CHECK(written(3) == alone);
}

TEST_CASE("several threads call one classifier at a time", "[glassformer][threads]") {
  const std::size_t shared = GENERATE(1u, 2u);
  Classifier classifier = Classifier::load(weights / "sentiment", {.threads = shared});
  std::vector<Values> expected;
  for (const std::string& text : reviews) expected.push_back(classifier.classify(text).logits);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (std::size_t first = 0; first < 4; ++first) {
    callers.emplace_back([&, first] {
      for (std::size_t i = first; i < first + 8; ++i) {
        const std::size_t text = i % reviews.size();
        if (classifier.classify(reviews[text]).logits != expected[text]) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("several threads call one translator at a time", "[glassformer][threads]") {
  Translator translator = Translator::load(weights / "en-de", {.threads = 2});
  std::vector<std::string> expected;
  for (const std::string& text : reviews) expected.push_back(translator.translate(text).text);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < 3; ++i) {
    callers.emplace_back([&, i] {
      if (translator.translate(reviews[i]).text != expected[i]) ++wrong;
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

}  // namespace glassformer::test
