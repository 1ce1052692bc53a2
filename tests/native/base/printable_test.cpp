#include "base/strings/printable.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "base/error.hpp"

namespace glassformer {
namespace {

using namespace std::string_literals;

TEST_CASE("characters that could control a terminal are escaped", "[text]") {
  CHECK(printable("plain, naïve, 日本 😀") == "plain, naïve, 日本 😀");
  CHECK(printable("a\0b\tc\nd\re\x1b[2Jf\x7f"s) == "a\\0b\\tc\\nd\\re\\x1b[2Jf\\x7f");
  CHECK(printable("\u009b31m") == "\\x9b31m");
  CHECK(printable("model\u202egpj.exe\u2066") == "model\\u202egpj.exe\\u2066");
  CHECK(printable("a\xff\xc3") == "a\uFFFD\uFFFD");
  CHECK(printable("").empty());
}

TEST_CASE("a result stays on its line", "[text]") {
  CHECK(on_one_line("a\tb\nc\rd\x1b") == "a\tb\\nc\\rd\\x1b");
  CHECK(on_one_line("\u200eabc\u202c") == "\u200eabc\u202c");
}

TEST_CASE("a message shows every character, and its length is limited", "[errors]") {
  const Error hidden(ErrorCode::internal, "file \"a\0b\x1b[31m\": expected none"s);
  CHECK(hidden.what() == "file \"a\\0b\\x1b[31m\": expected none"s);
  const std::string name(70'000, 'x');
  const std::string message =
      Error(ErrorCode::internal, "begin " + name + ": expected the end").what();
  CHECK(message.size() < 4100);
  CHECK(message.starts_with("begin xxx"));
  CHECK(message.ends_with("xxx: expected the end"));
  std::string characters;
  while (characters.size() < 10'000) characters += "é";
  const std::string cut = Error(ErrorCode::internal, characters).what();
  CHECK(cut.find("\uFFFD") == std::string::npos);
}

}  // namespace
}  // namespace glassformer
