#include <catch2/catch_test_macros.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "families/family.hpp"
#include "support/text_fixture.hpp"
#include "text/hub/tokenizer_files.hpp"
#include "text/model_input.hpp"

namespace glassformer {
namespace {

using nlohmann::json;

const std::string classes_folder = GLASSFORMER_SOURCE_DIR "/tests/fixtures/data/tokenizers/";

// Returns the content of a case's file, made in the same way as by classes.py.
std::string content(const json& value) {
  if (value.contains("model")) {
    return test::read_text(test::tokenizer_folder + value["model"].get<std::string>() + ".model");
  }
  if (!value.contains("of")) return value.dump();
  json file =
      json::parse(test::read_text(classes_folder + value["of"].get<std::string>() + ".json"));
  const std::string part = value["part"];
  if (part == "tokenizer.json") {
    if (value.contains("untyped")) file["model"].erase("type");
    for (const json& token : value.value("added", json::array())) {
      file["added_tokens"].push_back(token);
    }
    return file.dump();
  }
  const json& vocabulary = file["model"]["vocab"];
  if (part == "vocab.json") return vocabulary.dump();
  std::string lines;
  if (part == "vocab.txt") {
    std::map<int, std::string> names;
    for (const auto& [name, id] : vocabulary.items()) names[id] = name;
    for (const json& name : value.value("without", json::array())) names.erase(vocabulary[name]);
    for (const auto& [id, name] : names) lines += name + "\n";
    return lines;
  }
  for (const json& merge : file["model"]["merges"]) {
    lines += merge.is_string() ? merge.get<std::string>()
                               : merge[0].get<std::string>() + " " + merge[1].get<std::string>();
    lines += "\n";
  }
  return "#version: 0.2\n" + lines;
}

TEST_CASE("folders of tokenizer files give the original library's ids", "[text][classes]") {
  const json golden = json::parse(test::read_text(classes_folder + "classes.json"));
  REQUIRE(golden["cases"].size() >= 150);
  for (const json& each : golden["cases"]) {
    INFO(each["name"].get<std::string>());
    std::map<std::string, std::string, std::less<>> files;
    for (const auto& [name, value] : each["files"].items()) files[name] = content(value);
    files["config.json"] = json{{"model_type", each["model_type"]}}.dump();
    const FolderFile file = [&](std::string_view name) -> std::optional<std::string_view> {
      const auto found = files.find(name);
      if (found == files.end()) return std::nullopt;
      return found->second;
    };
    const auto tokenizer =
        read_tokenizer(file, {.side = TokenizerSide::source,
                              .usual_class = usual_tokenizer_class(files["config.json"]),
                              .lower_case = false});
    for (std::size_t i = 0; i < golden["texts"].size(); ++i) {
      const std::string text = golden["texts"][i];
      INFO(text);
      const ModelInput input = fill(tokenizer->around().single, tokenizer->encode(text));
      CHECK(test::ids_of(input.tokens) == each["ids"][i].get<std::vector<std::int32_t>>());
    }
  }
}

}  // namespace
}  // namespace glassformer
