// Published checkpoints from text to answer, compared with the original library's pipelines; see
// tests/fixtures/checkpoints.

#include <unistd.h>

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "glassformer/embedder.hpp"
#include "support/any_file.hpp"
#include "support/checkpoint_golden.hpp"
#include "support/explain_jobs.hpp"
#include "tasks/answer/answer.hpp"
#include "tasks/classify/classify.hpp"
#include "tasks/embed/embed.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/fill/fill.hpp"
#include "tasks/load.hpp"
#include "tasks/tag/token_classify.hpp"

namespace glassformer::test {
namespace {

// Returns the text without spaces, and without another text.
std::string letters_without(std::string text, std::string_view gone = {}) {
  while (!gone.empty() && text.find(gone) != std::string::npos) {
    text.erase(text.find(gone), gone.size());
  }
  std::erase(text, ' ');
  return text;
}

constexpr double pipelines_tolerance = 1e-4;

// Checks ids and ranges and, for a pair, which text each token is from. The template's special
// tokens have no range.
void check_tokens(const nlohmann::json& expected, const std::vector<InputToken>& tokens) {
  std::vector<std::int32_t> ids;
  for (const InputToken& token : tokens) ids.push_back(token.id);
  CHECK(ids == expected.at("ids").get<std::vector<std::int32_t>>());
  REQUIRE(tokens.size() == expected.at("offsets").size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    INFO("token " << i);
    const nlohmann::json& range = expected.at("offsets")[i];
    if (range.is_null()) {
      CHECK(tokens[i].start == tokens[i].end);
    } else {
      CHECK(tokens[i].start == range[0]);
      CHECK(tokens[i].end == range[1]);
    }
  }
}

bool close(float got, double expected) {
  return std::abs(static_cast<double>(got) - expected) < pipelines_tolerance;
}

// Returns whether a text has no token. The original library answers such a text; we refuse it.
bool has_no_token(const nlohmann::json& text) {
  return std::ranges::all_of(text.at("offsets"), [](const auto& range) { return range.is_null(); });
}

Aggregation aggregation_of(const std::string& name) {
  const nlohmann::json options = {{"aggregation", name}};
  return read_options<TokenClassifyOptions>(options.dump()).aggregation;
}

}  // namespace

TEST_CASE("published classifiers score texts as the original library does", "[checkpoints]") {
  const std::string name = GENERATE(from_range(checkpoint_names("sequence")));
  INFO(name);
  const CheckpointGolden golden(name);
  const auto pipeline = load_pipeline<ClassifyPipeline>(checkpoints / name);
  for (const nlohmann::json& text : golden.json.at("texts")) {
    const std::string first = text.at("text");
    const bool pair = text.contains("pair");
    INFO(first);
    if (has_no_token(text)) {
      CHECK(error_of([&] { pipeline->classify(first); }).code() == ErrorCode::empty_input);
      continue;
    }
    const std::string second = pair ? text.at("pair").get<std::string>() : "";
    const Classification result =
        pipeline->classify(pair ? TextInput(first, second) : TextInput(first));
    check_tokens(text, result.tokens);
    CHECK(result.clipped == text.at("truncated"));
    CHECK(result.label == text.at("label").get<std::string>());
    REQUIRE(result.scores.size() == text.at("scores").size());
    for (std::size_t i = 0; i < result.scores.size(); ++i) {
      CHECK(close(result.scores[i], text.at("scores")[i]));
    }
    for (std::size_t i = 0; i < result.tokens.size(); ++i) {
      REQUIRE(result.tokens[i].sequence.has_value() == pair);
      if (pair) CHECK(*result.tokens[i].sequence == (text.at("sequences")[i] == 1));
    }
  }
}

TEST_CASE("a classifier with a decoder masks tokens as the original library does",
          "[checkpoints]") {
  const CheckpointGolden golden("bart_sequence");
  const auto pipeline = load_pipeline<ClassifyPipeline>(checkpoints / "bart_sequence");
  std::size_t compared = 0;
  for (const nlohmann::json& text : golden.json.at("texts")) {
    if (!text.contains("masked")) continue;
    const std::string first = text.at("text"), second = text.value("pair", "");
    const Classification result = pipeline->classify(
        text.contains("pair") ? TextInput(first, second) : TextInput(first),
        {.encoder = {.mask_tokens =
                         text.at("masked").at("tokens").get<std::vector<std::size_t>>()}});
    for (std::size_t i = 0; i < result.logits.size(); ++i) {
      CHECK(close(result.logits[i], text.at("masked").at("logits")[i]));
    }
    ++compared;
  }
  CHECK(compared > 2);
  const std::string text = "I loved it!";
  const std::size_t last = pipeline->classify(text).tokens.size() - 1;
  const Error error =
      error_of([&] { pipeline->classify(text, {.encoder = {.mask_tokens = {last}}}); });
  CHECK(error.code() == ErrorCode::invalid_option);
  CHECK(std::string(error.what()).find("answers from the last token") != std::string::npos);
}

TEST_CASE("a classifier with a decoder has its attention and its heads, too", "[checkpoints]") {
  const std::string text = "I loved it!";
  const auto classifier = load_pipeline<ClassifyPipeline>(checkpoints / "bart_sequence");
  const std::string name = "decoder.layers.0.encoder_attn.weights";
  const Classification plain = classifier->classify(text, {.encoder = {.trace = {name}}});
  CHECK(!plain.attention.has_value());
  REQUIRE(plain.trace.size() == 1);
  const Classification shown =
      classifier->classify(text, {.encoder = {.attention = true, .trace = {name, "pooled"}}});
  CHECK(shown.logits == plain.logits);
  CHECK(shown.attention.value().layers == 2);
  CHECK(shown.decoder_attention.value().data.size() ==
        2 * shown.tokens.size() * shown.tokens.size());
  CHECK(shown.cross_attention.value().data == plain.trace[0].data);
  REQUIRE(shown.trace.size() == 2);
  CHECK(shown.trace[0].data == plain.trace[0].data);
  CHECK(shown.trace[1].name == "pooled");

  const auto logits_without = [&](AttentionSite site, std::size_t layer) {
    return classifier->classify(text, {.encoder = {.ablate = {{layer, 1, site}}}}).logits;
  };
  CHECK(logits_without(AttentionSite::cross, 0) != plain.logits);
  CHECK(logits_without(AttentionSite::decoder, 0) != logits_without(AttentionSite::cross, 0));
  CHECK(error_of([&] { logits_without(AttentionSite::cross, 1); }).code() ==
        ErrorCode::invalid_option);
  const auto other = load_pipeline<ClassifyPipeline>(checkpoints / "bert_sequence");
  const Error error = error_of([&] {
    other->classify(text, {.encoder = {.ablate = {{0, 0, AttentionSite::cross}}}});
  });
  CHECK(std::string(error.what()).starts_with("ablate: expected heads of the encoder"));
}

TEST_CASE("explanations of a classifier with a decoder are those of the library's modules",
          "[checkpoints]") {
  const CheckpointGolden golden("bart_sequence");
  const auto expected =
      read_tensors(checkpoints / "bart_sequence" / "expected.explain.safetensors");
  const nlohmann::json& text = golden.json.at("texts")[0];
  const auto classifier = load_pipeline<ClassifyPipeline>(checkpoints / "bart_sequence");
  const ClassifierExplainer explainer(*classifier);
  const std::string first = text.at("text"), second = text.at("pair");
  const ExplainInput input = explainer.read(TextInput(first, second));
  REQUIRE(input.text.ids == text.at("ids").get<std::vector<std::int32_t>>());
  CHECK(distance(explainer.lens(input).token_logits, expected.at("lens")) < pipelines_tolerance);
  const LogitAttribution attribution = explainer.direct_logit_attribution(input, {});
  CHECK(close(static_cast<float>(attribution.value), static_cast<double>(expected.at("value")[0])));
  std::vector<float> read;  // without the last column, the biases
  for (std::size_t i = 0; i < attribution.read.size(); ++i) {
    if ((i + 1) % attribution.columns.size() != 0) read.push_back(attribution.read[i]);
  }
  CHECK(distance(read, expected.at("ledger")) < pipelines_tolerance);
  const Relevance relevance = explainer.relevance(input, explainer.answer(input));
  CHECK(distance(relevance.matrix, expected.at("relevance")) < pipelines_tolerance);
}

TEST_CASE("explanations of a classifier with a decoder agree with its runs", "[checkpoints]") {
  const std::string text = "I loved it! The end was bad.";
  const auto classifier = load_pipeline<ClassifyPipeline>(checkpoints / "bart_sequence");
  const ClassifierExplainer explainer(*classifier);
  const ExplainInput input = explainer.read(text);
  const std::size_t rows = input.text.tokens(), label = explainer.answer(input);
  const Classification plain = classifier->classify(text);
  const std::size_t labels = plain.logits.size();
  const Contrast contrast = contrast_for(label, labels);
  const double number = contrast.of(plain.logits.data());
  const auto number_with = [&](EncoderOptions options) {
    return contrast.of(classifier->classify(text, {.encoder = std::move(options)}).logits.data());
  };

  // The decoder's tokens, which begin with its start token, then the encoder's.
  const std::vector<InputToken> tokens = explainer.tokens_of(input);
  REQUIRE(tokens.size() == 2 * rows);
  CHECK(tokens[0].id == classifier->config().architecture.start_id);
  for (std::size_t i = 0; i + 1 < rows; ++i) CHECK(tokens[i + 1].id == tokens[rows + i].id);

  const Lens lens = explainer.lens(input);
  CHECK(lens.layers == classifier->config().decoder().layers.size());
  CHECK(lens.tokens == rows);
  CHECK(distance(std::span(lens.logits).last(labels), plain.logits) < 1e-5);
  // The last token answers.
  CHECK(distance(std::span(lens.token_logits).last(labels), plain.logits) < 1e-5);

  const LogitAttribution attribution =
      explainer.direct_logit_attribution(input, {.label = {}, .effects = true});
  CHECK(attribution.tokens == 2 * rows);
  CHECK(std::abs(attribution.value - number) < 1e-5);
  for (const std::vector<float>* view : {&attribution.written, &attribution.read}) {
    CHECK(std::abs(attribution.sum(*view) - number) < 1e-5 * std::max(1.0, std::abs(number)));
  }
  const auto effect_of = [&](const LogitColumn& column) {
    const auto found = std::ranges::find(attribution.columns, column);
    return static_cast<double>(
        attribution.effects.at(static_cast<std::size_t>(found - attribution.columns.begin())));
  };
  for (const auto& [kind, site] :
       {std::pair(LogitColumn::Kind::head, AttentionSite::decoder),
        std::pair(LogitColumn::Kind::cross_head, AttentionSite::cross)}) {
    const double without = number_with({.ablate = {{0, 1, site}}});
    CHECK(std::abs(effect_of({.kind = kind, .layer = 0, .head = 1}) - (number - without)) < 1e-5);
  }

  const Rollout rollout = explainer.rollout(input);
  CHECK(rollout.matrix.size() == rows * 2 * rows);
  CHECK(std::abs(std::accumulate(rollout.scores.begin(), rollout.scores.end(), 0.0) - 1) < 1e-5);

  // The first row of the decoder reads no other of its rows.
  const Relevance relevance = explainer.relevance(input, label);
  REQUIRE(relevance.scores.size() == 2 * rows);
  CHECK(relevance.matrix[1] == 0);
  CHECK(*std::ranges::max_element(relevance.scores) > 0);

  // To first order, a small change of an embedding changes the number by its gradient.
  const std::vector<float> products = explainer.gradient_times_input(input, label).scores;
  for (const char* name : {"decoder.embed_tokens", "encoder.embed_tokens"}) {
    INFO(name);
    const std::size_t first = name[0] == 'e' ? rows : 0, token = 2;
    const TracedTensor embeddings =
        classifier->classify(text, {.encoder = {.trace = {name}}}).trace[0];
    const auto scaled = [&](float factor) {
      Patch patch = {.name = name, .shape = embeddings.shape, .value = embeddings.data};
      const std::size_t width = embeddings.shape[1];
      for (std::size_t c = token * width; c < (token + 1) * width; ++c) patch.value[c] *= factor;
      return number_with({.patch = {patch}});
    };
    const double slope = (scaled(1.01f) - scaled(0.99f)) / 0.02;
    CHECK(std::abs(slope - static_cast<double>(products[first + token])) < 2e-3);
  }
  IntegratedGradientsSum sum = explainer.integrated_gradients(input, label);
  while (sum.step()) {
  }
  const IntegratedGradients integrated = sum.take();
  CHECK(integrated.scores.size() == 2 * rows);
  CHECK(std::abs(integrated.gap) <
        0.05f * std::abs(integrated.value - integrated.baseline) + 0.02f);
  CHECK(integrated.scores[0] == 0);     // the start token
  CHECK(integrated.scores[rows] == 0);  // a special one
  CHECK(integrated.scores[1] == 0);     // the same, as the decoder reads it

  FaithfulnessTest test =
      explainer.faithfulness(input, {.of = "direct_logit_attribution", .orders = 2});
  while (test.step()) {
  }
  const double masked = number_with({.mask_tokens = input.words[0]});
  CHECK(std::abs(static_cast<double>(test.take().losses[0]) - (number - masked)) < 1e-5);

  for (const char* method :
       {"value_norms", "value_zeroing", "activation_patching", "edges", "circuit"}) {
    INFO(method);
    std::string options = std::string(R"({"method": ")") + method + '"';
    if (method == std::string("edges")) {
      options += R"(, "edges": [{"layer": 0, "head": 0, "query": 0, "key": 0}])";
    }
    const auto outcomes = explain(*classifier, {TextInput(text, text)}, options + "}");
    const Error* error = std::get_if<Error>(&outcomes[0]);
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::unsupported);
    CHECK(std::string(error->what()).find("without a decoder") != std::string::npos);
  }
}

