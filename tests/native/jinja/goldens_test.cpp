// Compares the engine with jinja2, whose results tests/fixtures/templates/make.py has written.

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "base/strings/printable.hpp"
#include "jinja/template.hpp"
#include "support/text_fixture.hpp"

namespace glassformer {
namespace {

std::string rendered(const std::string& source, const nlohmann::ordered_json& variables) {
  const std::string json = variables.dump();
  jinja::RenderOptions options;
  options.now = {2024, 7, 4, 15, 6, 9, 123'456};
  return jinja::Template(source).render(
      jinja::from_json(parse_json(json, {ErrorCode::invalid_option, "variables"})), options);
}

TEST_CASE("Templates give the texts and errors of jinja2", "[jinja]") {
  const auto goldens = nlohmann::ordered_json::parse(
      test::read_text(GLASSFORMER_SOURCE_DIR "/tests/fixtures/templates/goldens.json"));
  REQUIRE(goldens.size() > 1000);
  for (const auto& golden : goldens) {
    const auto source = golden["template"].get<std::string>();
    INFO(source);
    std::string text;
    std::string error;
    ErrorCode code{};
    try {
      text = rendered(source, golden["variables"]);
    } catch (const Error& thrown) {
      error = thrown.what();
      code = thrown.code();
    }
    if (golden.contains("text")) {
      CHECK(error.empty());
      CHECK(text == golden["text"].get<std::string>());
      continue;
    }
    const auto kind = golden["kind"].get<std::string>();
    const std::string expected = printable(golden["error"].get<std::string>());
    INFO(error);
    CHECK(error.starts_with("chat_template: line "));
    CHECK((code == ErrorCode::invalid_option) == (kind == "raised"));
    // Other messages are those of Python and not of jinja2.
    if (kind == "raised" || kind == "undefined") CHECK(error.ends_with(": " + expected));
  }
}

}  // namespace
}  // namespace glassformer
