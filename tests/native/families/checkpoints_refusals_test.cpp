// Checkpoints that must be refused with the name of the problem and its cure; see
// tests/fixtures/checkpoints.

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include "families/folder/folder_on_disk.hpp"
#include "families/folder/input_file.hpp"
#include "support/any_file.hpp"
#include "support/checkpoint_golden.hpp"
#include "support/error_of.hpp"

namespace glassformer::test {
namespace {

using nlohmann::json;

// A valid folder with the changes of one entry of refusals.json.
class ChangedFolder final : public ModelFiles {
 public:
  explicit ChangedFolder(const json& entry)
      : base_(checkpoints / entry.value("base", "bert_sequence")),
        config_(entry.value("config", json::object())),
        files_(entry.value("files", json::object())),
        absent_(entry.value("absent", std::vector<std::string>{})),
        listed_(entry.value("listed", false)) {}

  bool has(std::string_view name) override {
    if (std::ranges::find(absent_, name) != absent_.end()) return false;
    return files_.contains(name) || base_.has(name);
  }

  std::optional<std::string_view> read(std::string_view name) override {
    if (!has(name)) return std::nullopt;
    if (files_.contains(name)) return files_.at(name).get_ref<const std::string&>();
    if (name != "config.json") return base_.read(name);
    json config = json::parse(*base_.read(name));
    config.merge_patch(config_);
    changed_ = config.dump();
    return changed_;
  }

  std::vector<std::string> names() override {
    std::vector<std::string> names;
    if (!listed_) return names;
    for (const std::string& name : base_.names()) {
      if (has(name)) names.push_back(name);
    }
    for (const auto& file : files_.items()) names.push_back(file.key());
    return names;
  }

  std::vector<SafetensorsHeader> headers(const std::vector<std::string>& names) {
    return base_.headers(names);
  }

 private:
  FolderOnDisk base_;
  json config_, files_;
  std::string changed_;  // config.json
  std::vector<std::string> absent_;
  bool listed_;  // true for a local folder, false for one on a server
};

void open(const json& entry) {
  ChangedFolder files(entry);
  ModelFolder folder(files);
  folder.config(files.headers(folder.weight_files()));
}

}  // namespace

TEST_CASE("an unreadable checkpoint is refused with the name of the problem", "[checkpoints]") {
  open(json::object());  // the unchanged folder can be read
  const json entries = json::parse(read_file(checkpoints / "refusals.json", any_file));
  REQUIRE(entries.size() > 25);
  for (const json& entry : entries) {
    INFO(entry.at("name"));
    const Error error = error_of([&] { open(entry); });
    CHECK(to_string(error.code()) == entry.at("code").get<std::string>());
    for (const json& word : entry.at("words")) {
      CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring(word.get<std::string>()));
    }
  }
}

// Only AutoModelForMaskedLM reads the embeddings of such a file; AutoModel and the classes of our
// tasks use random numbers instead: tests/fixtures/checkpoints/tables.py.
TEST_CASE("an embedding table stored only as a language model's output is refused",
          "[checkpoints]") {
  for (const auto& [folder_name, output] :
       {std::pair("roberta_sequence", "lm_head.decoder.weight"),
        std::pair("bert_sequence", "cls.predictions.decoder.weight"),
        std::pair("distilbert_sequence", "vocab_projector.weight")}) {
    INFO(folder_name);
    FolderOnDisk files(checkpoints / folder_name);
    ModelFolder folder(files);
    const std::string tensor =
        json{{output, {{"dtype", "F32"}, {"shape", {50, 8}}, {"data_offsets", {0, 1600}}}}}.dump();
    const std::array headers = {SafetensorsHeader::parse(tensor, 1600)};
    const Error error = error_of([&] { folder.config(headers); });
    CHECK(error.code() == ErrorCode::missing_tensor);
    for (const char* word : {output, "word_embeddings", "AutoModelForMaskedLM"}) {
      CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring(word));
    }
  }
}

}  // namespace glassformer::test
