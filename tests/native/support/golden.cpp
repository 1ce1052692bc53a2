#include "support/golden.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "support/any_file.hpp"
#include "tasks/load.hpp"
#include "weights/floats.hpp"

namespace glassformer::test {
namespace {

const std::filesystem::path goldens = GLASSFORMER_SOURCE_DIR "/tests/fixtures/golden";

std::vector<std::string> names_of(bool translation) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(goldens)) {
    if (!entry.is_directory()) continue;
    const ModelConfig config = parse_config(read_file(entry.path() / "config.json", any_file));
    if ((config.task == Task::translation) == translation)
      names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::map<std::string, GoldenTensor> read_safetensors(const std::filesystem::path& path) {
  const std::string bytes = read_file(path, any_file);
  const auto file = SafetensorsFile::parse(std::as_bytes(std::span(bytes)));
  std::map<std::string, GoldenTensor> tensors;
  for (const TensorInfo& info : file.header().tensors()) {
    GoldenTensor& tensor = tensors[info.name];
    tensor.shape = info.shape;
    tensor.values.resize(element_count(info.shape));
    to_f32(info.dtype, file.bytes(info), tensor.values);
  }
  return tensors;
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names = names_of(false);
  REQUIRE(names.size() >= 8);
  return names;
}

std::vector<std::string> translation_golden_names() {
  std::vector<std::string> names = names_of(true);
  REQUIRE(names.size() >= 5);
  return names;
}

std::unique_ptr<EncoderModel> load_model(const std::filesystem::path& folder,
                                         const ModelConfig& config, Compute compute) {
  auto model = std::make_unique<EncoderModel>(config.architecture, compute);
  load_weights(folder, model->parameters());
  return model;
}

GoldenCase::GoldenCase(const std::string& case_name)
    : name(case_name),
      folder(goldens / case_name),
      json(nlohmann::json::parse(read_file(folder / "golden.json", any_file))),
      tensors(read_safetensors(folder / "golden.safetensors")),
      config(parse_config(read_file(folder / "config.json", any_file))) {}

Golden::Golden(const std::string& case_name)
    : GoldenCase(case_name), model(load_model(folder, config)) {}

TranslationGolden::TranslationGolden(const std::string& case_name)
    : GoldenCase(case_name), model(std::make_unique<Seq2Seq>(config.architecture)) {
  load_weights(folder, model->parameters());
}

std::vector<std::int32_t> TranslationGolden::target(std::size_t text) const {
  return json.at("target_ids").at(text).get<std::vector<std::int32_t>>();
}

bool TranslationGolden::has_self_attention() const {
  return config.decoder().layers[0].mixer != Mixer::recurrent;
}

GoldenTrace GoldenCase::traced() const {
  GoldenTrace trace;
  for (auto& [key, tensor] : read_safetensors(folder / "golden.trace.safetensors")) {
    const std::size_t slash = key.find('/');
    REQUIRE(slash != std::string::npos);
    trace.text = std::stoul(key.substr(0, slash));
    trace.tensors.emplace(key.substr(slash + 1), std::move(tensor));
  }
  return trace;
}

std::vector<float> GoldenCase::weight(const std::string& tensor) const {
  return read_safetensors(folder / "model.safetensors").at(tensor).values;
}

Batch GoldenCase::batch() const {
  Batch batch;
  for (const auto& ids : json.at("ids")) batch.add(ids.get<std::vector<std::int32_t>>());
  return batch;
}

Batch GoldenCase::batch(std::size_t text, const std::vector<std::size_t>& masked) const {
  Batch batch;
  batch.add(json.at("ids").at(text).get<std::vector<std::int32_t>>(), masked);
  return batch;
}

double GoldenCase::tolerance(const std::string& tensor) const {
  return json.at("tolerance").at(tensor).at(0).get<double>();
}

void GoldenCase::check(const std::string& tensor, const float* got, std::size_t size) const {
  INFO(name << ": " << tensor);
  const std::vector<float>& expected = tensors.at(tensor).values;
  REQUIRE(size == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double distance =
        std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (!(distance <= worst)) worst = distance;  // also if distance is NaN
  }
  CHECK(worst <= tolerance(tensor));
}

}  // namespace glassformer::test
