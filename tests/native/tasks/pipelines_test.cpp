// From text to verdict, on the golden models: tokens, truncation, options, errors, JSON.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstring>

#include "support/error_of.hpp"
#include "support/golden.hpp"
#include "tasks/classify/classify.hpp"
#include "tasks/embedded_tensors.hpp"
#include "tasks/load.hpp"
#include "tasks/make_pipeline.hpp"

namespace glassformer::test {
namespace {

using Catch::Matchers::ContainsSubstring;

// Returns the JSON of a text's result.
std::string json_of(ClassifyPipeline& pipeline, const TextInput& text,
                    const ClassifyOptions& options = {}) {
  const auto job = pipeline.begin(std::span(&text, 1), options);
  while (job->step()) {
  }
  return std::get<std::string>(results_as_json(*job).at(0));
}

}  // namespace

TEST_CASE("texts get PyTorch's tokens, probabilities and labels", "[pipelines]") {
  const std::string name = GENERATE(from_range(golden_names()));
  const Golden golden(name);
  const auto pipeline = load_pipeline<ClassifyPipeline>(golden.folder);
  const auto texts = golden.json.at("texts").get<std::vector<std::string>>();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    INFO(name << ": \"" << texts[i] << '"');
    const Classification result = pipeline->classify(texts[i]);
    std::vector<std::int32_t> ids;
    for (const InputToken& token : result.tokens) ids.push_back(token.id);
    CHECK(ids == golden.json.at("ids").at(i).get<std::vector<std::int32_t>>());
    CHECK(result.clipped == golden.json.at("clipped").at(i).get<bool>());
    CHECK(result.label == golden.json.at("labels").at(i).get<std::string>());
    for (std::size_t c = 0; c < result.scores.size(); ++c) {
      CHECK(std::abs(static_cast<double>(result.scores[c]) -
                     golden.json.at("scores").at(i).at(c).get<double>()) <=
            golden.tolerance("scores"));
    }
  }
}

TEST_CASE("each text of a batch gets its own result or error", "[pipelines]") {
  const auto pipeline = load_pipeline<ClassifyPipeline>(Golden("pre_norm_mean").folder);
  std::vector<std::string> lines;
  for (int i = 0; i < 100; ++i) {  // more tokens than fit in one batch
    lines.push_back(i % 7 == 0 ? "  "
                               : "the plot makes no sense " + std::string(1, char('a' + i % 26)));
  }
  const std::vector<std::string_view> texts(lines.begin(), lines.end());
  const auto results = pipeline->classify_batch(TextInputs(texts).items());
  REQUIRE(results.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i % 7 == 0) {
      CHECK(std::get<Error>(results[i]).code() == ErrorCode::empty_input);
    } else {
      CHECK(std::get<Classification>(results[i]).logits == pipeline->classify(texts[i]).logits);
    }
  }
  CHECK(pipeline->classify_batch({}).empty());
}

TEST_CASE("invalid requests are refused by name, and the next one works", "[pipelines]") {
  const auto pipeline = load_pipeline<ClassifyPipeline>(Golden("pre_norm_mean").folder);
  const auto code_of = [&](std::string_view text, const ClassifyOptions& options = {}) {
    return error_of([&] { pipeline->classify(text, options); }).code();
  };
  CHECK(code_of("") == ErrorCode::empty_input);
  CHECK(code_of("   ") == ErrorCode::empty_input);
  CHECK(code_of("a film", {.encoder = {.ablate = {{2, 0}}}}) == ErrorCode::invalid_option);
  CHECK(code_of("a film", {.encoder = {.ablate = {{0, 4}}}}) == ErrorCode::invalid_option);
  CHECK(code_of("a film", {.encoder = {.mask_tokens = {1000}}}) == ErrorCode::invalid_option);
  CHECK(code_of("a", {.encoder = {.mask_tokens = {0}}}) == ErrorCode::invalid_option);
  CHECK(pipeline->classify("a film").tokens.size() > 0);
}

