// Gradients of every tensor and parameter of the golden models, compared with PyTorch's.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "models/whole_pass.hpp"
#include "run/trace/gradient_tracer.hpp"
#include "support/any_file.hpp"
#include "support/golden.hpp"
#include "tasks/load.hpp"
#include "train/learned_parameters.hpp"
#include "train/loss.hpp"

namespace glassformer::test {
namespace {

using Ids = std::vector<std::int32_t>;

const std::filesystem::path folder_of_fixtures = GLASSFORMER_SOURCE_DIR "/tests/fixtures";

// Folders below tests/fixtures/golden and tests/fixtures/checkpoints that hold this file.
std::vector<std::filesystem::path> folders_with(const std::string& file) {
  std::vector<std::filesystem::path> folders;
  for (const char* parent : {"golden", "checkpoints"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder_of_fixtures / parent)) {
      for (const std::string prefix : {"", "expected."}) {
        if (std::filesystem::exists(entry.path() / (prefix + file)))
          folders.push_back(entry.path());
      }
    }
  }
  std::ranges::sort(folders);
  return folders;
}

// A model whose parameters are learned.
struct LearningModel {
  explicit LearningModel(const std::filesystem::path& folder) : LearningModel(OpenFolder(folder)) {}

  Model model;
  LearnedParameters parameters;

 private:
  explicit LearningModel(const OpenFolder& open)
      : model(loaded_model(open)), parameters(glassformer::parameters(model)) {}

  static Model loaded_model(const OpenFolder& open) {
    Model model = make_model(open.config.architecture);
    open.load(glassformer::parameters(model));
    return model;
  }
};

// gradients.json and gradients.safetensors of a folder.
struct GradientGolden {
  GradientGolden(const std::filesystem::path& folder, const std::string& name)
      : GradientGolden(folder /
                       (folder.parent_path().filename() == "golden" ? name : "expected." + name)) {}

  Ids ids(const char* key) const { return json.value(key, Ids()); }

  WholePass pass(bool decodes) const {
    Batch texts, targets;
    const Ids types = json.at("types").is_null() ? Ids() : json.at("types").get<Ids>();
    texts.add(ids("ids"), {}, types);
    if (!decodes) return WholePass(std::move(texts));
    if (!json.contains("target_ids")) return WholePass(Batch(), std::move(texts));
    targets.add(ids("target_ids"));
    return WholePass(std::move(texts), std::move(targets));
  }

  double largest() const {
    double largest = 0;
    for (const auto& [name, tensor] : tensors) {
      for (const float value : tensor.values) largest = std::max<double>(largest, std::abs(value));
    }
    return largest;
  }

  nlohmann::json json;
  std::map<std::string, GoldenTensor> tensors;

 private:
  explicit GradientGolden(const std::filesystem::path& file)
      : json(nlohmann::json::parse(read_file(file.string() + ".json", any_file))),
        tensors(read_safetensors(file.string() + ".safetensors")) {}
};

// The rule of the issue: |a - b| <= 1e-4 · the tensor's largest + 1e-6 · the largest of all.
void check(const std::string& name, std::span<const float> got, std::span<const float> expected,
           double largest_of_all) {
  INFO(name);
  REQUIRE(got.size() == expected.size());
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    largest = std::max<double>(largest, std::abs(expected[i]));
    const double error = std::abs(double{got[i]} - double{expected[i]});
    if (!(error <= worst)) worst = error;
  }
  CHECK(worst <= 1e-4 * largest + 1e-6 * largest_of_all);
}

// Compares the gradients of all parameters. The file lacks rows of tables that are zero.
void check_parameters(const std::filesystem::path& folder, const LearningModel& learning,
                      ParameterGradients& gradients, const GradientGolden& golden) {
  const double largest = golden.largest();
  for (const auto& part : learning.parameters.parts()) {
    INFO(part.name);
    if (folder.filename() == "marian_two_tables" && part.name.ends_with("embed_positions.weight")) {
      continue;  // the library computes them without gradients
    }
    const bool bart = folder.filename().string().find("bart") != std::string::npos;
    if (bart && part.name == "lm_head.bias") continue;  // neither this one
    REQUIRE(golden.tensors.contains("parameter/" + part.name));
    std::vector<float> expected = golden.tensors.at("parameter/" + part.name).values;
    if (golden.json.contains("rows") && golden.json.at("rows").contains(part.name)) {
      std::vector<float> all(part.size());
      const std::size_t columns = part.size() / part.shape[0];
      std::size_t from = 0;
      for (const std::size_t row : golden.json.at("rows").at(part.name)) {
        std::copy_n(expected.data() + from, columns, all.data() + row * columns);
        from += columns;
      }
      expected = all;
    }
    check(part.name, part.of(gradients), expected, largest);
  }
}

}  // namespace

