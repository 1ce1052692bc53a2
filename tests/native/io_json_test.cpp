#include "io/json.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "io_fixture.hpp"

namespace glassformer {
namespace {

const JsonSource source{ErrorCode::invalid_option, "options"};

void check_refused(std::string_view json, std::string_view message) {
  INFO(json);
  test::check_error(ErrorCode::invalid_option, message, [&] { parse_json(json, source); });
}

TEST_CASE("JSON values are parsed as they are written", "[io]") {
  const nlohmann::json value = parse_json(
      " { \"a\" : [1, -2, 0.5, true, false, null, \"\\u00e9\\ud83d\\ude00\"], \"b\": {} }\n",
      source);
  CHECK(value["a"].size() == 7);
  CHECK(value["a"][0].is_number_unsigned());
  CHECK(value["a"][2] == 0.5);
  CHECK(value["a"][6] == "\u00e9\U0001F600");
  CHECK(value["b"].is_object());
  CHECK(parse_json("3", source) == 3);
}

TEST_CASE("broken JSON is refused with its place", "[io]") {
  check_refused("", "options: not valid JSON at byte 1");
  check_refused("{", "not valid JSON at byte 2");
  check_refused("{\"a\": 1,}", "not valid JSON at byte 9");
  check_refused("{} {}", "not valid JSON at byte 4");
  check_refused("{} x", "not valid JSON");
  check_refused("[1, 2", "not valid JSON");
  check_refused("{'a': 1}", "not valid JSON");
  check_refused("{\"a\": 01}", "not valid JSON");
  check_refused("{\"a\": .5}", "not valid JSON");
  check_refused("{\"a\": +1}", "not valid JSON");
  check_refused("{\"a\": NaN}", "not valid JSON");
  check_refused("{\"a\": Infinity}", "not valid JSON");
  check_refused("{\"a\": 1e999}", "not valid JSON");
  check_refused("// comment\n{}", "not valid JSON");
  check_refused("{\"a\": \"line\nbreak\"}", "not valid JSON");
  check_refused("{\"a\": \"\\x\"}", "not valid JSON");
  check_refused("{\"a\": \"\\ud800\"}", "not valid JSON");
  check_refused("\"\xC3\"", "not valid JSON");
  check_refused("\"\xED\xA0\x80\"", "not valid JSON");
  check_refused("\"\xF5\x80\x80\x80\"", "not valid JSON");
  check_refused("\xEF\xBB\xBF{}", "byte order mark");
  // The parser underneath would stop at NUL and be content.
  check_refused(std::string_view("{}\0garbage", 10), "not valid JSON at byte 3: a NUL byte");
}

TEST_CASE("a key twice in one object is refused with its path", "[io]") {
  check_refused(R"({"a": 1, "a": 1})", "options: \"a\" appears twice");
  check_refused(R"({"a": {"b": [{"c": 1, "c": 2}]}})", "\"a\": \"b\": \"c\" appears twice");
  check_refused(R"({"a": 1, "\u0061": 2})", "\"a\" appears twice");
  CHECK_NOTHROW(parse_json(R"({"a": {"a": 1}, "b": {"a": 1}})", source));
}

TEST_CASE("nesting is limited", "[io]") {
  CHECK_NOTHROW(parse_json(std::string(32, '[') + std::string(32, ']'), source));
  check_refused(std::string(33, '[') + std::string(33, ']'), "nested deeper than 32 levels");
  check_refused(std::string(1'000'000, '['), "nested deeper than 32 levels");
}

TEST_CASE("object fields are read by type and all accounted for", "[io]") {
  const nlohmann::json value =
      parse_json(R"({"b": true, "n": 0.5, "i": 7, "s": "x", "float": 7.0})", source);
  JsonObject object(value, source);
  CHECK(object.boolean("b"));
  CHECK(object.number("n") == 0.5);
  CHECK(object.integer("i", 7, 7) == 7);
  CHECK(object.string("s") == "x");
  CHECK(object.find("absent") == nullptr);
  const auto refused = [&](std::string_view message, auto call) {
    test::check_error(ErrorCode::invalid_option, message, call);
  };
  refused("options: s: expected true or false, got \"x\"", [&] { object.boolean("s"); });
  refused("options: s: expected a number, got \"x\"", [&] { object.number("s"); });
  refused("options: b: expected a string, got true", [&] { object.string("b"); });
  refused("options: i: expected a whole number from 8 to 9, got 7",
          [&] { object.integer("i", 8, 9); });
  refused("options: gone: missing", [&] { object.require("gone"); });
  refused("options: \"float\": unknown field", [&] { object.finish(); });
  refused("whole number from 0 to 9, got 7.0", [&] { object.integer("float", 0, 9); });
  object.finish();
  refused("options: x: expected an object, got [1]",
          [&] { JsonObject(nlohmann::json::array({1}), source, "x"); });
}

TEST_CASE("values in messages are short and valid UTF-8", "[io]") {
  CHECK(describe("a\nb") == "\"a\\nb\"");
  CHECK(describe(nlohmann::json::array({1, "x"})) == "[1,\"x\"]");
  CHECK(describe(nlohmann::json(std::vector<int>(9))) == "an array of 9 entries");
  std::string accents;
  for (int i = 0; i < 100; ++i) accents += "\u00e9";
  const std::string text = describe(accents);
  CHECK(text.size() < 70);
  CHECK_NOTHROW(nlohmann::json(text).dump());
}

}  // namespace
}  // namespace glassformer