TEST_CASE("only models that read or write tokens need a tokenizer", "[pipelines]") {
  ModelConfig config = OpenFolder(Golden("pre_norm_mean").folder).config;
  CHECK(needs_tokenizer(config));
  const Error error =
      error_of([&] { make_pipeline({.config = config, .tokenizer = {}, .target_tokenizer = {}}); });
  CHECK(error.code() == ErrorCode::invalid_tokenizer);
  CHECK_THAT(error.what(), ContainsSubstring("tokenizer: expected one of tokenizer.json, "));
  config.architecture.encoder->input =
      PatchInput{.height = 28, .width = 28, .patch_height = 7, .patch_width = 7};
  CHECK(!needs_tokenizer(config));
  config.architecture.decoder.emplace();
  CHECK(needs_tokenizer(config));
}

TEST_CASE("a text over the limit is truncated at its end", "[pipelines]") {
  const Golden golden("odd_sizes");
  const auto pipeline = load_pipeline<ClassifyPipeline>(golden.folder);
  std::string text;
  while (text.size() < 1'000'000) text += "the plot makes no sense ";
  const Classification result = pipeline->classify(text, {.encoder = {.attention = true}});
  CHECK(result.clipped);
  CHECK(result.tokens.size() == golden.config.encoder().max_length);
  CHECK(result.tokens.back().id == *pipeline->tokenizer().find("</s>"));
  CHECK(result.tokens.back().start == result.tokens.back().end);
  CHECK(result.attention->queries == golden.config.encoder().max_length);
}

TEST_CASE("truncation in the middle keeps the end and a quarter of the limit at the beginning",
          "[pipelines]") {
  const Golden golden("odd_sizes");
  ModelConfig config = golden.config;
  config.clip = Clip::middle;
  ClassifyPipeline pipeline(config, load_tokenizer(golden.folder));
  load_weights(golden.folder, pipeline.parameters());
  std::string text = "a";
  while (pipeline.tokenizer().encode(text).size() <= config.encoder().max_length) text += " film b";
  const std::vector<Token> pieces = pipeline.tokenizer().encode(text);
  const std::vector<InputToken> tokens = pipeline.classify(text).tokens;
  const std::size_t prefix = config.prefix_tokens.size(), suffix = config.suffix_tokens.size();
  const std::size_t kept = config.encoder().max_length - prefix - suffix;
  REQUIRE(tokens.size() == config.encoder().max_length);
  for (std::size_t i = 0; i < kept; ++i) {
    const Token& piece = pieces[i < kept / 4 ? i : pieces.size() - kept + i];
    CHECK(tokens[prefix + i].id == piece.id);
    CHECK(tokens[prefix + i].start == piece.start);
    CHECK(tokens[prefix + i].end == piece.end);
  }
}

TEST_CASE("any bytes are accepted as a text", "[pipelines]") {
  const auto pipeline = load_pipeline<ClassifyPipeline>(Golden("pre_norm_mean").folder);
  for (const std::string& text :
       {std::string("\xff\xfe\x80"), std::string("a\0b", 3),
        std::string("\xed\xa0\x80 half a pair"), std::string("\xf0\x9f")}) {
    const Classification result = pipeline->classify(text);
    CHECK(!result.tokens.empty());
    CHECK(nlohmann::json::accept(json_of(*pipeline, text)));
  }
}

