#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/error_of.hpp"
#include "support/text_fixture.hpp"
#include "text/characters.hpp"
#include "text/composed/pre_tokenizer.hpp"
#include "text/regex/code_set.hpp"
#include "text/regex/regex.hpp"

namespace glassformer {
namespace {

using Ends = std::vector<std::int64_t>;

// Returns the ends of the pieces into which an expression splits a text; negative if a piece does
// not match.
Ends cut_ends(const std::string& expression, const std::string& text) {
  Ends ends;
  for (const TextPart& part : Regex(expression, "place").cut(read_characters(text))) {
    const auto end = static_cast<std::int64_t>(part.end);
    if (part.begin < part.end) ends.push_back(part.matched ? end : -end);
  }
  return ends;
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

std::string regex_error(const std::string& expression) {
  const Error error = test::error_of([&] { Regex(expression, "place"); });
  return std::string(to_string(error.code())) + ": " + error.what();
}

nlohmann::json golden_patterns() {
  return nlohmann::json::parse(
      test::read_text(GLASSFORMER_SOURCE_DIR "/tests/fixtures/data/tokenizers/patterns.json"));
}

TEST_CASE("regular expressions match as in the original library", "[text][regex]") {
  const nlohmann::json golden = golden_patterns();
  for (const nlohmann::json& pattern : golden["patterns"]) {
    const Regex regex(pattern[0].get<std::string>(), "place");
    REQUIRE(pattern[1].size() == golden["texts"].size());
    for (std::size_t i = 0; i < golden["texts"].size(); ++i) {
      INFO(pattern[0] << " on " << golden["texts"][i]);
      CHECK(cut_ends(pattern[0], golden["texts"][i]) == pattern[1][i].get<Ends>());
    }
  }
}

TEST_CASE("regular expressions match the same beyond the step limit of backtracking",
          "[text][regex]") {
  // The first alternative takes exponential time at the start of each text and never matches.
  const std::string start = repeated("\uE000", 100) + " ", costly = "(?:\uE000|\uE000)*\uE001|";
  const nlohmann::json golden = golden_patterns();
  for (const nlohmann::json& pattern : golden["patterns"]) {
    const auto expression = pattern[0].get<std::string>();
    for (const std::string text : golden["texts"]) {
      INFO(expression << " on " << text);
      CHECK(cut_ends(costly + expression, start + text) == cut_ends(expression, start + text));
    }
  }
}

TEST_CASE("hostile regular expressions take time linear in the text", "[text][regex]") {
  constexpr std::int64_t count = 50'000;
  const std::string a = repeated("a", count), digits = repeated("1", count);
  for (const char* expression :
       {"(a*)*b", "(a|a)*b", "(a|aa)+$b", "((a|b)*|c)*d", "(?:a?a?)*b", "(?:(?:(?:a?)*)*)*b",
        "(.*)(.*)(.*)b", "a*a*a*a*b", "(?:a(?=a*b|a*))*c", "a++b", "(?:a+?)+?b",
        "(?<=(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)b)"}) {
    INFO(expression);
    CHECK(cut_ends(expression, a) == Ends{-count});
    CHECK(cut_ends(expression, repeated("a", 60)) == Ends{-60});
  }
  CHECK(cut_ends(R"(\s+$|x)", repeated(" ", count) + "x") == Ends{-count, count + 1});
  CHECK(cut_ends("(?=.*b)a|a", a).size() == count);
  CHECK(cut_ends("(?!.*a.*b)a", a).size() == count);
  CHECK(cut_ends(R"((?=(\d{3})+(?!\d)))", digits).size() == count / 3 + 1);
  CHECK(cut_ends(R"(\d{1,3}(?=(?:\d{3})*\b))", digits).size() == count / 3 + 1);
  CHECK(cut_ends(R"(\G(?:1|1)*b|1)", digits).size() == count);
  // The memory limit.
  const Regex costly("(?:[ab]{1,1000}|x)c", "place");
  const Error error =
      test::error_of([&] { costly.cut(read_characters(repeated("a", 2'000'000))); });
  CHECK(error.code() == ErrorCode::too_large);
}

TEST_CASE("long matches are found", "[text][regex]") {
  constexpr std::int64_t count = 1'000'000;
  CHECK(cut_ends("a" + repeated("?", 4000), "aa") == Ends{-1, -2});
  for (const std::string expression : {R"(\p{L}+)", R"((?:ab)+|.*)", R"(\w*?$)", R"((?:a|b)*)"}) {
    INFO(expression);
    CHECK(cut_ends(expression, repeated("ab", count / 2)) == Ends{count});
  }
}

TEST_CASE("unsupported regular expressions are refused by name", "[text][regex]") {
  const auto unsupported = [](const std::string& expression, const std::string& problem) {
    INFO(expression);
    CHECK(regex_error(expression) ==
          "unsupported: place: " + describe(expression) + ": " + problem +
              "; the tokenizer must be saved again without it, or the text prepared elsewhere");
  };
  const auto refused = [&](const std::string& expression, const std::string& part, int place) {
    unsupported(expression,
                describe(part) + " at character " + std::to_string(place) + " is not supported");
  };
  refused(R"(([a-z])\1*)", R"(\1)", 8);
  refused(R"(é\b\k<a>)", R"(\k)", 4);
  refused(R"(a\X)", R"(\X)", 2);
  refused(R"([\q])", R"(\q)", 2);
  refused("(?<name>a)", "(?<", 1);
  refused("a(?m:.)", "(?m", 2);
  refused("(?)a", "(?)", 1);
  refused("(?#a)", "(?#", 1);
  refused(R"(\p{Latin}+)", R"(\p{Latin})", 1);
  refused(R"(\p{Lx})", R"(\p{Lx})", 1);
  refused(R"(\pL)", R"(\p)", 1);
  refused("[[:alpha:]]", "[:", 2);
  refused(R"(\xE9)", R"(\xE9)", 1);
  refused("[z-a]", "z-a", 2);
  refused(R"([a-\d])", R"(\d)", 4);
  // Case-insensitive characters beyond ASCII, and those whose other case is two characters.
  refused("(?i:aé)", "é", 6);
  refused(R"((?i:\p{Lu}))", R"(\p{Lu})", 5);
  refused("(?i:[à-ü])", "[à-ü]", 5);
  refused("(?i:ss)", "ss", 5);
  refused("(?i)aff", "ff", 6);
  // Expressions that match in several ways, or match nothing.
  refused(R"((?<=a*\b)b)", R"((?<=a*\b))", 1);
  refused("x(?>a|ab)", "(?>a|ab)", 2);
  refused("(?:ab)++", "(?:ab)++", 1);
  refused("(?:a?){3}", "(?:a?){3}", 1);
  refused(R"(a\b+)", R"(\b+)", 2);
  refused("(?=a)*", "(?=a)*", 1);
  refused("a{3,1}", "{3,1}", 2);
  refused(R"(a\B)", R"(\B)", 2);
  // Limits.
  unsupported("a{1001}", "expected at most 1000 repetitions, got 1001");
  unsupported("a{99999999999}", "expected at most 1000 repetitions, got 10000");
  unsupported("(?:a{100}){100}", "expected at most 4096 steps, got 4097");
  unsupported(repeated("(?:a?", 12) + repeated(")*", 12), "expected at most 4096 steps, got 4097");
  unsupported(repeated("(", 33) + "a" + repeated(")", 33),
              "expected at most 32 brackets around each other, got 33");
  unsupported(repeated("a", 5000), "expected at most 4096 characters, got 5000");
  unsupported(repeated("(?i)", 1000), "expected at most 32 brackets around each other, got 33");
}

TEST_CASE("invalid regular expressions are refused", "[text][regex]") {
  const auto invalid = [](const std::string& expression, const std::string& wanted, int place) {
    CHECK(regex_error(expression) == "invalid_tokenizer: place: " + describe(expression) +
                                         ": expected " + wanted + " at character " +
                                         std::to_string(place));
  };
  invalid("(a", "a )", 3);
  invalid("a)", "a ( for this )", 2);
  invalid("[a", "a ]", 3);
  invalid("[]", "a ]", 3);
  invalid("*a", "something to repeat", 1);
  invalid("a|+", "something to repeat", 3);
  invalid("{2}", "something to repeat", 1);
  invalid("a\\", "more", 3);
  invalid("[a\\", "more", 4);
  invalid(R"(\p{L)", "more", 5);
  invalid(R"(\u12)", "a hexadecimal digit", 5);
  invalid(R"(\x{110000})", "a hexadecimal digit", 9);
}

TEST_CASE("errors in regular expressions give their position in tokenizer.json", "[text][regex]") {
  const std::string json =
      R"({"type": "Split", "pattern": {"Regex": "(a)\\1"}, "behavior": "Removed", "invert": false})";
  const Error error = test::error_of(
      [&] { read_pre_tokenizer(parse_json(json, tokenizer_json), "pre_tokenizer"); });
  CHECK(std::string(error.what()) ==
        R"(tokenizer.json: pre_tokenizer: pattern: "(a)\\1": "\\1" at character 4 is not )"
        "supported; the tokenizer must be saved again without it, or the text prepared elsewhere");
}

TEST_CASE("sets of characters match their members", "[text][regex]") {
  using regex::CodeSet;
  CodeSet set('b', 'd');
  CHECK_FALSE(set.is_single());
  set.add('x', 'x');
  set.add('e', 'f');
  CHECK(set == [] {
    CodeSet same('x', 'x');
    same.add('b', 'f');
    return same;
  }());
  CHECK(set.contains('f'));
  CHECK_FALSE(set.contains('g'));
  CodeSet outside = set;
  outside.invert();
  for (const char32_t code : {0u, 0x61u, 0x62u, 0x78u, 0x10FFFFu}) {
    CHECK(outside.contains(code) != set.contains(code));
  }
  outside.add(set);
  CHECK(outside == CodeSet(0, 0x10FFFF));
  outside.invert();
  CHECK(outside.empty());
  set.keep(CodeSet('f', 'x'));
  set.keep(CodeSet('a', 'f'));
  CHECK(set.is_single());
  CHECK(set.first() == 'f');
  set.add_cases();
  CHECK(set.contains('F'));
  CHECK_FALSE(set.has_unknown_cases());
  CHECK(CodeSet::named("Lu").has_unknown_cases());
  CHECK(CodeSet::named("").empty());
}

}  // namespace
}  // namespace glassformer
