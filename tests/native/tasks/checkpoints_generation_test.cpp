// Published models that continue or answer texts, compared with the original library's generate();
// see tests/fixtures/checkpoints.

#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "families/config/generation_config.hpp"
#include "glassformer/generator.hpp"
#include "glassformer/summarizer.hpp"
#include "support/any_file.hpp"
#include "support/checkpoint_golden.hpp"
#include "tasks/generate/generate.hpp"
#include "tasks/load.hpp"

namespace glassformer::test {
namespace {

using Catch::Matchers::StartsWith;

constexpr double tolerance = 1e-4;  // for values of up to some tens

// Returns the checkpoints that write texts.
std::vector<std::string> writers() {
  std::vector<std::string> names = checkpoint_names("generate");
  std::ranges::copy(checkpoint_names("text2text"), std::back_inserter(names));
  return names;
}

// Returns the result for one text, or its error.
template <class Typed>
Typed ask(GeneratePipeline& pipeline, const std::string& text, const nlohmann::json& options) {
  using Options =
      std::conditional_t<std::is_same_v<Typed, Generation>, GenerateOptions, NextOptions>;
  auto job =
      pipeline.begin(std::vector<std::string_view>{text}, read_options<Options>(options.dump()));
  return only(run_all(*job));
}

// Compares the golden's tensors of a text with the trace. Returns how many there were.
std::size_t compare(const std::vector<TracedTensor>& trace, const CheckpointGolden& golden,
                    const std::string& index) {
  const auto logits = std::ranges::find(trace, "logits", &TracedTensor::name);
  REQUIRE(logits != trace.end());
  CHECK(distance(logits->data, golden.tensors.at("logits." + index)) < tolerance);
  return 1 + compare_trace(trace, golden, index, tolerance);
}

// A copy of a checkpoint with added keys in its config.json.
struct ChangedFolder {
  static inline int count = 0;
  std::filesystem::path path;

