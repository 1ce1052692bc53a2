// Published checkpoints compared with the original library's results; see
// tests/fixtures/checkpoints.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "families/folder/folder_on_disk.hpp"
#include "models/encoder_model.hpp"
#include "support/checkpoint_golden.hpp"

namespace glassformer::test {
namespace {

constexpr double tolerance = 1e-4;  // for values of up to some tens

}  // namespace

TEST_CASE("published checkpoints give the original library's tensors", "[checkpoints]") {
  const std::string name = GENERATE(from_range(checkpoint_names()));
  INFO(name);
  const CheckpointGolden expected(name);
  FolderOnDisk files(checkpoints / name);
  ModelFolder folder(files);
  const std::vector<SafetensorsHeader> headers = files.headers(folder.weight_files());
  const ModelConfig config = folder.config(headers);
  CHECK(config.max_source_length() == expected.json.at("max_length"));
  if (expected.json.contains("labels")) {
    CHECK(config.labels == expected.json.at("labels").get<std::vector<std::string>>());
  }

  EncoderModel model(config.architecture);
  Session session;
  WeightsLoader loader = folder.loader(headers, model.parameters());
  files.load(folder.weight_files(), loader);
  TraceRequest request = {.attention = true};
  request.names = all_names;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < expected.json.at("texts").size(); ++i) {
    const nlohmann::json& text = expected.json.at("texts")[i];
    const auto batch_of = [](const nlohmann::json& input) {
      Batch batch;
      batch.add(input.at("ids").get<std::vector<std::int32_t>>(), {},
                input.at("types").get<std::vector<std::int32_t>>());
      return batch;
    };
    if (text.contains("windows")) {  // of a question's context
      for (std::size_t w = 0; w < text.at("windows").size(); ++w) {
        const std::string tensor = "logits." + std::to_string(i) + "." + std::to_string(w);
        INFO(tensor);
        const auto output = model(batch_of(text.at("windows")[w]), {}, session);
        CHECK(distance(output.logits, expected.tensors.at(tensor)) < tolerance);
        ++compared;
      }
      continue;
    }
    const auto output = model(batch_of(text), request, session);
    const std::string index = std::to_string(i);
    const auto check = [&](const std::string& tensor, std::span<const float> got) {
      const auto known = expected.tensors.find(tensor);
      if (known == expected.tensors.end()) return;
      INFO(tensor);
      CHECK(distance(got, known->second) < tolerance);
      ++compared;
    };
    const bool decodes = model.decoder() != nullptr;
    check((decodes ? "encoder." : "attention.") + index, output.attention[0].data);
    if (decodes) {
      check("decoder." + index, output.decoder_attention[0].data);
      check("cross." + index, output.cross_attention[0].data);
    }
    check("logits." + index, output.logits);
    compared += compare_trace(output.traces[0], expected, index, tolerance);
  }
  CHECK(compared > 0);
}

}  // namespace glassformer::test