TEST_CASE("published models find the original library's entities", "[checkpoints]") {
  const std::string name = GENERATE(from_range(checkpoint_names("tokens")));
  const CheckpointGolden golden(name);
  const auto pipeline = load_pipeline<TokenClassifyPipeline>(checkpoints / name);
  for (const nlohmann::json& text : golden.json.at("texts")) {
    const std::string words = text.at("text");
    if (has_no_token(text)) {
      CHECK(error_of([&] { pipeline->classify(words); }).code() == ErrorCode::empty_input);
      continue;
    }
    for (const auto& [aggregation, expected] : text.at("entities").items()) {
      INFO(name << ", " << aggregation << ": " << words);
      const TokenClassification result = pipeline->classify(
          words,
          {.aggregation = aggregation_of(aggregation), .window = TokenClassifyWindow::first});
      check_tokens(text, result.tokens);
      CHECK(result.clipped == text.at("truncated"));
      REQUIRE(result.entities.size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const Entity& entity = result.entities[i];
        INFO("entity " << i);
        CHECK(entity.entity == expected[i].at("entity").get<std::string>());
        CHECK(entity.word == expected[i].at("word").get<std::string>());
        CHECK(entity.start == expected[i].at("start"));
        CHECK(entity.end == expected[i].at("end"));
        CHECK(close(entity.score, expected[i].at("score")));
        CHECK(entity.index.has_value() == expected[i].contains("index"));
        if (entity.index) CHECK(*entity.index == expected[i].at("index"));
      }
    }
  }
}

