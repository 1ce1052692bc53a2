#pragma once

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "explain/contrast.hpp"
#include "explain/explained_text.hpp"
#include "support/any_file.hpp"
#include "support/checkpoint_golden.hpp"
#include "support/golden.hpp"
#include "tasks/load.hpp"

namespace glassformer::test {

/// A tiny model, from tests/fixtures/golden or published, and PyTorch's explanations of it
/// (tests/fixtures/reference/goldens_explain.py).
struct ExplainGolden {
  explicit ExplainGolden(const std::string& case_name) : name(case_name) {
    if (is_there(checkpoints / name / "expected.explain.json")) {
      open_published();
    } else {
      open_ours();
    }
    text = read(plan.at("text"));
    contrast = contrast_for(plan.at("label"), model->head_config().outputs);
  }

  ExplainedText read(std::size_t i) const {
    if (!published) return {.ids = texts.at(i)};
    ExplainedText read = {.ids = texts.at(i).at("ids")};
    const bool tells_texts_apart = model->encoder().stack().config().tokens().token_types > 0;
    if (tells_texts_apart) texts.at(i).at("types").get_to(read.types);
    return read;
  }

  /// Returns the model and a session, in the form that explanations take.
  EncoderRunner runner() const { return {*model, session}; }

  /// Compares with PyTorch's values in double precision: they differ by the rounding of floats over
  /// two layers.
  void check_near(const std::string& tensor, std::span<const float> got) const {
    INFO(name << ": " << tensor);
    CHECK(distance(got, expected.at(tensor).values) <= most_error);
  }
  void check_near(const std::string& what, double got, double wanted) const {
    INFO(name << ": " << what);
    CHECK(std::abs(got - wanted) <= most_error);
  }

  static constexpr double most_error = 1e-4;

  std::string name;
  bool published = false;
  nlohmann::json texts;  // objects for a published model, otherwise ids
  nlohmann::json plan;   // explain.json
  std::map<std::string, GoldenTensor> expected;
  std::unique_ptr<EncoderModel> model;
  mutable Session session;
  ExplainedText text;
  Contrast contrast;

 private:
  void open(const std::filesystem::path& json, const std::filesystem::path& tensors) {
    plan = nlohmann::json::parse(read_file(json, any_file));
    expected = read_safetensors(tensors);
  }

  void open_ours() {
    Golden golden(name);
    texts = golden.json.at("ids");
    model = std::move(golden.model);
    open(golden.folder / "explain.json", golden.folder / "explain.safetensors");
  }

  void open_published() {
    published = true;
    texts = CheckpointGolden(name).json.at("texts");
    const std::filesystem::path folder = checkpoints / name;
    const OpenFolder opened(folder);
    model = std::make_unique<EncoderModel>(opened.config.architecture);
    opened.load(model->parameters());
    open(folder / "expected.explain.json", folder / "expected.explain.safetensors");
  }
};

/// Generates each golden in turn; the published ones have poolers and embedding norms.
inline ExplainGolden explain_golden() {
  return ExplainGolden(GENERATE("pre_norm_mean", "post_norm_gelu_learned_first",
                                "tutorial_post_norm", "bert_sequence", "bert_many_labels",
                                "distilbert_sequence"));
}

}  // namespace glassformer::test
