// Published checkpoints against what the original library makes of them; see tests/checkpoints.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "checkpoints/folder_on_disk.hpp"
#include "checkpoints/input_file.hpp"
#include "io/floats.hpp"
#include "models/encoder_model.hpp"

namespace glassformer::test {
namespace {

const std::filesystem::path checkpoints = GLASSFORMER_SOURCE_DIR "/tests/checkpoints";
constexpr FileLimit any_file{"a file of a test", ErrorCode::missing_file, 1 << 30};
constexpr double tolerance = 1e-4;  // of numbers up to some tens

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(checkpoints)) {
    if (is_there(entry.path() / "expected.json")) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  REQUIRE(!names.empty());
  return names;
}

using Tensors = std::map<std::string, std::vector<float>>;

// What the library answers to a checkpoint's texts. Checkpoints that differ in their files only
// share it.
struct Expected {
  nlohmann::json json;
  Tensors tensors;

  explicit Expected(const std::string& name) {
    json = nlohmann::json::parse(read_file(checkpoints / name / "expected.json", any_file));
    if (json.contains("same_as")) {
      *this = Expected(json.at("same_as"));
      return;
    }
    const std::string bytes = read_file(checkpoints / name / "expected.safetensors", any_file);
    const auto file = SafetensorsFile::parse(std::as_bytes(std::span(bytes)));
    for (const TensorInfo& info : file.header().tensors()) {
      std::vector<float>& values = tensors[info.name];
      values.resize(element_count(info.shape));
      to_f32(info.dtype, file.bytes(info), values);
    }
  }
};

double distance(std::span<const float> got, std::span<const float> expected) {
  REQUIRE(got.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isinf(expected[i]) && got[i] == expected[i]) continue;
    const double here = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (!(here <= worst)) worst = here;
  }
  return worst;
}

}  // namespace

TEST_CASE("a published checkpoint gives the original library's numbers", "[checkpoints]") {
  const std::string name = GENERATE(from_range(names()));
  INFO(name);
  const Expected expected(name);
  FolderOnDisk files(checkpoints / name);
  ModelFolder folder(files);
  const std::vector<SafetensorsHeader> headers = files.headers(folder.weight_files());
  const ModelConfig config = folder.config(headers);
  CHECK(config.max_source_length() == expected.json.at("max_length"));
  if (expected.json.contains("labels")) {
    CHECK(config.labels == expected.json.at("labels").get<std::vector<std::string>>());
  }

  EncoderModel model(config.architecture);
  WeightsLoader loader = folder.loader(headers, model.parameters());
  files.load(folder.weight_files(), loader);
  TraceRequest request = {.attention = true};
  request.names = {"*", "head.dense", "encoder.*", "encoder.layers.*.*",
                   "encoder.layers.*.self_attn.*"};
  std::size_t compared = 0;
  for (std::size_t i = 0; i < expected.json.at("texts").size(); ++i) {
    const nlohmann::json& text = expected.json.at("texts")[i];
    if (!text.contains("ids")) {  // a question's windows: the pipelines' tests have them
      ++compared;
      continue;
    }
    INFO("text " << i);
    Batch batch;
    batch.add(text.at("ids").get<std::vector<std::int32_t>>(), {},
              text.at("types").get<std::vector<std::int32_t>>());
    const auto output = model(batch, request);
    const std::string index = std::to_string(i);
    const auto check = [&](const std::string& tensor, std::span<const float> got) {
      const auto known = expected.tensors.find(tensor);
      if (known == expected.tensors.end()) return;
      INFO(tensor);
      CHECK(distance(got, known->second) < tolerance);
      ++compared;
    };
    check("attention." + index, output.attention[0].data);
    check("logits." + index, output.logits);
    for (const TracedTensor& tensor : output.traces[0]) {
      check(index + "/" + tensor.name, tensor.data);
    }
    for (const auto& [tensor, values] : expected.tensors) {
      if (!tensor.starts_with(index + "/")) continue;
      INFO(tensor);
      const bool shown = std::ranges::any_of(output.traces[0], [&](const TracedTensor& traced) {
        return index + "/" + traced.name == tensor;
      });
      CHECK(shown);
    }
  }
  CHECK(compared > 0);
}

}  // namespace glassformer::test