TEST_CASE("gradients of an answer match PyTorch's", "[gradients]") {
  const std::filesystem::path folder = GENERATE(from_range(folders_with("gradients.json")));
  INFO(folder.filename().string());
  if (folder.filename() == "translate_recurrent_post_norm") return;
  LearningModel learning(folder);
  const GradientGolden golden(folder, "gradients");
  const WholePass pass = golden.pass(learning.model.index() > 0);

  Session session;
  Tape tape(session.arena);
  ParameterGradients gradients = learning.parameters.make_gradients();
  tape.start(&gradients);
  GradientTracer tracer(anything, tape);
  Run run(session, &tracer);
  run.record(tape);
  const View logits = pass(learning.model, run);
  tape.turn();
  double y = 0;
  for (const auto& term : golden.json.at("contrast")) {
    float* const logit = &logits(term.at(0), term.at(1));
    y += term.at(2).get<double>() * double{*logit};
    *tape.gradient(logit) += term.at(2).get<float>();
  }
  CHECK(std::abs(y - golden.json.at("y").get<double>()) < 1e-3);
  tape.rewind();

  const double largest = golden.largest();
  std::map<std::string, std::vector<float>> traced;
  for (TracedTensor& tensor : tracer.take()) traced[tensor.name] = std::move(tensor.data);
  std::map<std::string, std::string> same = golden.json.value("same", decltype(same)());
  std::size_t compared = 0;
  for (const auto& [key, tensor] : golden.tensors) {
    if (!key.starts_with("trace/")) continue;
    const std::string name = key.substr(6);
    REQUIRE(traced.contains(name));
    check(name, traced[name], tensor.values, largest);
    ++compared;
  }
  for (const auto& [name, other] : same) {
    INFO(name);
    REQUIRE(traced.contains(name));
    check(name, traced[name], golden.tensors.at("trace/" + other).values, largest);
    ++compared;
  }
  CHECK(compared > 10);
  check_parameters(folder, learning, gradients, golden);
}

TEST_CASE("gradients of a loss match PyTorch's", "[gradients]") {
  const std::filesystem::path folder = GENERATE(from_range(folders_with("loss.json")));
  INFO(folder.filename().string());
  LearningModel learning(folder);
  const GradientGolden golden(folder, "loss");
  const bool decodes = learning.model.index() > 0;

  Batch texts, translations;
  const auto ids = golden.json.at("ids").get<std::vector<Ids>>();
  const bool typed = !golden.json.at("types").is_null();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    texts.add(ids[i], {}, typed ? golden.json.at("types").at(i).get<Ids>() : Ids());
  }
  if (golden.json.contains("target_ids")) {
    for (const auto& target : golden.json.at("target_ids")) translations.add(target.get<Ids>());
  } else if (decodes) {
    std::swap(texts, translations);
  }
  std::vector<Target> targets;
  std::size_t row = 0;
  const auto add = [&](const nlohmann::json& label) {
    if (!label.is_null()) targets.push_back({.row = row, .label = label.get<std::int32_t>()});
    ++row;
  };
  for (const auto& label : golden.json.at("labels")) {
    if (!label.is_array()) add(label);
    for (std::size_t i = 0; label.is_array() && i < label.size(); ++i) add(label.at(i));
  }
  const WholePass pass(std::move(texts), std::move(translations));

  Session session;
  Tape tape(session.arena);
  ParameterGradients gradients = learning.parameters.make_gradients();
  tape.start(&gradients);
  Run run(session);
  run.record(tape);
  const View logits = pass(learning.model, run);
  tape.turn();
  const CrossEntropy loss(golden.json.at("smoothing").get<float>());
  const LossSum sum =
      loss.backward(const_view(logits), targets, 1.0f / static_cast<float>(targets.size()),
                    tape.gradient(const_view(logits)));
  tape.rewind();
  CHECK(sum.count == targets.size());
  CHECK(std::abs(sum.mean() - golden.json.at("loss").get<double>()) < 1e-5);
  CHECK(std::abs(loss(const_view(logits), targets).loss - sum.loss) < 1e-9);
  check_parameters(folder, learning, gradients, golden);
}

}  // namespace glassformer::test
