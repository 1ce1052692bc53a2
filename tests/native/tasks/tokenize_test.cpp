#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "glassformer/text_tokenizer.hpp"
#include "support/checkpoint_golden.hpp"

namespace glassformer {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

// A copy of a checkpoint's tokenizer, without its weights.
class Copy {
 public:
  explicit Copy(const std::string& name, bool with_config = true)
      : path(std::filesystem::temp_directory_path() /
             ("glassformer-tokenizer-" + name + (with_config ? "-" : "-bare-") +
              std::to_string(getpid()))) {
    std::filesystem::create_directories(path);
    for (const auto& entry : std::filesystem::directory_iterator(test::checkpoints / name)) {
      const std::string file = entry.path().filename().string();
      if (file.starts_with("expected.") || file.find(".safetensors") != file.npos) continue;
      if (!with_config && file == "config.json") continue;
      std::filesystem::copy(entry.path(), path / file);
    }
  }
  ~Copy() { std::filesystem::remove_all(path); }

  const std::filesystem::path path;
};

std::string text_of(const json& value) { return value.get<std::string>(); }

void compare(const EncodedText& encoded, const json& expected) {
  CHECK(encoded.ids == expected.at("ids").get<Ids>());
  REQUIRE(encoded.tokens.size() == encoded.ids.size());
  for (std::size_t i = 0; i < encoded.ids.size(); ++i) {
    CHECK(encoded.tokens[i].id == encoded.ids[i]);
    if (!expected.contains("offsets")) continue;
    const json& place = expected["offsets"][i];
    const InputToken& token = encoded.tokens[i];
    if (place.is_null()) {
      CHECK(token.start == token.end);
    } else {
      CHECK(json{token.start, token.end} == place);
    }
  }
}

TEST_CASE("tokenizers without a model give the original library's tokens", "[tasks][tokenize]") {
  std::size_t pairs = 0, cut = 0, compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::checkpoints)) {
    const std::string name = entry.path().filename().string();
    if (!is_there(entry.path() / "expected.json")) continue;
    const test::CheckpointGolden golden(name);
    // The model's settings decide what these read of a text.
    if (golden.json.at("task") == "embed" || golden.json.at("task") == "answer") continue;
    INFO(name);
    const Copy copy(name);
    const TextTokenizer tokenizer = TextTokenizer::load(copy.path);
    for (const json& text : golden.json.at("texts")) {
      if (!text.contains("ids")) continue;
      INFO(text_of(text.at("text")));
      const std::string first = text.at("text"), second = text.value("pair", "");
      const bool pair = text.contains("pair");
      EncodeOptions options;
      if (text.contains("from")) options.language = text["from"];
      if (text.value("truncated", false)) {
        options.max_length = golden.json.at("max_length").get<std::size_t>();
      }
      const TextInput input = pair ? TextInput(first, second) : TextInput(first);
      const EncodedText encoded = tokenizer.encode(input, options);
      compare(encoded, text);
      CHECK(encoded.clipped == text.value("truncated", false));
      for (std::size_t i = 0; pair && i < encoded.tokens.size(); ++i) {
        const json& sequence = text.at("sequences")[i];
        CHECK(encoded.tokens[i].sequence == (sequence.is_null() ? 0 : sequence.get<int>()));
      }
      pairs += pair;
      cut += encoded.clipped;
      ++compared;
    }
  }
  CHECK(compared >= 250);
  CHECK(pairs >= 20);
  CHECK(cut >= 20);
}

TEST_CASE("a tokenizer without config.json is found by its files", "[tasks][tokenize]") {
  for (const char* name :
       {"bert_sequence", "albert_sequence", "deberta_sequence", "nllb", "m2m_100", "mbart",
        "mbart_50", "marian_two_vocabularies", "llama", "t5"}) {
    INFO(name);
    const Copy with(name), without(name, false);
    const std::string text = "The film is good, really 🙂!";
    CHECK(TextTokenizer::load(without.path).encode(text).ids ==
          TextTokenizer::load(with.path).encode(text).ids);
  }
}

