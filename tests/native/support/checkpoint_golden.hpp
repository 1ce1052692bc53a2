#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "families/folder/input_file.hpp"
#include "glassformer/attention.hpp"
#include "support/any_file.hpp"
#include "support/error_of.hpp"
#include "weights/floats.hpp"
#include "weights/safetensors.hpp"

namespace glassformer::test {

inline const std::filesystem::path checkpoints =
    GLASSFORMER_SOURCE_DIR "/tests/fixtures/checkpoints";

/// Returns the tensors of a safetensors file, by name.
inline std::map<std::string, std::vector<float>> read_tensors(const std::filesystem::path& path) {
  const std::string bytes = read_file(path, any_file);
  const auto file = SafetensorsFile::parse(std::as_bytes(std::span(bytes)));
  std::map<std::string, std::vector<float>> tensors;
  for (const TensorInfo& info : file.header().tensors()) {
    std::vector<float>& values = tensors[info.name];
    values.resize(element_count(info.shape));
    to_f32(info.dtype, file.bytes(info), values);
  }
  return tensors;
}

/// The original library's results for the texts of a folder of tests/fixtures/checkpoints.
/// Checkpoints that differ only in their files share them.
struct CheckpointGolden {
  nlohmann::json json;                                // expected.json
  std::map<std::string, std::vector<float>> tensors;  // expected.safetensors

  explicit CheckpointGolden(const std::string& name) {
    json = nlohmann::json::parse(read_file(checkpoints / name / "expected.json", any_file));
    if (json.contains("same_as")) {
      *this = CheckpointGolden(json.at("same_as"));
      return;
    }
    tensors = read_tensors(checkpoints / name / "expected.safetensors");
  }
};

/// Returns the checkpoints of a task, or of all tasks that need only an encoder.
inline std::vector<std::string> checkpoint_names(const std::string& task = {}) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(checkpoints)) {
    const std::string name = entry.path().filename().string();
    if (!is_there(entry.path() / "expected.json")) continue;
    const std::string its = CheckpointGolden(name).json.at("task");
    const bool encoder = its != "translate" && its != "generate" && its != "text2text";
    if (task.empty() ? encoder : its == task) names.push_back(name);
  }
  std::ranges::sort(names);
  REQUIRE(names.size() >= 2);
  return names;
}

/// Patterns that together match every tensor of a model with logits.
inline const std::vector<std::string> all_names = {"*", "*.*", "*.*.*.*", "*.*.*.*.*"};

inline double distance(std::span<const float> got, std::span<const float> expected) {
  REQUIRE(got.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isinf(expected[i]) && got[i] == expected[i]) continue;
    const double here = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (!(here <= worst)) worst = here;
  }
  return worst;
}

/// Checks that the trace of a text has exactly the golden's tensors, with their values. Returns the
/// number of tensors, or 0 for texts whose trace is not in the golden.
inline std::size_t compare_trace(const std::vector<TracedTensor>& shown,
                                 const CheckpointGolden& golden, const std::string& text,
                                 double tolerance) {
  const std::string prefix = text + "/";
  const auto known = static_cast<std::size_t>(std::ranges::count_if(
      golden.tensors, [&](const auto& entry) { return entry.first.starts_with(prefix); }));
  if (known == 0) return 0;
  CHECK(shown.size() == known);
  for (const TracedTensor& tensor : shown) {
    INFO(tensor.name);
    REQUIRE(golden.tensors.contains(prefix + tensor.name));
    CHECK(distance(tensor.data, golden.tensors.at(prefix + tensor.name)) < tolerance);
  }
  return known;
}

}  // namespace glassformer::test
