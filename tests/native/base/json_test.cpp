#include "base/json/json.hpp"

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "base/json/json_writer.hpp"
#include "support/allocations.hpp"
#include "support/io_fixture.hpp"

namespace glassformer {
namespace {

const JsonSource options_source{ErrorCode::invalid_option, "options"};

void check_refused(std::string_view json, std::string_view message) {
  INFO(json);
  test::check_error(ErrorCode::invalid_option, message, [&] { parse_json(json, options_source); });
}

TEST_CASE("JSON values are parsed as written", "[io]") {
  const JsonValue value = parse_json(
      " { \"a\" : [1, -2, 0.5, true, false, null, \"\\u00e9\\ud83d\\ude00\"], \"b\": {} }\n",
      options_source);
  REQUIRE(count_entries(value) == 2);
  std::vector<JsonValue> a;
  JsonEntries fields(value);
  REQUIRE(fields.next());
  CHECK(fields.key() == "a");
  for (JsonEntries entry(fields.value()); entry.next();) a.push_back(entry.value());
  REQUIRE(a.size() == 7);
  CHECK(a[0].whole() == 1);
  CHECK(a[0].is_whole());
  CHECK_FALSE(a[1].is_whole());
  CHECK_FALSE(a[2].is_whole());
  CHECK(a[2].text() == "0.5");
  CHECK(a[2].number() == 0.5);
  CHECK(a[3].type() == JsonValue::Type::boolean);
  CHECK(a[5].type() == JsonValue::Type::null);
  CHECK(a[6].string() == "\u00e9\U0001F600");
  REQUIRE(fields.next());
  CHECK(fields.key() == "b");
  CHECK(fields.value().is_object());
  CHECK(count_entries(fields.value()) == 0);
  CHECK_FALSE(fields.next());
  CHECK(parse_json(" 3 ", options_source).whole() == 3);
}

// Returns whether both parsers read the same value. parse_json may differ only by its own limits.
bool equal(JsonValue ours, const nlohmann::json& theirs) {
  switch (ours.type()) {
    case JsonValue::Type::null:
      return theirs.is_null();
    case JsonValue::Type::boolean:
      return theirs.is_boolean() && theirs.get<bool>() == (ours.text() == "true");
    case JsonValue::Type::string:
      return theirs == ours.string();
    case JsonValue::Type::array: {
      if (!theirs.is_array() || count_entries(ours) != theirs.size()) return false;
      std::size_t i = 0;
      for (JsonEntries entry(ours); entry.next(); ++i) {
        if (!equal(entry.value(), theirs[i])) return false;
      }
      return true;
    }
    case JsonValue::Type::object:
      if (!theirs.is_object() || count_entries(ours) != theirs.size()) return false;
      for (JsonEntries entry(ours); entry.next();) {
        if (!theirs.contains(entry.key()) || !equal(entry.value(), theirs[entry.key()]))
          return false;
      }
      return true;
    case JsonValue::Type::number:
      break;
  }
  if (!theirs.is_number() || ours.is_whole() != theirs.is_number_unsigned()) return false;
  if (ours.is_whole()) return ours.whole() == theirs.get<std::uint64_t>();
  const double expected = theirs.get<double>();
  return std::abs(ours.number() - expected) <= 1e-14 * std::abs(expected) + 1e-300;
}

TEST_CASE("JSON is accepted or refused as by nlohmann::json", "[io]") {
  const std::string seed =
      R"( {"a": [1, -2, 0.5e-3, 12.5E+2, 0, -0.0], "b\n\u00e9": {"c": true, "d": [false, null]},
          "e\ud83d\ude00": "x\"\\\/\b\f\r\t\u0000 )"
      "\xC3\xA9\xF0\x9F\x98\x80\" , \"f\": [[], {}, [[]]], \"g\": 18446744073709551615 }";
  constexpr std::string_view pool = "{}[]\",:\\ue+-.0123456789truefalsn \n\x00\x80\xC3\xED";
  std::mt19937 random(7);
  const auto below = [&](std::size_t end) { return random() % end; };
  std::size_t taken = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string text = seed;
    for (std::size_t edits = below(3); edits > 0; --edits) {
      const std::size_t at = below(text.size());
      if (below(2) == 0) {
        text[at] = pool[below(pool.size())];
      } else {
        text.erase(at, 1 + below(3));
      }
    }
    // Skips duplicate keys: nlohmann takes the last one.
    const nlohmann::json theirs = nlohmann::json::parse(text, nullptr, false);
    INFO(text);
    try {
      const JsonValue ours = parse_json(text, options_source);
      REQUIRE_FALSE(theirs.is_discarded());
      REQUIRE(equal(ours, theirs));
      ++taken;
    } catch (const Error& error) {
      const bool twice = std::string_view(error.what()).find("appears twice") != std::string::npos;
      REQUIRE((theirs.is_discarded() || twice));
    }
  }
  CHECK(taken > 5'000);
  CHECK(taken < 45'000);
}

TEST_CASE("numbers are read with all their digits", "[io]") {
  const auto number = [](const std::string& text) {
    const std::string json = "{\"x\": " + text + "}";
    return JsonObject(parse_json(json, options_source), options_source).number("x");
  };
  CHECK(number("1e-05") == 1e-05);
  CHECK(number("1e-12") == 1e-12);
  CHECK(number("0.6") == 0.6);
  CHECK(number("-123.456e3") == -123456.0);
  CHECK(number("0e999999999999") == 0);
  CHECK(number("1e-999999999999") == 0);
  CHECK(number("1" + std::string(400, '0') + "e-400") == 1);
  CHECK(number("0." + std::string(400, '0') + "1e401") == 1);
  CHECK(number("1." + std::string(400, '0')) == 1);
  CHECK(static_cast<float>(number("0.30000000000000004")) == 0.3f);
}

TEST_CASE("written JSON reads back as the same values", "[io]") {
  std::string text;
  for (int i = 0; i < 128; ++i) text += static_cast<char>(i);
  text += "\u00e9\U0001F600";
  JsonWriter writer;
  writer.object([&] {
    writer.field("text", text);
    writer.field("not UTF-8", "a\xFFz\xC3");
    writer.field("yes", true);
    writer.field("whole", std::numeric_limits<std::uint64_t>::max());
    writer.field("negative", -1);
    writer.field("tenth", 0.1f);
    writer.field("infinite", std::numeric_limits<float>::infinity());
    writer.key("nested");
    writer.array(std::vector{1, 2}, [&](int n) { writer.object([&] { writer.field("n", n); }); });
    writer.key("empty");
    writer.object([] {});
  });
  const nlohmann::json expected = {{"text", text},
                                   {"not UTF-8", "a\uFFFDz\uFFFD"},
                                   {"yes", true},
                                   {"whole", std::numeric_limits<std::uint64_t>::max()},
                                   {"negative", -1},
                                   {"tenth", 0.1},
                                   {"infinite", nullptr},
                                   {"nested", {{{"n", 1}}, {{"n", 2}}}},
                                   {"empty", nlohmann::json::object()}};
  CHECK(nlohmann::json::parse(writer.take()) == expected);

  JsonWriter lines(JsonWriter::Layout::lines);
  lines.object([&] {
    lines.field("a", 1);
    lines.key("b");
    lines.object([&] { lines.field("c", "d"); });
  });
  CHECK(lines.take() == "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": \"d\"\n  }\n}");
}

TEST_CASE("floats are written with the fewest digits that read back exactly", "[io]") {
  std::mt19937 random(11);
  for (int round = 0; round < 100'000; ++round) {
    const float number = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(number)) continue;
    JsonWriter writer;
    writer.value(number);
    const std::string text = writer.take();
    INFO(text);
    REQUIRE(text.size() <= 15);
    REQUIRE(nlohmann::json::parse(text).get<float>() == number);
  }
}

TEST_CASE("broken JSON is refused with the position of the error", "[io]") {
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
  check_refused(std::string_view("{}\0garbage", 10), "not valid JSON at byte 3");
}

TEST_CASE("a duplicate key in an object is refused with its path", "[io]") {
  check_refused(R"({"a": 1, "a": 1})", "options: \"a\" appears twice");
  check_refused(R"({"a": {"b": [{"c": 1, "c": 2}]}})", "\"a\": \"b\": \"c\" appears twice");
  check_refused(R"({"a": 1, "\u0061": 2})", "\"a\" appears twice");
  CHECK_NOTHROW(parse_json(R"({"a": {"a": 1}, "b": {"a": 1}})", options_source));

  // Duplicates far apart, among keys with the same hash: "costarring" and "liquid" collide in
  // 32-bit FNV-1a.
  std::string many = "{";
  for (int i = 0; i < 5000; ++i) many += "\"key " + std::to_string(i) + "\": {},";
  CHECK_NOTHROW(parse_json(many + R"("costarring": 1, "liquid": 2})", options_source));
  check_refused(many + R"("key 17": 1})", "\"key 17\" appears twice");
  check_refused(R"({"liquid": 0, "costarring": 1, "a": 2, "liquid": 3})", "\"liquid\" appears");
}

TEST_CASE("checking a text takes memory for a small multiple of its size", "[io]") {
  const auto cost = [](const std::string& text) {
    const std::size_t bytes = test::peak_of([&] { parse_json(text, options_source); });
    return static_cast<double>(bytes) / static_cast<double>(text.size());
  };
  std::string keys = "{", zeros = "[", nested = "[";
  for (int i = 0; i < 50'000; ++i) {
    keys += "\"" + std::to_string(i) + "\":0,";
    zeros += "0,";
    nested += "[{\"a\":[]}],";
  }
  CHECK(cost(keys + "\"\":0}") < 3);
  CHECK(cost(zeros + "0]") < 0.1);
  CHECK(cost(nested + "0]") < 0.1);
  CHECK(cost("[\"" + std::string(2'000'000, 'x') + "\"]") < 0.1);
}

TEST_CASE("nesting is limited", "[io]") {
  CHECK_NOTHROW(parse_json(std::string(32, '[') + std::string(32, ']'), options_source));
  check_refused(std::string(33, '[') + std::string(33, ']'), "nested deeper than 32 levels");
  check_refused(std::string(1'000'000, '['), "nested deeper than 32 levels");
}

TEST_CASE("object fields are read by type, and unread fields are refused", "[io]") {
  const JsonValue value =
      parse_json(R"({"b": true, "n": 0.5, "i": 7, "s": "x", "float": 7.0})", options_source);
  JsonObject object(value, options_source);
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
          [&] { JsonObject(parse_json("[1]", options_source), options_source, "x"); });
  std::string many = "{";
  for (int i = 0; i < 64; ++i) many += "\"" + std::to_string(i) + "\": 0,";
  many.back() = '}';
  CHECK_NOTHROW(JsonObject(parse_json(many, options_source), options_source));
  many.back() = ',';
  refused("options: expected at most 64 fields, got 65",
          [&] { JsonObject(parse_json(many += "\"64\": 0}", options_source), options_source); });
}

TEST_CASE("values in messages are short and valid UTF-8", "[io]") {
  CHECK(describe("a\nb") == "\"a\\nb\"");
  CHECK(describe(parse_json("[1, \"x\"]", options_source)) == "[1,\"x\"]");
  CHECK(describe(parse_json("[1, 2, 3, 4, 5, 6, 7, 8, 9]", options_source)) ==
        "an array of 9 entries");
  CHECK(describe(parse_json("{ \"b\" : [ 1 , 2 ], \"a\" : null }", options_source)) ==
        "{\"b\":[1,2],\"a\":null}");
  const std::string long_string = '"' + std::string(5000, 'a') + '"';
  CHECK(describe(parse_json(long_string, options_source)) == "a value of 5002 bytes");
  std::string accents;
  for (int i = 0; i < 100; ++i) accents += "\u00e9";
  const std::string text = describe(accents);
  CHECK(text.size() < 70);
  CHECK_NOTHROW(nlohmann::json(text).dump());
}

}  // namespace
}  // namespace glassformer