// transformers 5.12.1 writes "[CLS] the X [MASK] house [SEP]".
TEST_CASE("the text of a filled mask keeps the other masks", "[checkpoints]") {
  const auto pipeline = load_pipeline<FillPipeline>(checkpoints / "bert_masks");
  const FilledText filled = pipeline->fill("the [MASK] [MASK] house", {.targets = {"old"}});
  REQUIRE(filled.masks.size() == 2);
  CHECK(filled.masks[0].answers[0].sequence == "the old [MASK] house");
  CHECK(filled.masks[1].answers[0].sequence == "the [MASK] old house");
}

TEST_CASE("published models fill masks as the original library does", "[checkpoints]") {
  const std::string name = GENERATE(from_range(checkpoint_names("masks")));
  const CheckpointGolden golden(name);
  const auto pipeline = load_pipeline<FillPipeline>(checkpoints / name);
  for (const nlohmann::json& text : golden.json.at("texts")) {
    const std::string words = text.at("text");
    INFO(name << ": " << words);
    const FilledText result = pipeline->fill(words, {.top_k = 3});
    check_tokens(text, result.tokens);
    const nlohmann::json& masks = text.at("masks");
    REQUIRE(result.masks.size() == masks.size());
    for (std::size_t m = 0; m < masks.size(); ++m) {
      const FilledMask& mask = result.masks[m];
      CHECK(mask.index == masks[m].at("index"));
      // Some tokens include the space before them.
      CHECK(words.substr(mask.start, mask.end - mask.start).ends_with(pipeline->mask_token()));
      REQUIRE(mask.answers.size() == 3);
      for (std::size_t i = 0; i < 3; ++i) {
        const nlohmann::json& answer = masks[m].at("answers")[i];
        CHECK(mask.answers[i].id == answer.at("id"));
        CHECK(mask.answers[i].token == answer.at("token").get<std::string>());
        CHECK(mask.answers[i].text == answer.at("text").get<std::string>());
        // The fixtures leave out other masks and special answers. The library keeps them; see
        // above.
        const std::string got = mask.answers[i].sequence, expected = answer.at("sequence");
        if (masks.size() == 1) {
          CHECK(got == expected);
        } else if (expected.find(mask.answers[i].text) != std::string::npos) {
          CHECK(letters_without(got, pipeline->mask_token()) == letters_without(expected));
        }
        CHECK(close(mask.answers[i].score, answer.at("score")));
      }
    }
    // A trace needs the logits of all tokens; the answer stays the same.
    const FilledText traced = pipeline->fill(words, {.encoder = {.trace = {"logits"}}, .top_k = 3});
    CHECK(traced.masks == result.masks);
  }
}