TEST_CASE("a tokenizer decodes, with and without special tokens", "[tasks][tokenize]") {
  const TextTokenizer bert = TextTokenizer::load(test::checkpoints / "bert_sequence");
  const Ids ids = bert.encode("Great cast.").ids;
  CHECK(bert.decode(ids) == "great cast.");
  CHECK(bert.decode(ids, {.special_tokens = true}) == "[CLS] great cast. [SEP]");
  const Ids plain = bert.encode("Great cast.", {.special_tokens = false}).ids;
  CHECK(Ids(ids.begin() + 1, ids.end() - 1) == plain);
  CHECK(bert.piece(ids[0]) == "[CLS]");
  CHECK(bert.id_of("[CLS]") == ids[0]);
  CHECK(bert.id_of("no such piece") == std::nullopt);
  CHECK(test::error_of([&] { (void)bert.decode(Ids{-1}); }).code() == ErrorCode::invalid_option);
  CHECK(test::error_of([&] { (void)bert.piece(1 << 20); }).code() == ErrorCode::invalid_option);

  // Source texts are encoded with one vocabulary, translations decoded with the other.
  const auto folder = test::checkpoints / "marian_two_vocabularies";
  const TextTokenizer marian = TextTokenizer::load(folder);
  const test::CheckpointGolden golden("marian_two_vocabularies");
  for (const json& text : golden.json.at("texts")) {
    CHECK(marian.decode(text.at("output").get<Ids>()) == text_of(text.at("translation")));
  }
}

TEST_CASE("options of a tokenizer are checked", "[tasks][tokenize]") {
  const TextTokenizer bert = TextTokenizer::load(test::checkpoints / "bert_sequence");
  const auto code = [&](const TextTokenizer& tokenizer, const TextInput& text,
                        const EncodeOptions& options) {
    return test::error_of([&] { (void)tokenizer.encode(text, options); }).code();
  };
  CHECK(code(bert, "a film", {.max_length = 1}) == ErrorCode::invalid_option);
  CHECK(bert.encode("a film", {.max_length = 2}).ids.size() == 2);
  CHECK(bert.encode("").ids.size() == 2);
  CHECK(code(bert, "a film", {.language = "de"}) == ErrorCode::invalid_option);
  CHECK(bert.languages().empty());
  const TextTokenizer nllb = TextTokenizer::load(test::checkpoints / "nllb");
  CHECK(nllb.languages().size() >= 3);
  CHECK(code(nllb, "a film", {.language = "de"}) == ErrorCode::invalid_option);
  CHECK(code(bert, std::string(17 << 20, 'a'), {}) == ErrorCode::too_large);
}

TEST_CASE("a folder without a tokenizer is refused", "[tasks][tokenize]") {
  CHECK(test::error_of([] { TextTokenizer::load(test::checkpoints / "none"); }).code() ==
        ErrorCode::missing_file);
  CHECK(test::error_of([] {
          TextTokenizer::load(GLASSFORMER_SOURCE_DIR "/weights/digits");
        }).code() == ErrorCode::invalid_tokenizer);
}

TEST_CASE("our own folders have the special tokens of their configuration", "[tasks][tokenize]") {
  const auto folder = std::filesystem::path(GLASSFORMER_SOURCE_DIR) / "weights/en-de";
  const TextTokenizer tokenizer = TextTokenizer::load(folder);
  const EncodedText encoded = tokenizer.encode("How are you?");
  CHECK(encoded.tokens.back().text == "</s>");
  CHECK(tokenizer.decode(encoded.ids) == "How are you?");
  CHECK(tokenizer.decode(encoded.ids, {.special_tokens = true}) == "How are you?</s>");
  CHECK(test::error_of([&] {
          (void)tokenizer.encode({"a", "b"});
        }).code() == ErrorCode::unsupported);
}

}  // namespace
}  // namespace glassformer
