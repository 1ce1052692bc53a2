// Explanations of translations, compared with PyTorch and with properties that hold for any model.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <numeric>

#include "explain/readings/rollout.hpp"
#include "models/initialize.hpp"
#include "support/any_file.hpp"
#include "support/checkpoint_golden.hpp"
#include "support/error_of.hpp"
#include "support/explain_jobs.hpp"
#include "support/golden.hpp"
#include "tasks/load.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;

// The attribution of one token: the JSON and its views.
struct FoundAttribution {
  FoundAttribution(Pipeline& pipeline, const std::string& text, const Json& options) {
    const ExplainedBeside result = explain_beside(pipeline, text, options.dump());
    json = result.json;
    REQUIRE(result.tensors.size() == 2);
    REQUIRE(result.tensors[0].name == "written");
    REQUIRE(result.tensors[1].name == "read");
    written = result.tensors[0];
    read = result.tensors[1];
    value = json.at("value").get<double>();
    if (json.contains("effects")) effects = json.at("effects").get<std::vector<float>>();
  }

  std::size_t columns() const { return written.shape[1]; }
  std::size_t column(const std::string& name) const {
    const auto names = json.at("columns").get<std::vector<std::string>>();
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  }
  // Checks that both views sum to the value. They differ in where a column's parts are entered.
  void check_sums() const {
    const double most = 1e-4 * std::max(1.0, std::abs(value));
    for (std::size_t c = 0; c < columns(); ++c) {
      CHECK(std::abs(sum(written, c) - sum(read, c)) < 1e-5);
    }
    for (const TracedTensor* view : {&written, &read}) {
      CHECK(std::abs(std::accumulate(view->data.begin(), view->data.end(), 0.0) - value) <= most);
    }
  }
  double sum(const TracedTensor& view, std::size_t c) const {
    double sum = 0;
    for (std::size_t i = c; i < view.data.size(); i += columns()) {
      sum += static_cast<double>(view.data[i]);
    }
    return sum;
  }
  // Returns how much a column reads from the tokens from `first` on.
  double read_from(std::size_t c, std::size_t first) const {
    double sum = 0;
    for (std::size_t i = first; i < read.shape[0]; ++i) {
      sum += std::abs(static_cast<double>(read.data[i * columns() + c]));
    }
    return sum;
  }

  Json json;
  TracedTensor written, read;
  double value = 0;
  std::vector<float> effects;
};

}  // namespace

TEST_CASE("a translation's attribution has PyTorch's parts, which sum to its value", "[explain]") {
  const TranslationGolden golden(GENERATE(from_range(translation_golden_names())));
  INFO(golden.name);
  const Json plan = Json::parse(read_file(golden.folder / "explain.json", any_file));
  const auto expected = read_safetensors(golden.folder / "explain.safetensors");
  const auto check_near = [&](const std::string& tensor, std::span<const float> got) {
    INFO(tensor);
    CHECK(distance(got, expected.at(tensor).values) <= 1e-4);
  };
  const auto pipeline = load_pipeline<TranslatePipeline>(golden.folder);
  const std::string text = golden.json.at("texts").at(plan.at("text").get<std::size_t>());
  Json options = {{"method", "direct_logit_attribution"},
                  {"position", plan.at("position")},
                  {"token", plan.at("token")},
                  {"against", plan.at("against")},
                  {"effects", true}};
  const FoundAttribution found(*pipeline, text, options);
  CHECK(std::abs(found.value - plan.at("value").get<double>()) < 1e-4);
  CHECK(found.json.at("columns") == plan.at("columns"));
  check_near("ledger.written", found.written.data);
  check_near("ledger.read", found.read.data);
  check_near("ledger.effects", found.effects);
  found.check_sums();

  // In `written`, only the decoder's last row is nonzero. Its own heads or recurrent units read its
  // tokens, the others the source's.
  const std::size_t own = plan.at("position").get<std::size_t>() + 1;
  CHECK(found.read.shape[0] == own + found.json.at("sourceTokens").size());
  for (std::size_t i = 0; i < found.written.shape[0]; ++i) {
    for (std::size_t c = 0; i + 1 != own && c < found.columns(); ++c) {
      CHECK(found.written.data[i * found.columns() + c] == 0.0f);
    }
  }
  const std::size_t self = found.column(golden.has_self_attention() ? "layers.0.self_attn.head.0"
                                                                    : "layers.0.self_attn");
  REQUIRE(self < found.columns());
  const std::size_t cross = found.column("layers.0.encoder_attn.head.0");
  CHECK(found.read_from(self, own) == 0);
  CHECK(found.read_from(cross, own) == found.read_from(cross, 0));
  CHECK(found.read_from(cross, own) > 0);

  const Json& other = plan.at("other");
  options.erase("effects");
  options["token"] = other.at("token");
  options["against"] = other.at("against");
  const FoundAttribution chosen(*pipeline, text, options);
  CHECK(std::abs(chosen.value - other.at("value").get<double>()) < 1e-4);
  CHECK(chosen.effects.empty());
  check_near("other.written", chosen.written.data);
  check_near("other.read", chosen.read.data);
}