  ChangedFolder(const std::string& base, const nlohmann::json& keys)
      : path(std::filesystem::temp_directory_path() /
             ("glassformer-changed-" + std::to_string(getpid()) + "-" + std::to_string(count++))) {
    std::filesystem::copy(checkpoints / base, path, std::filesystem::copy_options::recursive);
    nlohmann::json config = nlohmann::json::parse(read_file(path / "config.json", config_limit));
    config.update(keys);
    std::ofstream(path / "config.json") << config.dump();
  }
  ChangedFolder(const ChangedFolder&) = delete;
  ChangedFolder& operator=(const ChangedFolder&) = delete;
  ~ChangedFolder() { std::filesystem::remove_all(path); }
};

template <class AnyToken>
std::vector<std::int32_t> ids_of(const std::vector<AnyToken>& tokens) {
  std::vector<std::int32_t> ids;
  for (const AnyToken& token : tokens) ids.push_back(token.id);
  return ids;
}

}  // namespace

TEST_CASE("published models give the original library's tensors for a prompt", "[checkpoints]") {
  const std::string name = GENERATE(from_range(checkpoint_names("generate")));
  INFO(name);
  const CheckpointGolden golden(name);
  const auto pipeline = load_pipeline<GeneratePipeline>(checkpoints / name);
  CHECK(pipeline->config().max_source_length() == golden.json.at("max_length"));
  std::size_t compared = 0;
  for (std::size_t i = 0; i < golden.json.at("texts").size(); ++i) {
    const nlohmann::json& text = golden.json.at("texts")[i];
    const std::string index = std::to_string(i);
    INFO(text.at("text"));
    const auto prediction = ask<Prediction>(
        *pipeline, text.at("text"), {{"count", 1}, {"attention", true}, {"trace", all_names}});
    CHECK(ids_of(prediction.prompt_tokens) == text.at("ids").get<std::vector<std::int32_t>>());
    for (std::size_t t = 0; t < prediction.prompt_tokens.size(); ++t) {
      const InputToken& token = prediction.prompt_tokens[t];
      const nlohmann::json& range = text.at("offsets")[t];
      if (range.is_null()) {  // a special token
        CHECK(token.start == token.end);
      } else {
        CHECK(token.start == range[0]);
        CHECK(token.end == range[1]);
      }
    }
    const std::vector<float>& attention = golden.tensors.at("attention." + index);
    CHECK(distance(prediction.attention.decoder->data, attention) < tolerance);
    compared += compare(prediction.trace, golden, index);
  }
  CHECK(compared >= golden.json.at("texts").size());
}

TEST_CASE("published models give the original library's tensors for an answer", "[checkpoints]") {
  const std::string name = GENERATE(from_range(checkpoint_names("text2text")));
  INFO(name);
  const CheckpointGolden golden(name);
  const auto pipeline = load_pipeline<GeneratePipeline>(checkpoints / name);
  CHECK(pipeline->config().max_source_length() == golden.json.at("max_length"));
  std::size_t compared = 0;
  for (std::size_t i = 0; i < golden.json.at("texts").size(); ++i) {
    const nlohmann::json& text = golden.json.at("texts")[i];
    const std::string index = std::to_string(i);
    INFO(text.at("text"));
    nlohmann::json options = text.at("runs")[0].at("options");
    options["attention"] = true;
    options["trace"] = all_names;
    const auto result = ask<Generation>(*pipeline, text.at("text"), options);
    CHECK(ids_of(result.prompt_tokens) == text.at("ids").get<std::vector<std::int32_t>>());
    CHECK(result.clipped == text.at("truncated"));
    for (std::size_t t = 0; t + 1 < result.prompt_tokens.size(); ++t) {
      const nlohmann::json& offsets = text.at("offsets")[t];  // null: a special token
      const auto& [start, end] =
          std::pair(result.prompt_tokens[t].start, result.prompt_tokens[t].end);
      if (offsets.is_null()) CHECK(start == end);
      if (!offsets.is_null()) CHECK(nlohmann::json({start, end}) == offsets);
    }
    CHECK(result.output.text == text.at("answer").get<std::string>());
    const auto near = [&](const std::optional<AttentionMap>& map, const std::string& of) {
      INFO(of);
      REQUIRE(map);
      CHECK(distance(map->data, golden.tensors.at(of + "." + index)) < tolerance);
    };
    near(result.attention.encoder, "encoder");
    near(result.attention.decoder, "decoder");
    near(result.attention.cross, "cross");
    const auto states = std::ranges::find(result.trace, "encoder.output", &TracedTensor::name);
    REQUIRE(states != result.trace.end());
    CHECK(distance(states->data, golden.tensors.at("states." + index)) < tolerance);
    compared += compare(result.trace, golden, index);
  }
  CHECK(compared >= golden.json.at("texts").size());
}

TEST_CASE("published models write the same texts as the original library", "[checkpoints]") {
  const std::string name = GENERATE(from_range(writers()));
  INFO(name);
  const CheckpointGolden golden(name);
  const auto pipeline = load_pipeline<GeneratePipeline>(checkpoints / name);
  for (const nlohmann::json& text : golden.json.at("texts")) {
    INFO(text.at("text"));
    for (const nlohmann::json& run : text.at("runs")) {
      INFO(run.at("options").dump());
      const auto result = ask<Generation>(*pipeline, text.at("text"), run.at("options"));
      CHECK(ids_of(result.output.tokens) == run.at("ids").get<std::vector<std::int32_t>>());
      CHECK(result.output.text == pipeline->tokenizer().decode(ids_of(result.output.tokens)));
      if (!run.contains("score")) continue;
      const double expected = run.at("score");
      CHECK(std::abs(static_cast<double>(result.output.score) - expected) <
            tolerance * std::max(1.0, std::abs(expected)));
    }
  }
}

TEST_CASE("stop strings, bad words, suppressed tokens and empty prompts match the library",
          "[checkpoints][generation_options]") {
  const auto all =
      nlohmann::json::parse(read_file(checkpoints / "generation_options.json", any_file));
  std::size_t stopped = 0, empty = 0;
  for (const auto& [name, runs] : all.items()) {
    const auto pipeline = load_pipeline<GeneratePipeline>(checkpoints / name);
    for (const nlohmann::json& run : runs) {
      const nlohmann::json& options = run.at("options");
      INFO(name << ": " << run.at("text") << " " << options.dump());
      const auto result = ask<Generation>(*pipeline, run.at("text"), options);
      CHECK(ids_of(result.output.tokens) == run.at("ids").get<std::vector<std::int32_t>>());
      if (run.at("text") == "" && !pipeline->config().architecture.encoder) {
        ++empty;
        CHECK(ids_of(result.prompt_tokens) == std::vector{*pipeline->config().generation.bos_id});
      }
      for (const nlohmann::json& stop : options.value("stopStrings", nlohmann::json::array())) {
        if (result.output.text.find(stop.get<std::string>()) == std::string::npos) continue;
        CHECK(result.ended);
        ++stopped;
      }
      if (!run.contains("score")) continue;
      const double expected = run.at("score");
      CHECK(std::abs(static_cast<double>(result.output.score) - expected) <
            tolerance * std::max(1.0, std::abs(expected)));
    }
  }
  CHECK(stopped > 20);
  CHECK(empty > 10);
}

TEST_CASE("prefixes and settings of config.json's tasks give the original library's texts",
          "[checkpoints][tasks]") {
  const auto file = nlohmann::json::parse(read_file(checkpoints / "task_options.json", any_file));
  std::size_t runs = 0, searched = 0;
  for (const nlohmann::json& folder : file.at("folders")) {
    const std::string base = folder.at("base");
    const ChangedFolder changed(base, folder.at("config"));
    const auto pipeline = load_pipeline<GeneratePipeline>(changed.path);
    // Repeats this with the model saved in our own format.
    const ModelConfig& config = pipeline->config();
    CHECK(parse_config(to_json(config)) == config);
    for (const nlohmann::json& run : folder.at("runs")) {
      const nlohmann::json& options = run.at("options");
      INFO(base << " " << folder.at("config").dump() << ": " << run.at("text") << " "
                << options.dump());
      const auto result = ask<Generation>(*pipeline, run.at("text"), options);
      CHECK(ids_of(result.prompt_tokens) == run.at("prompt").get<std::vector<std::int32_t>>());
      CHECK(ids_of(result.output.tokens) == run.at("ids").get<std::vector<std::int32_t>>());
      ++runs;
      if (!run.contains("score")) continue;
      const double expected = run.at("score");
      CHECK(std::abs(static_cast<double>(result.output.score) - expected) <
            tolerance * std::max(1.0, std::abs(expected)));
      ++searched;
    }
  }
  CHECK(runs > 200);
  CHECK(searched > 100);
}

TEST_CASE("a summarizer uses the settings of the task, where the folder has any",
          "[checkpoints][tasks]") {
  const auto file = nlohmann::json::parse(read_file(checkpoints / "task_options.json", any_file));
  const nlohmann::json& folder = file.at("folders").at(0);
  const std::string base = folder.at("base");
  const ChangedFolder changed(base, folder.at("config"));
  Summarizer summarizer = Summarizer::load(changed.path);
  std::size_t runs = 0;
  for (const nlohmann::json& run : folder.at("runs")) {
    if (run.at("options") != nlohmann::json{{"task", "summarization"}}) continue;
    const std::string text = run.at("text");
    CHECK(ids_of(summarizer.summarize(text).output.tokens) ==
          run.at("ids").get<std::vector<std::int32_t>>());
    ++runs;
  }
  CHECK(runs >= 3);
  const std::string text = "The film is good.";
  CHECK(Summarizer::load(checkpoints / base).summarize(text).output.tokens ==
        Generator::load(checkpoints / base).generate(text).output.tokens);
  CHECK(error_of([] { Summarizer::load(checkpoints / "gpt2_generate"); }).code() ==
        ErrorCode::wrong_task);
}

TEST_CASE("a prefix is put before the text, and ranges refer to the text without it",
          "[checkpoints][tasks]") {
  const ChangedFolder changed(
      "gpt2_generate",
      {{"prefix", "Once 😐 "}, {"task_specific_params", {{"none", {{"prefix", nullptr}}}}}});
  const auto pipeline = load_pipeline<GeneratePipeline>(changed.path);
  const auto prompt_of = [&](const std::string& text, const nlohmann::json& options) {
    nlohmann::json one = options;
    one["count"] = 1;
    return ask<Prediction>(*pipeline, text, one).prompt_tokens;
  };
  const std::vector<InputToken> with = prompt_of("a film", {});
  CHECK(ids_of(with) == ids_of(prompt_of("Once 😐 a film", {{"prefix", false}})));
  CHECK(with.front().end == 0);
  CHECK(with.back().end == 6);
  CHECK(ids_of(prompt_of("a film", {{"task", "none"}})) ==
        ids_of(prompt_of("a film", {{"prefix", false}})));
  CHECK(ids_of(prompt_of("", {})) == ids_of(prompt_of("Once 😐 ", {{"prefix", false}})));
}

TEST_CASE("invalid settings of a task are refused when it is selected, and unknown tasks always",
          "[checkpoints][tasks]") {
  const ChangedFolder changed("t5", {{"task_specific_params",
                                      {{"groups", {{"num_beam_groups", 2}, {"num_beams", 2}}},
                                       {"text", {{"max_length", "9"}}},
                                       {"prefixed", {{"prefix", 3}}},
                                       {"start", {{"decoder_start_token_id", 320}}},
                                       {"list", nlohmann::json::array({1})}}}});
  const auto pipeline = load_pipeline<GeneratePipeline>(changed.path);
  const auto refused = [&](const char* task, ErrorCode code, const std::string& words) {
    const Error error = error_of([&] { ask<Generation>(*pipeline, "a", {{"task", task}}); });
    INFO(error.what());
    return error.code() == code && std::string(error.what()).find(words) != std::string::npos;
  };
  ask<Generation>(*pipeline, "a", nlohmann::json::object());
  CHECK(refused("groups", ErrorCode::unsupported, "\"groups\": num_beam_groups"));
  CHECK(refused("text", ErrorCode::invalid_config, "\"text\": max_length"));
  CHECK(refused("prefixed", ErrorCode::invalid_config, "\"prefixed\": prefix"));
  CHECK(refused("start", ErrorCode::invalid_config, "\"start\": decoder_start_token_id"));
  CHECK(refused("list", ErrorCode::invalid_config, "\"list\": expected an object"));
  CHECK(refused("other", ErrorCode::invalid_option,
                "task: expected one of \"groups\", \"list\", \"prefixed\", \"start\", "
                "\"text\", got \"other\""));
  const ChangedFolder plain("t5", nlohmann::json::object());
  const auto other = load_pipeline<GeneratePipeline>(plain.path);
  CHECK(error_of([&] {
          ask<Generation>(*other, "a", {{"task", "groups"}});
        }).code() == ErrorCode::invalid_option);

  const auto code_of = [](const char* base, const nlohmann::json& keys) {
    const ChangedFolder folder(base, keys);
    return error_of([&] { OpenFolder open(folder.path); }).code();
  };
  CHECK(code_of("t5", {{"prefix", 1}}) == ErrorCode::invalid_config);
  CHECK(code_of("t5", {{"task_specific_params", 1}}) == ErrorCode::invalid_config);
  CHECK(code_of("marian", {{"prefix", "a "}}) == ErrorCode::unsupported);
}

TEST_CASE("a folder's stop strings and suppressed tokens apply unless options replace them",
          "[checkpoints][generation_options]") {
  GenerationConfig config;
  read_generation(R"({"stop_strings": ["a", "b"], "suppress_tokens": [3, 4],
                      "begin_suppress_tokens": [5], "bos_token_id": 6})",
                  config);
  CHECK(config.stop_strings == std::vector<std::string>{"a", "b"});
  CHECK(config.suppressed == std::vector<std::int32_t>{3, 4});
  CHECK(config.not_first == std::vector<std::int32_t>{5});
  CHECK(config.bos_id == 6);
  const Constraints folders = constraints_of({}, config);
  CHECK(folders.rules.never == std::vector<std::vector<std::int32_t>>{{3}, {4}});
  CHECK(folders.rules.not_first == std::vector<std::int32_t>{5});
  SampleOptions options;
  options.suppress_tokens.emplace();
  options.begin_suppress_tokens = {7};
  const Constraints asked = constraints_of(options, config);
  CHECK(asked.rules.never.empty());
  CHECK(asked.rules.not_first == std::vector<std::int32_t>{7});

  const auto pipeline = load_pipeline<GeneratePipeline>(checkpoints / "gpt2_generate");
  const auto refused = [&](const nlohmann::json& wanted) {
    return error_of([&] { ask<Generation>(*pipeline, "a", wanted); }).code() ==
           ErrorCode::invalid_option;
  };
  CHECK(refused({{"suppressTokens", {1'000'000}}}));
  CHECK(refused({{"stopStrings", {std::string(2000, 'a')}}}));
  CHECK(refused({{"stopStrings", {""}}}));
  CHECK(refused({{"badWords", {1}}}));
}