TEST_CASE("masks can be filled with given words only", "[checkpoints]") {
  const auto pipeline = load_pipeline<FillPipeline>(checkpoints / "bert_masks");
  const auto fill = [&](std::vector<std::string> targets) {
    return pipeline->fill("The film is [MASK].", {.targets = std::move(targets)}).masks[0].answers;
  };
  const std::vector<FilledToken> answers = fill({"film", "good", "film"});
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].score + answers[1].score == Catch::Approx(1));
  CHECK(answers[0].score > answers[1].score);
  const FilledText all = pipeline->fill("The film is [MASK].", {.top_k = 1000});
  const auto score_of = [&](std::int32_t id) {
    return std::ranges::find(all.masks[0].answers, id, &FilledToken::id)->score;
  };
  CHECK(all.masks[0].answers.size() == pipeline->tokenizer().size());
  CHECK(answers[0].score / answers[1].score ==
        Catch::Approx(score_of(answers[0].id) / score_of(answers[1].id)));
  CHECK(error_of([&] { fill({"good film"}); }).code() == ErrorCode::invalid_option);
  CHECK(error_of([&] { fill({"😐"}); }).code() == ErrorCode::invalid_option);
}

TEST_CASE("a text without a mask is refused", "[checkpoints]") {
  const auto pipeline = load_pipeline<FillPipeline>(checkpoints / "roberta_masks");
  const Error error = error_of([&] { pipeline->fill("The film is [MASK]."); });
  CHECK(error.code() == ErrorCode::invalid_option);
  CHECK(std::string(error.what()).find("<mask>") != std::string::npos);
}