TEST_CASE("the JSON of a result has all of its fields", "[pipelines]") {
  const auto pipeline = load_pipeline<ClassifyPipeline>(Golden("pre_norm_mean").folder);
  const ClassifyOptions options = {.encoder = {.attention = true, .contributions = true}};
  const Classification result = pipeline->classify("not good at all", options);
  const auto json = nlohmann::json::parse(json_of(*pipeline, "not good at all", options));
  const auto& labels = pipeline->config().labels;
  CHECK(json.at("label") == result.label);
  CHECK(json.at("score").get<float>() == result.score);
  CHECK(result.score == *std::ranges::max_element(result.scores));
  CHECK(result.label == labels[result.score == result.scores[0] ? 0 : 1]);
  CHECK(json.at("scores").size() == labels.size());
  const auto& second = json.at("scores").at(1);
  CHECK(second.at("id") == 1);
  CHECK(second.at("label") == labels[1]);
  CHECK(second.at("score").get<float>() == result.scores[1]);
  CHECK(second.at("logit").get<float>() == result.logits[1]);
  CHECK(json.at("tokens").size() == result.tokens.size());
  CHECK(json.at("tokens").at(0).at("text") ==
        pipeline->tokenizer().display_text(result.tokens[0].id));
  CHECK(json.at("clipped") == false);
  CHECK(json.at("contributions").at(1).at(2).get<float>() ==
        result.contributions[2 * labels.size() + 1]);
  const auto& attention = json.at("attention").at("encoder");
  CHECK(attention.at("layers") == result.attention->layers);
  CHECK(attention.at("queries") == result.tokens.size());

  // base64 by its definition: six bits per character.
  const std::string data = attention.at("data");
  std::vector<std::uint8_t> bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (char c : data) {
    if (c == '=') break;
    const std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bits = bits << 6 | static_cast<std::uint32_t>(digits.find(c));
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes.push_back(static_cast<std::uint8_t>(bits >> held));
    }
  }
  REQUIRE(bytes.size() == result.attention->data.size() * sizeof(float));
  CHECK(std::memcmp(bytes.data(), result.attention->data.data(), bytes.size()) == 0);
}

TEST_CASE("options are read from JSON, and unknown or mistyped ones are refused", "[pipelines]") {
  const ClassifyOptions options = read_options<ClassifyOptions>(
      R"({"attention": true, "ablate": [{"attention": "encoder", "layer": 2, "head": 5}],
          "maskTokens": [3, 0]})");
  CHECK(options.encoder.attention);
  CHECK(!options.encoder.contributions);
  REQUIRE(options.encoder.ablate.size() == 1);
  CHECK((options.encoder.ablate[0].layer == 2 && options.encoder.ablate[0].head == 5));
  CHECK(options.encoder.mask_tokens == std::vector<std::size_t>{3, 0});
  CHECK(read_options<ClassifyOptions>("{}").encoder.mask_tokens.empty());

  const auto message_of = [](std::string_view json) {
    const Error error = error_of([&] { read_options<ClassifyOptions>(json); });
    CHECK(error.code() == ErrorCode::invalid_option);
    return std::string(error.what());
  };
  CHECK_THAT(message_of(R"({"atention": true})"), ContainsSubstring("atention"));
  CHECK_THAT(message_of(R"({"attention": 1})"), ContainsSubstring("attention"));
  CHECK_THAT(message_of(R"({"ablate": [{"attention": "both", "layer": 0, "head": 0}]})"),
             ContainsSubstring("ablate[0]"));
  CHECK_THAT(message_of(R"({"ablate": [{"attention": "encoder", "layer": -1, "head": 0}]})"),
             ContainsSubstring("layer"));
  CHECK_THAT(message_of(R"({"ablate": {}})"), ContainsSubstring("ablate"));
  CHECK_THAT(message_of(R"({"maskTokens": [0.5]})"), ContainsSubstring("maskTokens"));
  message_of("[]");
  message_of("{");
}

TEST_CASE("errors are written as JSON", "[pipelines]") {
  const auto json = nlohmann::json::parse(to_json(Error(ErrorCode::empty_input, "text: \"x\"")));
  CHECK(json.at("error").at("code") == "empty_input");
  CHECK(json.at("error").at("message") == "text: \"x\"");
}

}  // namespace glassformer::test