TEST_CASE("words that are never written are given as arrays of ids",
          "[checkpoints][generation_options]") {
  for (const std::string wrong : {"4", "{}", "\"a\"", "[4]", "[[]]", "[[\"a\"]]", "[{\"a\": 1}]"}) {
    GenerationConfig config;
    const Error error =
        error_of([&] { read_generation("{\"bad_words_ids\": " + wrong + "}", config); });
    CHECK(error.code() == ErrorCode::invalid_config);
    CHECK_THAT(error.what(), StartsWith("generation_config.json: bad_words_ids: expected"));
  }
  GenerationConfig config;
  read_generation(R"({"bad_words_ids": [[4], [5, 6]]})", config);
  CHECK(config.never == std::vector<std::vector<std::int32_t>>{{4}, {5, 6}});
}

TEST_CASE("a folder's sampling beam search is refused with the files that set it",
          "[checkpoints][generation_options]") {
  GenerationConfig config;
  read_generation(R"({"do_sample": true, "num_beams": 4})", config);
  const Error error = error_of([&] { plan_of({}, config); });
  CHECK(error.code() == ErrorCode::unsupported);
  CHECK_THAT(error.what(), StartsWith("generation_config.json: do_sample is true, and "
                                      "generation_config.json: num_beams is 4, but"));
  GenerateOptions options;
  options.beams = 1;
  CHECK(plan_of(options, config).choice.samples);
  options = {};
  options.sample = false;
  CHECK(plan_of(options, config).search.beams == 4);

  // The settings may come from different files, or from a task.
  config = {};
  const std::string_view json = R"({"num_beams": 3})";
  constexpr JsonSource source{ErrorCode::invalid_config, "config.json"};
  const JsonValue value = parse_json(json, source);
  JsonObject object(value, source, {}, 10);
  read_generation(object, config);
  config = with_task(config, {.name = "a", .prefix = {}, .settings = R"({"do_sample": true})"}, 9);
  CHECK_THAT(error_of([&] { plan_of({}, config); }).what(),
             StartsWith("config.json: task_specific_params: \"a\": do_sample is true, and "
                        "config.json: num_beams is 3, but"));
}