// Covers cases that no golden has: norms before a recurrent unit, and positions outside the stream.
TEST_CASE(
    "attributions of recurrent units after a norm, and of relative positions, sum to their value",
    "[explain]") {
  const TranslationGolden golden("translate_pre_norm_shared");
  ModelConfig config = golden.config;
  StackConfig& decoder = *config.architecture.decoder;
  REQUIRE(decoder.layers[0].norm == NormPlacement::pre);
  const bool relative = GENERATE(false, true);
  if (relative) {
    decoder.tokens().positions = PositionKind::relative;
    decoder.layer_norm.kind = NormKind::rms;
    decoder.relative.buckets = 8;
    decoder.relative.distance = 16;
  } else {
    for (LayerConfig& layer : decoder.layers) layer.mixer = Mixer::recurrent;
  }
  TranslatePipeline pipeline(config, load_tokenizer(golden.folder));
  SplitMix64 random(7);
  for (const NamedParameter& parameter : pipeline.parameters()) {
    parameter.set(initial_values(parameter, random), 0);
  }
  const std::string text = golden.json.at("texts").at(2);
  const FoundAttribution found(pipeline, text,
                               {{"method", "direct_logit_attribution"}, {"position", 3}});
  found.check_sums();
  CHECK((found.column("embed_positions") == found.columns()) == relative);
  const std::size_t unit = found.column("layers.1.self_attn");
  CHECK((unit == found.columns()) == relative);
  if (relative) return;
  CHECK(found.read_from(unit, 4) == 0);
  for (std::size_t j = 0; j < 4; ++j) CHECK(found.read.data[j * found.columns() + unit] != 0.0f);
}

TEST_CASE("the shipped translators' attributions sum to a word's lead", "[explain]") {
  const std::string name = GENERATE("en-de", "en-fr");
  const Compute compute = GENERATE(Compute::f32, Compute::int8);
  const auto pipeline = load_pipeline<TranslatePipeline>(
      std::string(GLASSFORMER_SOURCE_DIR "/weights/") + name, {.compute = compute});
  const std::string text = "It rains. The film is not good.";
  const Translation plain = pipeline->translate(text, {.beams = 1});
  REQUIRE(plain.sentences.size() == 2);
  const std::vector<OutputToken>& tokens = plain.sentences[1].output.tokens;
  for (std::size_t position = 0; position < tokens.size(); ++position) {
    const FoundAttribution found(
        *pipeline, text,
        {{"method", "direct_logit_attribution"}, {"sentence", 1}, {"position", position}});
    found.check_sums();
    CHECK(found.json.at("token").at("id") == tokens[position].id);
    CHECK(std::abs(found.json.at("token").at("logprob").get<float>() - tokens[position].logprob) <
          1e-3f);
    CHECK(found.value > 0);  // greedy: the most probable token is written
    CHECK((found.column("rounding") < found.columns()) == (compute == Compute::int8));
  }
}

TEST_CASE("attributions of translations refuse invalid requests by name", "[explain]") {
  const TranslationGolden golden("translate_post_norm_tied");
  const auto pipeline = load_pipeline<TranslatePipeline>(golden.folder);
  const std::string text = "the old film.";
  const auto outcome = [&](const Json& options) {
    return std::get<Error>(explain(*pipeline, {text}, options.dump())[0]);
  };
  CHECK_THAT(outcome({{"method", "direct_logit_attribution"}, {"sentence", 1}}).what(),
             ContainsSubstring("sentence: expected one of the text's sentences, below 1, got 1"));
  CHECK_THAT(outcome({{"method", "direct_logit_attribution"}, {"position", 99}}).what(),
             ContainsSubstring("position: expected one of the translation's tokens"));
  const auto refusal = [&](const Json& options) {
    return error_of([&] { explain(*pipeline, {text}, options.dump()); });
  };
  CHECK(refusal({{"method", "direct_logit_attribution"}, {"token", 72}}).code() ==
        ErrorCode::invalid_option);
  CHECK(refusal({{"method", "direct_logit_attribution"}, {"token", 5}, {"against", 5}}).code() ==
        ErrorCode::invalid_option);
  CHECK(refusal({{"method", "rollout"}, {"position", 1}}).code() == ErrorCode::invalid_option);

  // After a given prefix; earlier positions explain the prefix's own tokens.
  const Json three = {20, 21, 22};
  const FoundAttribution forced(*pipeline, text,
                                {{"method", "direct_logit_attribution"}, {"prefix", three}});
  CHECK(forced.json.at("position") == 3);
  REQUIRE(forced.json.at("tokens").size() == 4);
  for (std::size_t i = 0; i < 3; ++i) CHECK(forced.json.at("tokens")[i].at("id") == three[i]);
  CHECK(forced.json.at("token").at("id") == forced.json.at("tokens")[3].at("id"));
  forced.check_sums();
  const FoundAttribution earlier(
      *pipeline, text,
      {{"method", "direct_logit_attribution"}, {"prefix", three}, {"position", 1}});
  CHECK(earlier.json.at("token").at("id") == 21);
  CHECK(outcome({{"method", "direct_logit_attribution"}, {"prefix", {999}}}).code() ==
        ErrorCode::invalid_option);

  // The written token may be given as the rival; then the explained token is another one.
  const FoundAttribution written(*pipeline, text, {{"method", "direct_logit_attribution"}});
  const Json first = written.json.at("token").at("id");
  CHECK(first == written.json.at("tokens").at(0).at("id"));
  const FoundAttribution other(*pipeline, text,
                               {{"method", "direct_logit_attribution"}, {"against", first}});
  CHECK(other.json.at("against").at("id") == first);
  CHECK(other.json.at("token").at("id") != first);
  CHECK(other.value < 0);
}

