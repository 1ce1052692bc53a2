// Sentence splitting of real prose, informal text and hostile bytes.

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "base/strings/utf8.hpp"
#include "text/sentences.hpp"

namespace glassformer::test {
namespace {

// Splits the text without its bars, and inserts a bar between the found sentences.
std::string split(const std::string& marked) {
  std::string text;
  for (char c : marked) {
    if (c != '|') text += c;
  }
  std::string result;
  std::size_t end = 0;
  for (const SentenceRange& sentence : split_sentences(text)) {
    result += text.substr(end, sentence.begin - end);
    if (end > 0) result += '|';
    result += text.substr(sentence.begin, sentence.end - sentence.begin);
    end = sentence.end;
  }
  return result + text.substr(end);
}

}  // namespace

TEST_CASE("sentences end where a human reader would end them", "[text]") {
  for (const std::string text : {
           // plain
           "How are you?",
           "How are you? |I am fine. |Thanks!",
           "It works.  |Two spaces.\t|A tab.",
           "Really?! |Yes!!! |No...",
           "No stop at the end",
           "Wait. |What?",
           "One.Two.Three",
           "Is it 5? |7 is more.",
           // abbreviations
           "Mr. Smith met Dr. Jones and Mrs. Brown.",
           "Prof. Lee teaches in St. Louis.",
           "I like fruit, e.g. Apples, i.e. food.",
           "It is Smith vs. Jones today.",
           "The U.S. Senate voted. |It passed.",
           "He lives in the U.S. |He likes it.",
           "At 5 p.m. Eastern time we left.",
           "We met at 5 p.m. |It was late.",
           "She has a Ph.D. in physics. |He has none.",
           "Apple Inc. Chairman Arthur Levinson spoke.",
           "He works for Apple Inc. |The company is large.",
           "See Fig. 3 and No. 5 on p. 12 of vol. 2.",
           "On Nov. 5 it rained. |In Dec. 1999 it did not.",
           "I said no. |You said yes.",
           "Gov. Brown and Sens. Warren and Lee met Det. Jones.",
           "Martin Luther King Jr. Day is a holiday.",
           // initials and lists
           "J. R. R. Tolkien wrote it. |George W. Bush did not.",
           "He and I. |We went home.",
           "They saw Tom and I. |Nobody else came.",
           "I. Newton wrote it.",
           "This is plan B. |It is worse.",
           "1. Open the door. |2. Go in.",
           "a. First",
           // numbers
           "It costs 3.50 dollars. |Pi is 3.14159.",
           "Version 2.0.1 is out. |Get it.",
           "In 1990. |Then in 1991.",
           "It grew by 5.5%. |That is much.",
           "Visit www.example.com. |Now.",
           "At 9.30 a.m. he left.",
           // ellipses
           "Well... maybe not.",
           "Well\u2026 maybe.",
           "I wonder... |Tom is late.",
           "... and so on.",
           // quotes and brackets
           "\"Stop!\" he said.",
           "\u201CStop!\u201D she said. |He stopped.",
           "He said: \"Go home.\" |Then he left.",
           "(She left.) |He stayed.",
           "He asked \"why?\" and left.",
           "\u2018Yes.\u2019 |\u2018No.\u2019",
           "It works (mostly). |Try it.",
           "\"Is it?\" |\"It is.\"",
           "- Yes. |- No.",
           "Yes. |\u2014 No.",
           // lower case
           "hello there. |how are you? |fine. |thanks",
           "i like it! |it is good",
           "how are you? |I am fine. |what about you?",
           "He lives on 5th Ave. near us.",
           "I bought it. iPhones are small.",
           "ok... sure",
           // lines
           "A title\n|A text.",
           "One line\r\n|another line",
           "first\n\n\n|second",
           "Mr.\n|Smith",
           // other scripts
           "\u00C9t\u00E9. |\u00C9cole.",
           "\u041F\u0440\u0438\u0432\u0435\u0442. |\u041A\u0430\u043A \u0434\u0435\u043B\u0430?",
           "\u4F60\u597D\u3002|\u518D\u89C1\u3002",
           "Nice \U0001F600. |\U0001F600 indeed!",
           "\u00BFQu\u00E9? |\u00A1Nada!",
       }) {
    CHECK(split(text) == text);
  }
}

TEST_CASE("white space around sentences is in no sentence", "[text]") {
  CHECK(split_sentences("").empty());
  CHECK(split_sentences(" \n\t \xC2\xA0\xE3\x80\x80 ").empty());
  const auto one = split_sentences("  \n Hi.\xC2\xA0 ");
  REQUIRE(one.size() == 1);
  CHECK((one[0].begin == 4 && one[0].end == 7));
}

TEST_CASE("offsets count bytes and UTF-16 units", "[text]") {
  const std::string text = "\U0001F600 \u00E4. Ja.";
  const auto sentences = split_sentences(text);
  REQUIRE(sentences.size() == 2);
  CHECK(text.substr(sentences[1].begin) == "Ja.");
  CHECK((sentences[0].start16 == 0 && sentences[0].end16 == 5));
  CHECK((sentences[1].start16 == 6 && sentences[1].end16 == 9));
}

TEST_CASE("any bytes are split, in order and completely", "[text]") {
  std::uint32_t state = 1;
  const std::string_view alphabet = ".!? \n\"')aA1\xC3\xA4\xFF\xE2\x80\xA6 ";
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 30; ++i) {
      state = state * 1664525 + 1013904223;
      text += alphabet[(state >> 16) % alphabet.size()];
    }
    const std::string_view all = text;
    std::size_t end = 0;
    for (const SentenceRange& sentence : split_sentences(text)) {
      REQUIRE(sentence.begin >= end);
      REQUIRE(sentence.end > sentence.begin);
      REQUIRE(sentence.end <= text.size());
      CHECK(sentence.start16 == utf16_size(all.substr(0, sentence.begin)));
      CHECK(sentence.end16 == utf16_size(all.substr(0, sentence.end)));
      CHECK(split_sentences(all.substr(end, sentence.begin - end)).empty());
      end = sentence.end;
    }
    CHECK(split_sentences(text.substr(end)).empty());
  }
}

}  // namespace glassformer::test