TEST_CASE("published models sample from the same tokens as the original library", "[checkpoints]") {
  const std::string name = GENERATE(from_range(writers()));
  INFO(name);
  const CheckpointGolden golden(name);
  const auto pipeline = load_pipeline<GeneratePipeline>(checkpoints / name);
  for (const nlohmann::json& text : golden.json.at("texts")) {
    INFO(text.at("text"));
    for (const nlohmann::json& next : text.at("next")) {
      INFO(next.at("options").dump());
      nlohmann::json options = next.at("options");
      options["count"] = 0;
      const auto prediction = ask<Prediction>(*pipeline, text.at("text"), options);
      std::vector<std::int32_t> ids = ids_of(prediction.next);
      for (std::size_t i = 0; i < next.at("best").size(); ++i) {
        const double probability = next.at("best")[i][1];
        CHECK(prediction.next[i].id == next.at("best")[i][0]);
        CHECK(std::abs(static_cast<double>(prediction.next[i].probability) - probability) <
              tolerance);
      }
      std::ranges::sort(ids);
      if (next.at("ids").is_array()) {
        CHECK(ids == next.at("ids").get<std::vector<std::int32_t>>());
      } else {
        CHECK(ids.size() == next.at("ids"));
      }
    }
  }
}

}  // namespace glassformer::test