TEST_CASE("a model that fills masks makes vectors without its head", "[checkpoints]") {
  for (const std::string& name : checkpoint_names("masks")) {
    INFO(name);
    const auto pipeline = load_pipeline<EmbedPipeline>(checkpoints / name);
    CHECK(pipeline->config().unused_head.ends_with(name == "distilbert_masks" ? ""
                                                   : name == "bert_masks"     ? "ForPreTraining"
                                                                              : "ForMaskedLM"));
    CHECK(pipeline->embed("The film").embedding.size() == pipeline->config().encoder().d_model);
  }
}

namespace {

nlohmann::json long_texts() {
  return nlohmann::json::parse(read_file(checkpoints / "long_texts.json", any_file));
}

// A copy of a checkpoint with truncation at the start of long texts.
struct LosesBeginnings {
  std::filesystem::path path;

  explicit LosesBeginnings(const std::string& name)
      : path(std::filesystem::temp_directory_path() /
             ("glassformer-left-" + name + "-" + std::to_string(getpid()))) {
    std::filesystem::copy(checkpoints / name, path, std::filesystem::copy_options::recursive);
    const std::filesystem::path file = path / "tokenizer_config.json";
    nlohmann::json settings = nlohmann::json::parse(read_file(file, any_file));
    settings["truncation_side"] = "left";
    std::ofstream(file) << settings;
  }
  LosesBeginnings(const LosesBeginnings&) = delete;
  LosesBeginnings& operator=(const LosesBeginnings&) = delete;
  ~LosesBeginnings() { std::filesystem::remove_all(path); }
};

std::optional<std::size_t> stride_of(const nlohmann::json& text) {
  if (!text.contains("stride")) return std::nullopt;
  return text.at("stride").get<std::size_t>();
}

}  // namespace

