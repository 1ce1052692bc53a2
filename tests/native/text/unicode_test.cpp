#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "text/characters.hpp"
#include "text/unicode/normal_form.hpp"
#include "text/unicode/unicode.hpp"

namespace glassformer {
namespace {

using namespace unicode;

std::string in_form(const std::string& text, NormalForm form) {
  return to_utf8(normal_form(read_characters(text), form));
}

// Returns the text with a bar after each grapheme cluster.
std::string clusters(const std::string& text) {
  const Characters characters = read_characters(text);
  std::string result;
  for (CharacterSpan rest(characters); !rest.empty();) {
    const std::size_t size = cluster_size(rest);
    result += to_utf8(rest.first(size)) + "|";
    rest = rest.subspan(size);
  }
  return result;
}

TEST_CASE("characters have their Unicode categories", "[text][unicode]") {
  CHECK(is_letter(U'a'));
  CHECK(is_letter(0x4E00));
  CHECK(is_letter(0x3134A));
  CHECK(is_number(U'½'));
  CHECK(is_number(0x2163));
  CHECK(is_mark(0x301));
  CHECK(is_mark(0x903));
  CHECK(is_punctuation(U'_'));
  CHECK(is_punctuation(0x2014));
  CHECK_FALSE(is_punctuation(U'+'));
  CHECK(category(U'A') == Category::uppercase_letter);
  CHECK(category(U'a') == Category::lowercase_letter);
  CHECK(category(0x1C5) == Category::titlecase_letter);
  CHECK(category(0x2B0) == Category::modifier_letter);
  CHECK(category(U'_') == Category::connector_punctuation);
  CHECK(category(U'+') == Category::math_symbol);
  CHECK(category(0x24B6) == Category::letter_symbol);
  CHECK(category(0x3000) == Category::space_separator);
  CHECK(category(0x85) == Category::control);
  CHECK(category(0xAD) == Category::format);
  CHECK(category(0xE000) == Category::private_use);
  CHECK(category(0x378) == Category::unassigned);
  CHECK(category(0x10FFFF) == Category::unassigned);
  CHECK(is_white_space(0x85));
  CHECK_FALSE(is_white_space(0x200B));
  CHECK(is_word(0x24B6));
  CHECK(is_word(0x200D));
  CHECK_FALSE(is_word(U'½'));
}

TEST_CASE("letters are converted to lower case", "[text][unicode]") {
  CHECK(lower_case(U'A') == U'a');
  CHECK(lower_case(U'Σ') == U'σ');
  CHECK(lower_case(U'ẞ') == U'ß');
  CHECK(lower_case(0x10400) == 0x10428);
  CHECK(lower_case(0x100) == 0x101);
  CHECK(lower_case(0x101) == 0x101);
  CHECK(lower_case(0x13A0) == 0xAB70);
}

TEST_CASE("normal forms match examples of the standard's test", "[text][unicode]") {
  struct Row {
    std::string source, nfc, nfd, nfkc, nfkd;
  };
  const std::vector<Row> rows = {
      {"Ḋ", "Ḋ", "D\u0307", "Ḋ", "D\u0307"},
      {"Ḍ\u0307", "Ḍ\u0307", "D\u0323\u0307", "Ḍ\u0307", "D\u0323\u0307"},
      {"Ḋ\u0323", "Ḍ\u0307", "D\u0323\u0307", "Ḍ\u0307", "D\u0323\u0307"},
      {"\u212B", "Å", "A\u030A", "Å", "A\u030A"},
      {"ﬁ½", "ﬁ½", "ﬁ½", "fi1⁄2", "fi1⁄2"},
      {"각가\u11A8", "각각", "\u1100\u1161\u11A8\u1100\u1161\u11A8", "각각",
       "\u1100\u1161\u11A8\u1100\u1161\u11A8"},
      {"\u0958", "\u0915\u093C", "\u0915\u093C", "\u0915\u093C", "\u0915\u093C"},
      {"\u0344", "\u0308\u0301", "\u0308\u0301", "\u0308\u0301", "\u0308\u0301"},
      {"ﷺ", "ﷺ", "ﷺ", "صلى الله عليه وسلم", "صلى الله عليه وسلم"},
      {"\U0001D15E", "\U0001D157\U0001D165", "\U0001D157\U0001D165", "\U0001D157\U0001D165",
       "\U0001D157\U0001D165"},
      {"a\u0301\u0300\u0327", "á\u0327\u0300", "a\u0327\u0301\u0300", "á\u0327\u0300",
       "a\u0327\u0301\u0300"},
  };
  for (const Row& row : rows) {
    INFO(row.source);
    CHECK(in_form(row.source, NormalForm::nfc) == row.nfc);
    CHECK(in_form(row.source, NormalForm::nfd) == row.nfd);
    CHECK(in_form(row.source, NormalForm::nfkc) == row.nfkc);
    CHECK(in_form(row.source, NormalForm::nfkd) == row.nfkd);
  }
}

TEST_CASE("grapheme clusters follow the Unicode rules", "[text][unicode]") {
  CHECK(clusters("ab") == "a|b|");
  CHECK(clusters("\r\n\n\r") == "\r\n|\n|\r|");
  CHECK(clusters("e\u0301\u0323x") == "e\u0301\u0323|x|");
  CHECK(clusters("👍🏽👨‍👩‍👧x") == "👍🏽|👨‍👩‍👧|x|");
  CHECK(clusters("🇫🇷🇩🇪🇫") == "🇫🇷|🇩🇪|🇫|");
  CHECK(clusters("한국\u1112\u1161\u11AB") == "한|국|\u1112\u1161\u11AB|");
  CHECK(clusters("क्षि") == "क्षि|");
  CHECK(clusters("क\u200C्ष") == "क\u200C्|ष|");
  CHECK(clusters("\u0600a\u0001b") == "\u0600a|\u0001|b|");
}

}  // namespace
}  // namespace glassformer
