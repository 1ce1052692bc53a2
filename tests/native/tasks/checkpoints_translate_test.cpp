// Published translators from text to text, compared with the original library; see
// tests/fixtures/checkpoints.

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <thread>

#include "support/checkpoint_golden.hpp"
#include "tasks/load.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer::test {
namespace {

constexpr double translate_tolerance = 1e-4;

std::vector<std::int32_t> ids_of(const auto& tokens) {
  std::vector<std::int32_t> ids;
  for (const auto& token : tokens) ids.push_back(token.id);
  return ids;
}

// Returns the languages that a text has, for a model of many.
TranslateOptions languages_of(const nlohmann::json& text) {
  if (!text.contains("from")) return {};
  return {.from = text.at("from").get<std::string>(), .to = text.at("to").get<std::string>()};
}

}  // namespace

TEST_CASE("published translators translate as the original library does", "[checkpoints]") {
  const std::string name = GENERATE(from_range(checkpoint_names("translate")));
  INFO(name);
  const CheckpointGolden golden(name);
  const auto pipeline = load_pipeline<TranslatePipeline>(checkpoints / name);
  if (name.starts_with("marian")) {
    CHECK(pipeline->config().source_language == "eng");
    CHECK(pipeline->config().target_language == "deu+fra");
  }
  for (std::size_t i = 0; i < golden.json.at("texts").size(); ++i) {
    const nlohmann::json& text = golden.json.at("texts")[i];
    const std::string source = text.at("text");
    INFO(source);
    if (!text.contains("output")) continue;  // its searches are compared in the next test
    const auto output = text.at("output").get<std::vector<std::int32_t>>();
    TranslateOptions options = languages_of(text);
    options.beams = 1;
    options.length_penalty = 0;
    options.max_length = output.size();
    options.attention = true;
    options.trace = all_names;
    const Translation translation = pipeline->translate(source, options);
    REQUIRE(translation.sentences.size() == 1);
    const SentenceTranslation& sentence = translation.sentences[0];
    CHECK(ids_of(sentence.source_tokens) == text.at("ids").get<std::vector<std::int32_t>>());
    CHECK(ids_of(sentence.output.tokens) == output);
    CHECK(translation.text == text.at("translation").get<std::string>());
    CHECK(std::abs(static_cast<double>(sentence.output.score) - text.at("logprob").get<double>()) <
          translate_tolerance);

    const std::string index = "." + std::to_string(i);
    CHECK(distance(sentence.encoder->data, golden.tensors.at("encoder" + index)) <
          translate_tolerance);
    CHECK(distance(sentence.decoder->data, golden.tensors.at("decoder" + index)) <
          translate_tolerance);
    CHECK(distance(sentence.cross->data, golden.tensors.at("cross" + index)) < translate_tolerance);
    for (const auto& [kept, tensor] :
         {std::pair("states", "encoder.output"), std::pair("logits", "logits")}) {
      const auto traced = std::ranges::find(sentence.trace, tensor, &TracedTensor::name);
      REQUIRE(traced != sentence.trace.end());
      CHECK(distance(traced->data, golden.tensors.at(kept + index)) < translate_tolerance);
    }
    compare_trace(sentence.trace, golden, std::to_string(i), translate_tolerance);
  }
}

TEST_CASE("published translators search as the original library does", "[checkpoints]") {
  const std::string name = GENERATE(from_range(checkpoint_names("translate")));
  INFO(name);
  const CheckpointGolden golden(name);
  const auto pipeline = load_pipeline<TranslatePipeline>(checkpoints / name);
  for (const nlohmann::json& text : golden.json.at("texts")) {
    for (const nlohmann::json& run : text.at("runs")) {
      INFO(text.at("text") << ' ' << run.at("options").dump());
      const Translation translation =
          pipeline->translate(text.at("text").get<std::string>(),
                              read_options<TranslateOptions>(run.at("options").dump()));
      REQUIRE(translation.sentences.size() == 1);
      const OutputText& output = translation.sentences[0].output;
      CHECK(ids_of(output.tokens) == run.at("ids").get<std::vector<std::int32_t>>());
      // Scores are stored with five digits.
      CHECK(std::abs(static_cast<double>(output.score) - run.at("score").get<double>()) <
            translate_tolerance);
    }
  }
}