TEST_CASE("published models find the original library's entities in long texts", "[checkpoints]") {
  const nlohmann::json all = long_texts();
  std::size_t compared = 0;
  for (const auto& [name, texts] : all.at("tokens").items()) {
    const auto right = load_pipeline<TokenClassifyPipeline>(checkpoints / name);
    const auto left = load_pipeline<TokenClassifyPipeline>(LosesBeginnings(name).path);
    for (const nlohmann::json& text : texts) {
      const auto& pipeline = text.at("side") == "left" ? left : right;
      for (const auto& [aggregation, expected] : text.at("entities").items()) {
        INFO(name << ", " << aggregation << ", stride " << text.value("stride", -1));
        const TokenClassification result = pipeline->classify(
            text.at("text").get<std::string>(),
            {.aggregation = aggregation_of(aggregation), .stride = stride_of(text)});
        CHECK(result.windows == text.at("windows"));
        CHECK(!result.clipped);
        REQUIRE(result.entities.size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const Entity& entity = result.entities[i];
          INFO("entity " << i);
          CHECK(entity.entity == expected[i][0].get<std::string>());
          CHECK(close(entity.score, expected[i][1]));
          CHECK(entity.word == expected[i][2].get<std::string>());
          CHECK(entity.start == expected[i][3]);
          CHECK(entity.end == expected[i][4]);
          ++compared;
        }
      }
    }
  }
  CHECK(compared > 500);
}

TEST_CASE("entities of single tokens in a long text occur once, whatever the windows",
          "[checkpoints]") {
  const nlohmann::json all = long_texts();
  for (const auto& [name, texts] : all.at("tokens").items()) {
    INFO(name);
    const auto pipeline = load_pipeline<TokenClassifyPipeline>(checkpoints / name);
    const std::string once = texts[0].at("text"),
                      text = once + ' ' + once + ' ' + once + ' ' + once;
    const TokenClassification result = pipeline->classify(text, {.ignore_labels = {}});
    CHECK(result.windows > 1);
    std::size_t special = 0;
    for (const InputToken& token : result.tokens) {
      if (token.start == token.end &&
          (&token == &result.tokens.front() || &token == &result.tokens.back())) {
        ++special;
      }
    }
    CHECK(special == 2);
    REQUIRE(result.entities.size() == result.tokens.size() - 2);
    for (std::size_t i = 0; i < result.entities.size(); ++i) {
      CHECK(result.entities[i].index == i + 1);
      CHECK(result.entities[i].start == result.tokens[i + 1].start);
      CHECK(result.entities[i].end == result.tokens[i + 1].end);
    }
    const auto code_of = [&](const TokenClassifyOptions& options) {
      return error_of([&] { pipeline->classify(text, options); }).code();
    };
    CHECK(code_of({.encoder = {.attention = true}}) == ErrorCode::too_large);
    CHECK(code_of({.encoder = {.mask_tokens = {1}}}) == ErrorCode::too_large);
    CHECK(code_of({.stride = 1000}) == ErrorCode::invalid_option);
    CHECK(code_of({.window = TokenClassifyWindow::first, .stride = 1}) ==
          ErrorCode::invalid_option);
    const TokenClassification cut =
        pipeline->classify(text, {.window = TokenClassifyWindow::first});
    CHECK(cut.clipped);
    CHECK(cut.windows == 1);
  }
}