TEST_CASE("explanations of a translation are made per sentence", "[explain]") {
  const TranslationGolden golden(GENERATE("translate_pre_norm_shared", "translate_post_norm_tied"));
  INFO(golden.name);
  const auto pipeline = load_pipeline<TranslatePipeline>(golden.folder);
  const std::string text = "the old film. A quiet heart.";
  const Translation plain = pipeline->translate(text, {.beams = 1, .attention = true});
  REQUIRE(plain.sentences.size() == 2);
  const std::size_t layers = golden.config.encoder().layers.size();

  const Json rolled = explain_one(*pipeline, text, R"({"method": "rollout"})");
  const Json lens = explain_one(*pipeline, text, R"({"method": "lens", "words": 3})");
  const Json read = explain_one(*pipeline, text, R"({"method": "decoder_lens"})");
  for (std::size_t i = 0; i < 2; ++i) {
    const SentenceTranslation& of = plain.sentences[i];
    const std::size_t targets = of.output.tokens.size(), sources = of.source_tokens.size();
    const Json& sentence = rolled.at("sentences").at(i);
    CHECK(sentence.at("start") == of.start);
    CHECK(sentence.at("end") == of.end);
    CHECK(sentence.at("text") == of.output.text);
    CHECK(sentence.at("rollout").at("shape") == Json({targets, targets + sources}));

    // The last layer gives the model's own answer: with greedy search, its best word is the written
    // one.
    const Json& words = lens.at("sentences").at(i).at("layers");
    REQUIRE(words.size() == golden.config.decoder().layers.size() + 1);
    REQUIRE(words.back().size() == targets);
    for (std::size_t t = 0; t < targets; ++t) {
      const Json& best = words.back()[t];
      REQUIRE(best.size() == 3);
      CHECK(best[0].at("logprob") >= best[1].at("logprob"));
      CHECK(best[1].at("logprob") >= best[2].at("logprob"));
      const auto id = [&](const Json& guess) { return guess.at("id") == of.output.tokens[t].id; };
      const auto found = std::ranges::find_if(best, id);
      REQUIRE(found != best.end());  // the search skips tokens that are never written
      CHECK(std::abs(found->at("logprob").get<float>() - of.output.tokens[t].logprob) < 1e-4f);
    }

    const Json& from_layers = read.at("sentences").at(i).at("layers");
    REQUIRE(from_layers.size() == layers + 1);
    CHECK(from_layers.back().at("text") == of.output.text);
    CHECK(from_layers.front().at("score") != from_layers.back().at("score"));
  }
  const std::vector<TracedTensor> tensors =
      explain_beside(*pipeline, text, R"({"method": "rollout"})").tensors;
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[1].name == "sentences.1.rollout");
  const SentenceTranslation& first = plain.sentences[0];
  CHECK(tensors[0].data == rollout({*first.encoder, *first.decoder, *first.cross}));

  for (const std::string_view method : {"rollout", "lens", "decoder_lens"}) {
    INFO(method);
    const std::vector<TextInput> both = {text, " "};
    const auto results =
        run_all(*begin_explanation(*pipeline, both, request_for(*pipeline, std::string(method))));
    REQUIRE(results.size() == 2);
    const ExplainedInput& explained = std::get<ExplainedInput>(results[0]);
    CHECK(explained.method == method);
    const auto& sentences = std::get<ExplainedSentences>(explained.part);
    REQUIRE(sentences.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      const ExplainedSentence& sentence = sentences[i];
      CHECK(sentence.translation.output.text == plain.sentences[i].output.text);
      CHECK(sentence.rollout.empty() == (method != "rollout"));
      CHECK(sentence.readings.empty() == (method != "lens"));
      CHECK(sentence.readings.size() == sentence.lens.layers.size());
      CHECK(sentence.read_from.empty() == (method != "decoder_lens"));
    }
    CHECK(std::get<Error>(results[1]).code() == ErrorCode::empty_input);
  }
}

}  // namespace glassformer::test
