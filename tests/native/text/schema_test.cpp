// Variants of tokenizer.json: fields that are absent or null, have other values, or have old names.

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "support/error_of.hpp"
#include "support/text_fixture.hpp"
#include "text/composed/composed_tokenizer.hpp"
#include "text/hub/tokenizer_json.hpp"
#include "text/model_input.hpp"

namespace glassformer {
namespace {

using nlohmann::json;

std::vector<std::int32_t> ids_of(const ModelInput& input) { return test::ids_of(input.tokens); }

json answers_of(const ComposedTokenizer& tokenizer, const json& texts) {
  json answers;
  const TokenTemplate& around = tokenizer.around();
  for (const std::string text : texts) {
    const auto ids = ids_of(fill(around.single, tokenizer.encode(text)));
    answers.push_back({ids, tokenizer.decode(ids)});
  }
  const ModelInput pair = fill(around.pair, tokenizer.encode("a"), tokenizer.encode("b"));
  answers.push_back({ids_of(pair), pair.types});
  return answers;
}

// Returns whether an error names an unsupported part of a file that the original library opens.
bool is_refused_by_name(const std::string& message) {
  for (const char* part : {"unsupported: ", "unknown field", "which is missing", "is taken already",
                           "expected one of special_tokens", "for a pair"}) {
    if (message.find(part) != message.npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("variants of tokenizer.json are opened and read as by the original library",
          "[text][composed]") {
  const json golden = json::parse(
      test::read_text(GLASSFORMER_SOURCE_DIR "/tests/fixtures/data/tokenizers/schema.json"));
  std::size_t equal = 0, refused = 0, named = 0;
  for (const json& form : golden.at("forms")) {
    INFO(form.at("name"));
    json file = golden.at("base");
    for (const std::string path : form.at("without")) {
      const json::json_pointer pointer(path);
      file[pointer.parent_pointer()].erase(pointer.back());
    }
    for (const auto& [path, value] : form.at("set").items()) file[json::json_pointer(path)] = value;
    const json& answers = form.at("answers");
    std::string message;
    try {
      const ComposedTokenizer tokenizer(parse_tokenizer_json(file.dump()));
      if (answers.is_null()) {
        FAIL_CHECK("expected an error");
        continue;
      }
      CHECK(answers_of(tokenizer, golden.at("texts")) == answers);
      ++equal;
      continue;
    } catch (const Error& error) {
      message = std::string(to_string(error.code())) + ": " + error.what();
    }
    INFO(message);
    CHECK((answers.is_null() || is_refused_by_name(message)));
    ++(answers.is_null() ? refused : named);
  }
  CHECK(equal > 200);
  CHECK(refused > 300);
  CHECK(named < 80);
}

}  // namespace glassformer