TEST_CASE("published classifiers give long texts the mean or highest score of the windows",
          "[checkpoints]") {
  const nlohmann::json all = long_texts();
  for (const auto& [name, texts] : all.at("sequence").items()) {
    const auto pipeline = load_pipeline<ClassifyPipeline>(checkpoints / name);
    for (const nlohmann::json& text : texts) {
      const std::string words = text.at("text");
      for (const char* window : {"mean", "max"}) {
        INFO(name << ", " << window << ", stride " << text.value("stride", -1));
        const Classification result = pipeline->classify(
            words, {.window = window == std::string_view("mean") ? ClassifyWindow::mean
                                                                 : ClassifyWindow::max,
                    .stride = stride_of(text)});
        CHECK(result.windows == text.at("windows"));
        CHECK(!result.clipped);
        const std::vector<double> expected = text.at(window);
        REQUIRE(result.scores.size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
          CHECK(close(result.scores[i], expected[i]));
        }
        CHECK(result.score == *std::ranges::max_element(result.scores));
      }
      CHECK(pipeline->classify(words).clipped);
      CHECK(error_of([&] {
              pipeline->classify(words,
                                 {.encoder = {.attention = true}, .window = ClassifyWindow::mean});
            }).code() == ErrorCode::too_large);
    }
  }
}

TEST_CASE("published models answer questions as the original library does", "[checkpoints]") {
  const std::string name = GENERATE(from_range(checkpoint_names("answer")));
  const CheckpointGolden golden(name);
  const auto pipeline = load_pipeline<AnswerPipeline>(checkpoints / name);
  for (std::size_t i = 0; i < golden.json.at("texts").size(); ++i) {
    const nlohmann::json& text = golden.json.at("texts")[i];
    const nlohmann::json& options = text.at("options");
    INFO(name << ": " << text.at("question"));
    const AnswerOptions wanted = {
        .encoder = {.attention = true},
        .max_seq_len = options.at("max_length"),
        .doc_stride = options.at("stride").get<std::size_t>(),
        .max_answer_len = options.at("max_answer_length"),
        .handle_impossible_answer = options.at("handle_impossible_answer")};
    const Answer result = pipeline->answer(text.at("question").get<std::string>(),
                                           text.at("context").get<std::string>(), wanted);
    CHECK(result.answer == text.at("answer").get<std::string>());
    CHECK(result.start == text.at("start"));
    CHECK(result.end == text.at("end"));
    CHECK(close(result.score, text.at("score")));
    if (!text.contains("window")) continue;  // no answer
    const nlohmann::json& window = text.at("windows")[text.at("window").get<std::size_t>()];
    check_tokens(window, result.tokens);
    for (std::size_t t = 0; t < result.tokens.size(); ++t) {
      CHECK(result.tokens[t].sequence == (window.at("sequences")[t] == 1));
    }
    const auto& attention = golden.tensors.at("attention." + std::to_string(i));
    CHECK(distance(result.attention->data, attention) < pipelines_tolerance);
  }
}

TEST_CASE("published models give the original library's vectors", "[checkpoints]") {
  const std::string name = GENERATE(from_range(checkpoint_names("embed")));
  INFO(name);
  const CheckpointGolden golden(name);
  const auto pipeline = load_pipeline<EmbedPipeline>(checkpoints / name);
  CHECK(pipeline->config().vectors.normalize == golden.json.at("normalized"));
  std::vector<std::vector<float>> vectors;
  for (std::size_t i = 0; i < golden.json.at("texts").size(); ++i) {
    const nlohmann::json& text = golden.json.at("texts")[i];
    const std::string words = text.at("text"), index = std::to_string(i);
    INFO(words);
    if (has_no_token(text)) {
      CHECK(error_of([&] { pipeline->embed(words); }).code() == ErrorCode::empty_input);
      vectors.push_back(golden.tensors.at("embedding." + index));
      continue;
    }
    EmbedOptions plain;
    if (text.contains("promptName")) plain.prompt_name = text.at("promptName").get<std::string>();
    const Embedded result = pipeline->embed(words, plain);
    check_tokens(text, result.tokens);
    CHECK(distance(result.embedding, golden.tensors.at("embedding." + index)) <
          pipelines_tolerance);
    plain.normalize = false;
    CHECK(distance(pipeline->embed(words, plain).embedding, golden.tensors.at("pooled." + index)) <
          pipelines_tolerance);
    vectors.push_back(result.embedding);
  }
  std::vector<float> similarities;
  for (const auto& a : vectors) {
    for (const auto& b : vectors) similarities.push_back(similarity(a, b));
  }
  CHECK(distance(similarities, golden.tensors.at("similarity")) < pipelines_tolerance);
}

}  // namespace glassformer::test
