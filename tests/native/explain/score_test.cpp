// Why a head looks there: scores as exact sums, for every family and, in float64, by an independent
// computation.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>

#include "image/decode/decode.hpp"
#include "support/checkpoint_golden.hpp"
#include "support/explain_jobs.hpp"
#include "support/golden.hpp"
#include "support/picture_files.hpp"
#include "tasks/load.hpp"

namespace glassformer::test {
namespace {

double sum_of(const nlohmann::json& parts, const char* field = "sum") {
  double sum = 0;
  for (const nlohmann::json& part : parts) sum += part.at(field).get<double>();
  return sum;
}

// Checks everything that holds for any score.
void check_score(const nlohmann::json& found) {
  const double score = found.at("score"), lead = found.at("lead");
  const double allowed = 1e-4 * std::max(1.0, std::abs(score));
  for (const char* side : {"queries", "keys"}) {
    INFO(side);
    CHECK(std::abs(sum_of(found.at(side)) - score) < allowed);
    CHECK(std::abs(sum_of(found.at(side), "contrast") - lead) < 2 * allowed);
    for (const nlohmann::json& part : found.at(side)) {
      if (!part.contains("reads") || part.at("reads").empty()) continue;
      INFO(part.at("name"));
      double reads = 0;
      for (const double read : part.at("reads")) reads += read;
      CHECK(std::abs(reads - part.at("sum").get<double>()) < allowed);
    }
  }
}

nlohmann::json explained(Pipeline& pipeline, const TaskInputs& inputs,
                         const nlohmann::json& options) {
  const auto job = begin_explanation_job(pipeline, inputs, options.dump());
  while (job->step()) {
  }
  const auto results = results_as_json(*job);
  if (const Error* error = std::get_if<Error>(&results[0])) FAIL(error->what());
  return nlohmann::json::parse(std::get<std::string>(results[0]));
}

nlohmann::json options_for(const std::string& attention, std::size_t head, std::size_t query,
                           std::size_t key) {
  return {{"method", "score"}, {"attention", attention}, {"head", head}, {"query", query},
          {"key", key},        {"contrast", true},       {"reads", true}};
}

const std::filesystem::path fixtures = GLASSFORMER_SOURCE_DIR "/tests/fixtures";

nlohmann::json golden_scores() { return read_json(fixtures / "reference/scores.json"); }

OwnedText text_of(const nlohmann::json& golden) {
  const nlohmann::json& text = golden.at("text");
  if (text.is_string()) return OwnedText(text.get_ref<const std::string&>());
  const std::string first = text.at("text"), pair = text.value("pair", "");
  return OwnedText(pair.empty() ? TextInput(first) : TextInput(first, pair));
}

// Explains a score of every attention and head. `more`: further options.
std::size_t check_all(Pipeline& pipeline, const TaskInputs& inputs,
                      const nlohmann::json& more = nlohmann::json::object()) {
  const ModelConfig& config = pipeline.config();
  std::size_t checked = 0;
  const auto check = [&](const std::string& attention, const StackConfig& stack, bool causal) {
    for (std::size_t head = 0; head < stack.n_heads(); ++head) {
      INFO(attention << " head " << head);
      const std::size_t query = 1 + head % 2, key = causal ? head % 2 : 2 - head % 2;
      nlohmann::json options = options_for(attention, head, query, key);
      options.update(more);
      check_score(explained(pipeline, inputs, options));
      ++checked;
    }
  };
  const Architecture& architecture = config.architecture;
  const auto check_stack = [&](const std::string& name, const StackConfig& stack) {
    for (std::size_t layer = 0; layer < stack.layers.size(); ++layer) {
      const std::string of_layer = name + ".layers." + std::to_string(layer);
      const bool decoder = name == "decoder";
      if (!stack.recurrent()) check(of_layer + ".self_attn", stack, decoder);
      if (decoder && architecture.encoder) check(of_layer + ".encoder_attn", stack, false);
    }
  };
  if (architecture.encoder) check_stack("encoder", *architecture.encoder);
  if (architecture.decoder) check_stack("decoder", *architecture.decoder);
  return checked;
}

std::vector<std::string> all_checkpoints() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(checkpoints)) {
    const std::string name = entry.path().filename().string();
    if (!is_there(entry.path() / "expected.json")) continue;
    if (!CheckpointGolden(name).json.contains("texts")) continue;
    names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("parts of queries and of keys add up to a score, in every family", "[explain][score]") {
  const std::string name = GENERATE(from_range(all_checkpoints()));
  INFO(name);
  const CheckpointGolden golden(name);
  const auto pipeline = load_pipeline(checkpoints / name, {}, {.compute = Compute::f32});
  const nlohmann::json& texts = golden.json.at("texts");
  const auto short_translation = [](const nlohmann::json& text) {
    return text.contains("output") && text.at("output").size() < 4;
  };
  const nlohmann::json& text = *std::ranges::find_if_not(texts, short_translation);
  if (text.contains("question")) {
    const std::string question = text.at("question"), context = text.at("context");
    const std::vector<TextInput> pair = {TextInput(question, context)};
    CHECK(check_all(*pipeline, {pair}) > 0);
  } else {
    nlohmann::json languages = nlohmann::json::object();
    for (const char* language : {"from", "to"}) {
      if (text.contains(language)) languages[language] = text.at(language);
    }
    const std::string own = text.at("text");
    const std::vector<TextInput> alone = {TextInput(own)};
    CHECK(check_all(*pipeline, {alone}, languages) > 0);
  }
}

TEST_CASE("parts of scores of pictures add up", "[explain][score][image]") {
  const std::string name = GENERATE("checkpoints/vit", "checkpoints/deit_teacher", "clip/clip");
  INFO(name);
  const auto pipeline = load_pipeline(pictures_folder / name, {}, {.compute = Compute::f32});
  const nlohmann::json json = read_json(pictures_folder / name / "expected.json");
  const std::string file = json.at("pictures")[0].at("file");
  const std::vector<Picture> pictures = {decode_picture(picture_file(file))};
  CHECK(check_all(*pipeline, {pictures}) > 0);
}

TEST_CASE("parts of scores of our own models add up", "[explain][score]") {
  const std::string name =
      GENERATE("local_window", "local_post_norm_learned", "odd_sizes", "pre_norm_unbiased_first",
               "translate_odd_local", "translate_recurrent_post_norm");
  INFO(name);
  const GoldenCase golden(name);
  const auto pipeline = load_pipeline(golden.folder, {}, {.compute = Compute::f32});
  std::string longest;
  for (const std::string text : golden.json.at("texts")) {
    if (text.size() > longest.size()) longest = text;
  }
  const std::vector<TextInput> texts = {TextInput(longest)};
  CHECK(check_all(*pipeline, {texts}) > 0);
}

TEST_CASE("scores, cells, contrasts and effects are those of an independent computation",
          "[explain][score]") {
  constexpr double most_error = 1e-4;
  const nlohmann::json scores = golden_scores().at("scores");
  REQUIRE(scores.size() == 14);
  for (const nlohmann::json& golden : scores) {
    const std::string folder = golden.at("folder"), attention = golden.at("attention");
    INFO(folder << " " << attention);
    const auto pipeline = load_pipeline(fixtures / folder, {}, {.compute = Compute::f32});
    const OwnedText text = text_of(golden);
    const TextInput input = text.input();
    nlohmann::json options =
        options_for(attention, golden.at("head"), golden.at("query"), golden.at("key"));
    options["cells"] = options["effects"] = true;
    const ExplainedBeside found = explain_beside(*pipeline, input, options.dump());
    options["everywhere"] = true;
    const nlohmann::json everywhere = explain_one(*pipeline, input, options.dump());

    const auto near = [&](const char* what, double got, double expected) {
      INFO(what << ": " << got << ", expected " << expected);
      CHECK(std::abs(got - expected) < most_error * std::max(1.0, std::abs(expected)));
    };
    near("score", found.json.at("score"), golden.at("score"));
    near("weight", found.json.at("weight"), golden.at("weight"));
    near("lead", found.json.at("lead"), golden.at("lead"));
    if (golden.contains("value") && !golden.at("value").is_null()) {
      near("value", found.json.at("value"), golden.at("value"));
    }
    for (const char* side : {"queries", "keys"}) {
      const nlohmann::json& expected = golden.at(side);
      CHECK(found.json.at(side).size() == expected.size());
      for (std::size_t i = 0; i < found.json.at(side).size(); ++i) {
        const nlohmann::json& part = found.json.at(side)[i];
        const std::string name = part.at("name");
        INFO(side << " " << name);
        REQUIRE(expected.contains(name));
        const nlohmann::json& numbers = expected.at(name);
        near("sum", part.at("sum"), numbers[0]);
        near("contrast", part.at("contrast"), numbers[1]);
        near("weight", part.at("weight"), numbers[2]);
        near("everywhere", everywhere.at(side)[i].at("weight"), numbers[4]);
        if (!numbers[3].is_null() && part.contains("effect")) {
          near("effect", part.at("effect"), numbers[3]);
          near("effect everywhere", everywhere.at(side)[i].at("effect"), numbers[5]);
        }
      }
    }
    for (const auto& [tensor, table] :
         {std::pair("cells", "cells"), std::pair("contrastCells", "contrast_cells")}) {
      INFO(tensor);
      const auto cells = std::ranges::find(found.tensors, tensor, &TracedTensor::name);
      REQUIRE(cells != found.tensors.end());
      const auto &names = golden.at("names"), &expected = golden.at(table);
      for (std::size_t a = 0; a < cells->shape[0]; ++a) {
        for (std::size_t b = 0; b < cells->shape[1]; ++b) {
          const auto index = [&](const char* side, std::size_t i) {
            const nlohmann::json &list = names.at(side), &part = found.json.at(side)[i];
            return static_cast<std::size_t>(std::ranges::find(list, part.at("name")) -
                                            list.begin());
          };
          near("cell", static_cast<double>(cells->data[a * cells->shape[1] + b]),
               expected[index("queries", a)][index("keys", b)]);
        }
      }
    }
  }
}

TEST_CASE("the loadings of heads are those of an independent computation", "[explain][score]") {
  const nlohmann::json loadings = golden_scores().at("loadings");
  REQUIRE(loadings.size() == 7);
  for (const nlohmann::json& golden : loadings) {
    const std::string folder = golden.at("folder");
    INFO(folder);
    const auto pipeline = load_pipeline(fixtures / folder, {}, {.compute = Compute::f32});
    const OwnedText text = text_of(golden);
    const ExplainedBeside found = explain_beside(
        *pipeline, text.input(), R"({"method": "direct_logit_attribution", "loadings": true})");
    const std::vector<std::string> heads = found.json.at("heads"),
                                   columns = found.json.at("columns");
    for (const char* what : {"asks", "answers", "content"}) {
      INFO(what);
      const auto table = std::ranges::find(found.tensors, what, &TracedTensor::name);
      REQUIRE(table != found.tensors.end());
      CHECK(table->shape == std::vector<std::size_t>{heads.size(), columns.size()});
      for (const auto& [head, expected] : golden.at("heads").items()) {
        const std::string name =
            "layers." + std::to_string(golden.at("layer").get<int>()) + ".self_attn.head." + head;
        INFO(name);
        const auto row = static_cast<std::size_t>(std::ranges::find(heads, name) - heads.begin());
        REQUIRE(row < heads.size());
        for (std::size_t c = 0; c < columns.size(); ++c) {
          INFO(columns[c]);
          const double number = expected.at(what).value(columns[c], 0.0);
          CHECK(std::abs(static_cast<double>(table->data[row * columns.size() + c]) - number) <
                1e-4 * std::max(1.0, std::abs(number)));
        }
      }
    }
  }
}

TEST_CASE("what heads carry adds up to their parts of the number", "[explain][score]") {
  const std::string name = GENERATE("gemma2", "llama", "bart_sequence", "modernbert_sequence",
                                    "marian", "deberta_sequence", "qwen3", "electra_sequence");
  INFO(name);
  const auto pipeline = load_pipeline(checkpoints / name, {}, {.compute = Compute::f32});
  const std::string text = CheckpointGolden(name).json.at("texts")[0].at("text");
  const ExplainedBeside found = explain_beside(
      *pipeline, text, R"({"method": "direct_logit_attribution", "loadings": true})");
  const std::vector<std::string> heads = found.json.at("heads"), columns = found.json.at("columns");
  const auto tensor = [&](const char* wanted) -> const TracedTensor& {
    return *std::ranges::find(found.tensors, wanted, &TracedTensor::name);
  };
  const TracedTensor &written = tensor("written"), &content = tensor("content");
  for (std::size_t h = 0; h < heads.size(); ++h) {
    if (heads[h].find("encoder_attn") != std::string::npos) continue;
    INFO(heads[h]);
    const auto column =
        static_cast<std::size_t>(std::ranges::find(columns, heads[h]) - columns.begin());
    double part = 0, carried = 0;
    for (std::size_t i = column; i < written.data.size(); i += columns.size()) {
      part += static_cast<double>(written.data[i]);
    }
    for (std::size_t c = 0; c < columns.size(); ++c) {
      carried += static_cast<double>(content.data[h * columns.size() + c]);
    }
    CHECK(std::abs(part - carried) < 1e-4 * std::max(1.0, std::abs(part)));
  }
}

TEST_CASE("what has no score, or is masked, is refused by name", "[explain][score]") {
  const std::string text = "The film is good.";
  const std::vector<TextInput> texts = {TextInput(text)};
  const auto refused = [&](const std::filesystem::path& folder, const nlohmann::json& options,
                           Compute compute = Compute::f32) -> std::string {
    const auto pipeline = load_pipeline(folder, {}, {.compute = compute});
    std::string message;
    try {
      const auto job = begin_explanation_job(*pipeline, {texts}, options.dump());
      while (job->step()) {
      }
      const auto results = results_as_json(*job);
      if (const Error* error = std::get_if<Error>(&results[0])) message = error->what();
    } catch (const Error& error) {
      message = error.what();
    }
    return message;
  };
  const std::filesystem::path goldens = fixtures / "golden";
  const nlohmann::json encoder = options_for("encoder.layers.0.self_attn", 0, 1, 0);
  CHECK(refused(goldens / "linear_attention", encoder) ==
        "score: expected softmax attention, got linear attention, which has no scores");
  CHECK(refused(goldens / "translate_recurrent_post_norm",
                options_for("decoder.layers.0.self_attn", 0, 1, 0)) ==
        "score: expected softmax attention, got a recurrent unit");
  CHECK(refused(goldens / "pre_norm_mean", encoder, Compute::int8) ==
        "score: expected compute f32, got int8");
  CHECK(
      refused(checkpoints / "gpt2_generate", options_for("decoder.layers.0.self_attn", 0, 1, 2)) ==
      "key: expected one that query 1 sees, got 2, which is masked");
  nlohmann::json rival = options_for("decoder.layers.0.self_attn", 0, 1, 0);
  rival["rival"] = 3;
  CHECK(refused(checkpoints / "gpt2_generate", rival) ==
        "rival: expected a key that query 1 sees, got 3, which is masked");
  for (const auto& [option, message] :
       {std::pair("attention", "attention: missing"), std::pair("head", "head: missing"),
        std::pair("query", "query: missing"), std::pair("key", "key: missing")}) {
    nlohmann::json without = encoder;
    without.erase(option);
    CHECK(refused(goldens / "pre_norm_mean", without) == message);
  }
  for (const char* name : {"encoder.layers.9.self_attn", "decoder.layers.0.self_attn", "x",
                           "encoder.layers.0.encoder_attn", "encoder.layers.00.self_attn"}) {
    INFO(name);
    CHECK(
        refused(goldens / "pre_norm_mean", options_for(name, 0, 1, 0)).starts_with("attention: "));
  }
  CHECK(refused(goldens / "pre_norm_mean", options_for("encoder.layers.0.self_attn", 4, 1, 0)) ==
        "head: expected one of the attention's heads, below 4, got 4");
  CHECK(refused(goldens / "translate_pre_norm_shared",
                options_for("decoder.layers.0.self_attn", 0, 500, 0)) ==
        "query: expected one of the rows that the decoder reads, got 500");
  CHECK(refused(checkpoints / "bert_masks", {{"method", "rollout"}}).starts_with("method: "));
}

}  // namespace glassformer::test
