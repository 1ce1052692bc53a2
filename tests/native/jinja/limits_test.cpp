// Templates that would crash, run forever or take all memory end with a typed error.

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "jinja/template.hpp"
#include "support/io_fixture.hpp"

namespace glassformer {
namespace {

std::string rendered(std::string_view source, jinja::RenderOptions options = {}) {
  return jinja::Template(source).render(jinja::Value::dict({}), options);
}

std::string repeated(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

void check_too_large(std::string_view source, std::string_view message) {
  INFO(source.substr(0, 200));
  jinja::RenderOptions options;
  options.limits.steps = 2'000'000;  // is faster
  test::check_error(ErrorCode::too_large, message, [&] { rendered(source, options); });
}

void check_unsupported(std::string_view source, std::string_view message) {
  INFO(source.substr(0, 200));
  test::check_error(ErrorCode::unsupported, message, [&] { rendered(source); });
}

TEST_CASE("Nesting in templates is limited", "[jinja]") {
  constexpr int many = 50'000;
  const std::string message = "expected at most 100 levels of nesting, got more";
  check_too_large("{{ " + repeated("not ", many) + "x }}", message);
  check_too_large("{{ " + repeated("- ", many) + "1 }}", message);
  check_too_large("{{ " + repeated("(", many) + "1" + repeated(")", many) + " }}", message);
  check_too_large("{{ " + repeated("[", many) + repeated("]", many) + " }}", message);
  check_too_large("{{ 1" + repeated(" if 0 else 2", many / 2) + " }}", message);
  check_too_large(repeated("{% if 1 %}", 150) + repeated("{% endif %}", 150), message);
  CHECK(rendered(repeated("{% for x in [1] %}", 90) + "x" + repeated("{% endfor %}", 90)) == "x");
  CHECK(rendered("{{ " + repeated("(", 90) + "1" + repeated(")", 90) + " }}") == "1");
}

TEST_CASE("Long chains need no recursion", "[jinja]") {
  constexpr int many = 50'000;
  CHECK(rendered("{{ 1" + repeated(" + 1", many) + " }}") == std::to_string(many + 1));
  CHECK(rendered("{{ 1" + repeated(" and 1", many) + " }}") == "1");
  CHECK(rendered("{{ 'a'" + repeated("|upper", many) + " }}") == "A");
  CHECK(rendered("{% if 0 %}" + repeated("{% elif 0 %}", 20'000) + "{% endif %}").empty());
  check_unsupported("{{ x" + repeated(".b", many) + " }}", "'x' is undefined");
  check_unsupported("{{ x" + repeated("()", many) + " }}", "'x' is undefined");
}

TEST_CASE("Recursion is limited", "[jinja]") {
  const std::string message = "expected at most 300 levels of expressions, statements and calls";
  check_too_large("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", message);
  check_too_large("{% macro m(n) %}{{ m(n + 1) ~ m(n + 1) }}{% endmacro %}{{ m(0) }}", message);
  check_too_large("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", message);
  CHECK(rendered("{% macro m(n) %}{% if n %}{% for x in [1] %}{{ m(n - 1) }}{% endfor %}{% endif %}"
                 "{{ n }}{% endmacro %}{{ m(30) }}")
            .starts_with("012345"));
}

TEST_CASE("Values are limited", "[jinja]") {
  const std::string bytes = "bytes of values, got more";
  check_too_large("{{ 'a' * 10**9 }}", bytes);
  check_too_large("{{ [1] * 10**15 }}", bytes);
  check_too_large("{{ 'abc'|center(10**8) }}", bytes);
  check_too_large(
      "{% set ns = namespace(s='x' * 1000) %}{% for i in range(90) %}"
      "{% set ns.s = ns.s + ns.s %}{% endfor %}",
      bytes);
  check_too_large("{{ '%999999999d' % 1 }}", "characters or digits in a format");
  check_too_large("{{ range(10**9) }}",
                  "Range too big. The sandbox blocks ranges larger than "
                  "MAX_RANGE (100000).");
  const std::string levels = "expected at most 100 levels of values, got more";
  check_too_large(
      "{% set ns = namespace(a=[]) %}{% for i in range(1000) %}"
      "{% set ns.a = [ns.a] %}{% endfor %}",
      levels);
  check_too_large("{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}", levels);
}

TEST_CASE("Integers that do not fit are refused", "[jinja]") {
  const std::string message = "integers of more than 64 bits are not supported";
  for (const char* expression :
       {"99999999999999999999", "9223372036854775807 + 1", "10 ** 19", "3037000500 * 3037000500",
        "-(-9223372036854775807 - 1)", "(-9223372036854775807 - 1) // -1",
        "(-9223372036854775807 - 1)|abs", "'99999999999999999999'|int", "1e300|int"}) {
    check_unsupported("{{ " + std::string(expression) + " }}", message);
  }
  CHECK(rendered("{{ (-9223372036854775807 - 1) % -1 }}") == "0");
}

TEST_CASE("Steps and the result are limited", "[jinja]") {
  check_too_large(
      "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
      "expected at most 2000000 steps, got more");
  check_too_large("{% for a in range(10) %}{{ 'x' * 2000000 }}{% endfor %}",
                  "expected at most 16777216 bytes of text, got more");
  // Lists that share items, whose text would be exponentially large.
  check_too_large(
      "{% set ns = namespace(a=[1]) %}{% for i in range(90) %}"
      "{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns.a }}",
      "steps");
  // A search that is slow without a table.
  check_too_large(
      "{% for i in range(1000) %}{{ ('a' * 1000000).find('a' * 500000 ~ 'b') }}"
      "{% endfor %}",
      "steps");
  jinja::RenderOptions few;
  few.limits = {.steps = 50, .output_bytes = 10, .value_bytes = 1000};
  CHECK(rendered("0123456789", few) == "0123456789");
  test::check_error(ErrorCode::too_large, "line 3: expected at most 10 bytes of text",
                    [&] { rendered("a\nb\n{{ '0123456789' }}", few); });
  test::check_error(ErrorCode::too_large, "expected at most 50 steps",
                    [&] { rendered("{% for i in range(99) %}{% endfor %}", few); });
}

TEST_CASE("Sources that are too large or not UTF-8 are refused", "[jinja]") {
  check_too_large(std::string(600'000, 'x'), "expected at most 524288 bytes, got 600000");
  check_unsupported("a\xFF", "expected UTF-8");
  std::string names;
  for (int i = 0; i < 2000; ++i) names += "{{ a" + std::to_string(i) + " }}";
  check_too_large(names, "expected at most 1000 different variables, got more");
  CHECK(rendered(std::string_view("a\0b", 3)) == std::string_view("a\0b", 3));
  check_unsupported(std::string_view("{{ \0 }}", 7), "unexpected char '\\0'");
}

TEST_CASE("What is not supported is refused by its name", "[jinja]") {
  check_unsupported("{{ [1]|random }}", "random");
  check_unsupported("{{ 'a'|urlize }}", "urlize");
  check_unsupported("{{ lipsum() }}", "lipsum");
  check_unsupported("{{ self.a() }}", "self");
  check_unsupported("{% include 'a' %}", "the statement 'include' is not supported");
  check_unsupported("{{ strftime_now('%Q') }}", "the directive %Q of a date is not supported");
  check_unsupported("{{ [1]|map('string') }}", "a value of type 'generator'");
  check_unsupported("{{ [].append }}{{ [].append(1) }}",
                    "access to attribute 'append' of 'list' object is unsafe.");
}

TEST_CASE("Variables are read from JSON", "[jinja]") {
  const auto value = [](std::string_view json) {
    return jinja::from_json(parse_json(json, {ErrorCode::invalid_option, "variables"}));
  };
  const jinja::Value variables =
      value(R"({"i": -3, "f": 3.0, "e": 1e2, "s": "é", "d": {"b": [1, null],
    "a": true}})");
  CHECK(jinja::Template("{{ i }} {{ f }} {{ e }} {{ s }} {{ d }}").render(variables) ==
        "-3 3.0 100.0 é {'b': [1, None], 'a': True}");
  test::check_error(ErrorCode::invalid_option, "integers of at most 64 bits",
                    [&] { value("[18446744073709551616]"); });
  test::check_error(ErrorCode::invalid_option, "expected a dict",
                    [&] { jinja::Template("x").render(jinja::Value::list({})); });
  CHECK(jinja::Template("{{ x }}").render(jinja::Value::dict({{"x", jinja::Value("a\xFF")}})) ==
        "a\uFFFD");
}

}  // namespace
}  // namespace glassformer