TEST_CASE("threads translate between different languages with one model", "[checkpoints]") {
  const std::string name = GENERATE("m2m_100", "nllb", "mbart");
  const CheckpointGolden golden(name);
  const auto pipeline = load_pipeline<TranslatePipeline>(checkpoints / name);
  const nlohmann::json& texts = golden.json.at("texts");
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (const nlohmann::json& text : texts) {
    threads.emplace_back([&] {
      TranslateOptions options = languages_of(text);
      options.beams = 1;
      const auto output = text.at("output").get<std::vector<std::int32_t>>();
      options.max_length = output.size();
      for (int i = 0; i < 10; ++i) {
        const Translation got = pipeline->translate(text.at("text").get<std::string>(), options);
        if (ids_of(got.sentences.at(0).output.tokens) != output) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("each sentence gets the languages of the call", "[checkpoints]") {
  const Compute compute = GENERATE(Compute::f32, Compute::int8);
  const auto model =
      load_pipeline<TranslatePipeline>(checkpoints / "m2m_100", {.compute = compute});
  const Tokenizer& tokenizer = model->source_tokenizer();
  const std::int32_t german = *tokenizer.find("__de__"), zulu = *tokenizer.find("__zu__");
  const Translation translation =
      model->translate("The cat. The dog.", {.from = "de", .to = "zu", .max_length = 4});
  REQUIRE(translation.sentences.size() == 2);
  for (const SentenceTranslation& sentence : translation.sentences) {
    CHECK(sentence.source_tokens.front().id == german);
    CHECK(sentence.source_tokens.back().id == 2);
    CHECK(sentence.output.tokens.front().id == zulu);
    CHECK(sentence.output.tokens.front().start == sentence.output.tokens.front().end);
  }
  // The language is a step of a stream, without text.
  const auto job = model->begin(std::array<std::string_view, 1>{"The cat."},
                                {.from = "de", .to = "zu", .beams = 1, .stream = true});
  while (!job->streamed()) REQUIRE(job->step());
  CHECK(job->streamed()->token.id == zulu);
  CHECK(job->text(0).empty());
}

TEST_CASE("missing and unknown languages are refused", "[checkpoints]") {
  const auto check = [](const std::string& name, const TranslateOptions& options,
                        const std::string& message) {
    const auto pipeline = load_pipeline<TranslatePipeline>(checkpoints / name);
    const Error error = error_of([&] { pipeline->translate("a", options); });
    CHECK(error.code() == ErrorCode::invalid_option);
    CHECK(std::string(error.what()) == message);
  };
  const std::string four = "expected one of deu_Latn, eng_Latn, fra_Latn, zho_Hans, got ";
  check("nllb", {}, "from: " + four + "none");
  check("nllb", {.from = "eng_Latn"}, "to: " + four + "none");
  check("nllb", {.from = "eng_Latn", .to = "de"}, "to: " + four + "\"de\"");
  check("nllb_suffix", {.from = "und"}, "from: " + four + "\"und\"");
  check("marian", {.from = "deu"}, "from: expected eng, the model's own language, got \"deu\"");
  const auto pipeline = load_pipeline<TranslatePipeline>(checkpoints / "marian");
  CHECK(pipeline->translate("a", {.from = "eng", .to = "deu+fra", .beams = 1}).text ==
        pipeline->translate("a", {.beams = 1}).text);
}

TEST_CASE("a folder's forbidden words apply to each text of a batch separately", "[checkpoints]") {
  const CheckpointGolden golden("marian_rules");
  const auto pipeline = load_pipeline<TranslatePipeline>(checkpoints / "marian_rules");
  std::vector<std::string> texts;
  for (const nlohmann::json& text : golden.json.at("texts")) texts.push_back(text.at("text"));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  for (const std::size_t beams : {1, 3}) {
    const auto all = pipeline->translate_batch(views, {.beams = beams});
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const Translation alone = pipeline->translate(texts[i], {.beams = beams});
      CHECK(std::get<Translation>(all[i]).text == alone.text);
      CHECK(std::get<Translation>(all[i]).score == alone.score);
    }
  }
}

TEST_CASE("a folder's forbidden words do not apply to the tokens of a prefix", "[checkpoints]") {
  const auto pipeline = load_pipeline<TranslatePipeline>(checkpoints / "marian_rules");
  const std::vector<std::int32_t> prefix = {13, 78, 13, 78};  // a forbidden word, twice
  for (const std::size_t beams : {1, 3}) {
    const Translation translation =
        pipeline->translate("a", {.beams = beams, .prefixes = {prefix}});
    const OutputText& output = translation.sentences.at(0).output;
    const std::vector<std::int32_t> ids = ids_of(output.tokens);
    REQUIRE(ids.size() > prefix.size());
    CHECK(std::ranges::equal(std::span(ids).first(prefix.size()), prefix));
    CHECK(std::isfinite(output.score));
    CHECK(ids[4] != 13);  // forbidden after the prefix
  }
}

TEST_CASE("a language code precedes each sentence and is not part of the translation",
          "[checkpoints]") {
  const auto pipeline = load_pipeline<TranslatePipeline>(checkpoints / "marian");
  const Translation translation =
      pipeline->translate(">>fra<<  The cat. The dog.", {.max_length = 4});
  REQUIRE(translation.sentences.size() == 2);
  const std::int32_t code = *pipeline->source_tokenizer().find(">>fra<<");
  for (const SentenceTranslation& sentence : translation.sentences) {
    CHECK(sentence.source_tokens[0].id == code);
    CHECK(sentence.source_tokens[0].start == sentence.source_tokens[0].end);
  }
  CHECK(translation.sentences[0].start == 9);
  CHECK(translation.sentences[1].start == 18);
  CHECK(translation.sentences[1].end == 26);
  CHECK(translation.sentences[0].target_start == 0);
  CHECK(error_of([&] { pipeline->translate(">>fra<< "); }).code() == ErrorCode::empty_input);
}

TEST_CASE("a sentence's own language code replaces the text's", "[checkpoints]") {
  const auto pipeline = load_pipeline<TranslatePipeline>(checkpoints / "marian");
  const Tokenizer& tokenizer = pipeline->source_tokenizer();
  const std::int32_t french = *tokenizer.find(">>fra<<"), german = *tokenizer.find(">>de<<");
  const Translation translation =
      pipeline->translate(">>fra<< The cat. >>de<<  The dog. The cat.", {.max_length = 4});
  REQUIRE(translation.sentences.size() == 3);
  const SentenceTranslation &first = translation.sentences[0], &second = translation.sentences[1],
                            &third = translation.sentences[2];
  CHECK(ids_of(first.source_tokens) == ids_of(third.source_tokens));
  CHECK(first.source_tokens[0].id == french);
  CHECK(second.source_tokens[0].id == german);
  // The result equals that of the sentence alone, and the code is not part of it.
  const Translation alone = pipeline->translate(">>de<< The dog.", {.max_length = 4});
  CHECK(ids_of(second.source_tokens) == ids_of(alone.sentences[0].source_tokens));
  CHECK(second.output.text == alone.text);
  CHECK(second.start == 25);
  CHECK(second.end == 33);
  CHECK(translation.text == first.output.text + " " + second.output.text + " " + third.output.text);
  // If the text has no code, the other sentences have none either.
  const Translation one = pipeline->translate("The cat. >>de<< The dog.", {.max_length = 4});
  CHECK(one.sentences[0].source_tokens[0].id != french);
  CHECK(one.sentences[1].source_tokens[0].id == german);
}

}  // namespace glassformer::test
