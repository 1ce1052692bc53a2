#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/strings/base64.hpp"
#include "support/error_of.hpp"
#include "support/text_fixture.hpp"
#include "text/composed/composed_tokenizer.hpp"
#include "text/hub/tokenizer_files.hpp"
#include "text/hub/tokenizer_json.hpp"

namespace glassformer {
namespace {

using nlohmann::json;

const std::string folder = GLASSFORMER_SOURCE_DIR "/tests/fixtures/data/tokenizers/";

std::string read(const std::string& name) { return test::read_text(folder + name); }

ComposedTokenizer compose(const std::string& file) {
  return ComposedTokenizer(parse_tokenizer_json(file));
}

// The files of a tokenizer, which exist only in memory.
using Files = std::map<std::string, std::string, std::less<>>;
std::unique_ptr<Tokenizer> from_files(const Files& files,
                                      TokenizerSide side = TokenizerSide::source,
                                      std::string_view usual_class = {}) {
  return read_tokenizer(
      [&](std::string_view name) -> std::optional<std::string_view> {
        const auto found = files.find(name);
        if (found == files.end()) return std::nullopt;
        return found->second;
      },
      {.side = side, .usual_class = usual_class, .lower_case = false});
}

std::vector<std::int32_t> ids(const Tokenizer& tokenizer, std::string_view text) {
  return test::ids_of(tokenizer.encode(text));
}

// Returns the texts that make.py uses.
std::vector<std::string> texts() {
  std::vector<std::string> result;
  const std::vector<std::string> lines = test::lines_of(read("adversarial.txt"));
  for (std::size_t i = 0; i < lines.size(); i += 3) result.push_back(lines[i]);
  const std::vector<std::string> more =
      test::lines_of(test::read_text(test::tokenizer_folder + "text.txt"));
  result.insert(result.end(), more.begin(), more.begin() + 10);
  return result;
}

// Returns a tokenizer.json with one component replaced.
std::string with(const std::string& name, const std::string& key, const std::string& component) {
  json file = json::parse(read(name));
  file[key] = json::parse(component);
  return file.dump();
}

std::string refusal(const std::string& file) {
  try {
    parse_tokenizer_json(file);
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
  return "accepted";
}

std::vector<std::int32_t> special_ids(const std::vector<TemplatePart>& parts, bool before) {
  std::vector<std::int32_t> result;
  bool text = false;
  for (const TemplatePart& part : parts) {
    text |= part.kind != TemplatePart::Kind::special;
    if (part.kind == TemplatePart::Kind::special && text != before) result.push_back(part.id);
  }
  return result;
}

const char* const tokenizers[] = {
    "wordpiece_uncased", "wordpiece_cased", "bytes", "bytes_masked", "unigram",
    "unigram_bytes",     "precompiled",     "mixed", "split",        "split_cased"};

TEST_CASE("ids, ranges and decoded texts match the original library", "[text][composed]") {
  const std::string name = GENERATE(from_range(std::begin(tokenizers), std::end(tokenizers)));
  const ComposedTokenizer tokenizer = compose(read(name + ".json"));
  const std::vector<std::string> lines = texts();
  const std::vector<std::string> expected = test::lines_of(read(name + ".expected"));
  REQUIRE(expected.size() == lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    INFO(name << ", text " << i << ": " << lines[i]);
    const std::size_t tab = expected[i].find('\t');
    const json wanted = json::parse(expected[i].substr(0, tab));
    const std::vector<Token> tokens = tokenizer.encode(lines[i]);
    std::vector<std::uint32_t> ranges;
    for (const Token& token : tokens) {
      ranges.push_back(token.start);
      ranges.push_back(token.end);
    }
    CHECK(test::ids_of(tokens) == wanted[0].get<std::vector<std::int32_t>>());
    json special = special_ids(tokenizer.around().single, true);
    for (const Token& token : tokens) special.push_back(token.id);
    for (const std::int32_t id : special_ids(tokenizer.around().single, false)) {
      special.push_back(id);
    }
    CHECK(special == wanted[1]);
    CHECK(ranges == wanted[2].get<std::vector<std::uint32_t>>());
    CHECK(tokenizer.decode(test::ids_of(tokens)) ==
          json::parse(expected[i].substr(tab + 1)).get<std::string>());
  }
}

// Reads each component of a kind with `make` and compares its output with the original library's;
// components.py describes the file.
template <typename Make>
void expect_original(const char* kind, const Make& make) {
  const json components = json::parse(read("components.json"))[kind];
  REQUIRE(!components.empty());
  for (const json& component : components) {
    const std::string text = component[0].dump();
    const auto run = make(parse_json(text, tokenizer_json));
    for (const json& example : component[1]) {
      INFO(text << " on " << example[0]);
      CHECK(json(run(example[0])) == example[1]);
    }
  }
}

TEST_CASE("each normalizer matches the original library's", "[text][composed]") {
  expect_original("normalizers", [](const JsonValue& component) {
    return [normalizer = read_normalizer(component, "normalizer")](const std::string& text) {
      return to_utf8(normalizer->normalize(read_characters(text)));
    };
  });
}

TEST_CASE("each pre-tokenizer splits text as the original library's", "[text][composed]") {
  expect_original("pre_tokenizers", [](const JsonValue& component) {
    return [splitter = read_pre_tokenizer(component, "pre_tokenizer")](const std::string& text) {
      Words words;
      splitter->split(read_characters(text), words);
      std::vector<std::string> result;
      for (std::size_t i = 0; i < words.size(); ++i) result.push_back(to_utf8(words[i]));
      return result;
    };
  });
}

TEST_CASE("each model splits words as the original library's, including ties of ranks and scores",
          "[text][composed]") {
  expect_original("models", [](const JsonValue& component) {
    const std::string model(component.text());
    return [tokenizer = std::make_shared<ComposedTokenizer>(
                parse_tokenizer_json("{\"model\":" + model + "}"))](const std::string& word) {
      return ids(*tokenizer, word);
    };
  });
}

TEST_CASE("each decoder joins tokens as the original library's", "[text][composed]") {
  expect_original("decoders", [](const JsonValue& component) {
    return [decoder = read_decoder(component, "decoder")](const std::vector<std::string>& tokens) {
      std::string text;
      for (const std::string& part : decoder->decode(tokens)) text += part;
      return text;
    };
  });
}

TEST_CASE("each post-processor adds the original library's tokens", "[text][composed]") {
  expect_original("post_processors", [](const JsonValue& component) {
    PostProcessor processor;
    if (component.is_object()) processor = read_post_processor(component, "post_processor");
    return [processor](std::size_t texts) {
      std::vector<std::int32_t> ids, types;
      for (const TemplatePart& part :
           texts == 1 ? processor.around.single : processor.around.pair) {
        using enum TemplatePart::Kind;
        ids.push_back(part.kind == first_text ? 10 : part.kind == second_text ? 11 : part.id);
        types.push_back(part.type);
      }
      return json{ids, types};
    };
  });
}

TEST_CASE("a vocabulary of words gives the same ids without tokenizer.json", "[text][composed]") {
  const bool lower_case = GENERATE(true, false);
  const std::string name = lower_case ? "wordpiece_uncased" : "wordpiece_cased";
  const json vocabulary = json::parse(read(name + ".json"))["model"]["vocab"];
  std::vector<std::string> words(vocabulary.size());
  for (const auto& [word, id] : vocabulary.items()) words[id.get<std::size_t>()] = word;
  Files files;
  for (const std::string& word : words) files["vocab.txt"] += word + " \r\n";
  if (!lower_case) files["tokenizer_config.json"] = R"({"do_lower_case": false, "other": {}})";
  const auto tokenizer = from_files(files);
  const ComposedTokenizer original = compose(read(name + ".json"));
  for (const std::string& text : texts()) CHECK(tokenizer->encode(text) == original.encode(text));
  CHECK(special_ids(tokenizer->around().pair, true) == special_ids(original.around().pair, true));
  CHECK(tokenizer->around().pair.back().type == 1);
}

TEST_CASE("merges give the same ids without tokenizer.json", "[text][composed]") {
  const bool masked = GENERATE(true, false);
  const std::string name = masked ? "bytes_masked" : "bytes";
  json file = json::parse(read(name + ".json"));
  Files files{{"merges.txt", "#version: 0.2\n"}};
  for (const json& merge : file["model"]["merges"]) {
    files["merges.txt"] += merge[0].get<std::string>() + " " + merge[1].get<std::string>() + "\n";
  }
  json vocabulary = file["model"]["vocab"];
  if (masked) {
    files["tokenizer_config.json"] =
        R"({"add_prefix_space": true, "tokenizer_class": "RobertaTokenizer"})";
    // Only the special tokens are still matched in the text.
    json& added = file["added_tokens"];
    added.erase(added.end() - 2, added.end());
    vocabulary["<mask>"] = file["added_tokens"].back()["id"];
  }
  files["vocab.json"] = vocabulary.dump();
  const auto tokenizer = from_files(files, TokenizerSide::source, "GPT2Tokenizer");
  const ComposedTokenizer original = compose(file.dump());
  for (const std::string& text : texts()) CHECK(tokenizer->encode(text) == original.encode(text));
  CHECK(tokenizer->around().single.size() == original.around().single.size());
  CHECK(tokenizer->around().pair.size() == (masked ? 6 : 2));
}

TEST_CASE("a SentencePiece model with a separate vocabulary uses the ids of its pieces' texts",
          "[text][composed]") {
  const SentencePieceTokenizer pieces = test::tokenizer_named("unigram");
  json vocabulary = {{"</s>", 0}, {"<unk>", 1}, {"<pad>", 2}, {">>pt<<", 3}, {"漢字", 4}};
  for (std::size_t i = pieces.size(); i-- > 3;) {
    vocabulary[std::string(pieces.piece(static_cast<std::int32_t>(i)))] = vocabulary.size();
  }
  const std::string model = test::read_text(test::tokenizer_folder + "unigram.model");
  const Files files{
      {"source.spm", model}, {"target.spm", model}, {"vocab.json", vocabulary.dump()}};
  const auto tokenizer = from_files(files);

  const std::string plain = "The film was good.";
  std::vector<std::int32_t> expected;
  for (const Token& token : pieces.encode(plain)) {
    expected.push_back(*tokenizer->find(pieces.piece(token.id)));
  }
  CHECK(ids(*tokenizer, plain) == expected);
  CHECK(tokenizer->decode(expected) == plain);
  expected.insert(expected.begin(), 3);
  CHECK(ids(*tokenizer, ">>pt<<" + plain) == expected);
  CHECK(tokenizer->encode(">>pt<<a")[0] == Token{3, 0, 6});
  expected[0] = 1;  // an unknown code
  CHECK(ids(*tokenizer, ">>xx<<" + plain) == expected);
  // The vocabulary may have entries that are not pieces; special tokens are matched in the text.
  CHECK(ids(*tokenizer, "漢字").back() == 4);
  CHECK(tokenizer->encode("a</s>").back() == Token{0, 1, 5});
  CHECK(special_ids(tokenizer->around().single, false) == std::vector<std::int32_t>{0});
  CHECK(from_files(files, TokenizerSide::target)->size() == vocabulary.size());
}

TEST_CASE("a SentencePiece model may have extra tokens", "[text][composed]") {
  const SentencePieceTokenizer pieces = test::tokenizer_named("unigram");
  const auto tokenizer = from_files(
      {{"spiece.model", test::read_text(test::tokenizer_folder + "unigram.model")},
       {"tokenizer_config.json", R"({"extra_ids": 3, "unk_token": {"content": "<unk>"}})"}});
  CHECK(tokenizer->size() == pieces.size() + 4);  // "<pad>", which this model lacks, is the last
  CHECK(tokenizer->find("<extra_id_0>") == static_cast<std::int32_t>(pieces.size() + 2));
  CHECK(ids(*tokenizer, "The film was good.") == test::ids_of(pieces.encode("The film was good.")));
  CHECK(ids(*tokenizer, "a<extra_id_2>").back() == static_cast<std::int32_t>(pieces.size()));
}

TEST_CASE("a SentencePiece model may have its own special tokens before the pieces",
          "[text][composed]") {
  const SentencePieceTokenizer pieces = test::tokenizer_named("unigram");
  const Files files{
      {"sentencepiece.bpe.model", test::read_text(test::tokenizer_folder + "unigram.model")}};
  const auto tokenizer = from_files(files);
  const auto mask = static_cast<std::int32_t>(pieces.size() + 1);
  CHECK(tokenizer->size() == pieces.size() + 2);
  const char* const specials[] = {"<s>", "<pad>", "</s>", "<unk>"};
  for (std::int32_t id = 0; id < 4; ++id) CHECK(tokenizer->find(specials[id]) == id);
  CHECK(tokenizer->find("<mask>") == mask);
  CHECK(tokenizer->is_control(mask));
  CHECK_FALSE(tokenizer->is_control(4));

  // Each piece's id is shifted by one, and the unknown token is one of the special tokens.
  const std::string text = "The film was good.";
  std::vector<std::int32_t> expected;
  for (const Token& token : pieces.encode(text)) expected.push_back(token.id + 1);
  CHECK(ids(*tokenizer, text) == expected);
  CHECK(tokenizer->decode(expected) == text);
  CHECK(ids(*tokenizer, "漢").back() == 3);
  CHECK(tokenizer->encode("a  <mask>").back() == Token{mask, 1, 9});  // with the spaces before it
  CHECK(special_ids(tokenizer->around().single, true) == std::vector<std::int32_t>{0});
  CHECK(special_ids(tokenizer->around().pair, false) == std::vector<std::int32_t>{2, 2, 2});
}

TEST_CASE("damaged or missing files of a tokenizer are refused by name", "[text][composed]") {
  const auto refused = [](const Files& files, TokenizerSide side = TokenizerSide::source) {
    const Error error = test::error_of([&] { from_files(files, side); });
    return std::string(to_string(error.code())) + ": " + error.what();
  };
  const std::string unigram = test::read_text(test::tokenizer_folder + "unigram.model");
  const std::string bpe = test::read_text(test::tokenizer_folder + "bpe.model");
  const std::pair<const std::string, std::string> gpt2{"tokenizer_config.json",
                                                       R"({"tokenizer_class": "GPT2Tokenizer"})"};
  CHECK(refused({{"merges.txt", "a b\n"}, gpt2}) ==
        "invalid_tokenizer: vocab.json: missing; the tokenizer needs it");
  CHECK(refused({{"merges.txt", "a b c\n"}, {"vocab.json", R"({"a": 0})"}, gpt2}) ==
        "invalid_tokenizer: merges.txt: expected two tokens with a space between them, got "
        "\"a b c\"");
  CHECK(refused({{"merges.txt", ""}, {"vocab.json", "[]"}, gpt2}) ==
        "invalid_tokenizer: vocab.json: expected an object, got []");
  CHECK(refused({{"merges.txt", ""}, {"vocab.json", R"({"a": -1})"}, gpt2}) ==
        "invalid_tokenizer: vocab.json: \"a\": expected a token id, got -1");
  CHECK(refused({{"merges.txt", ""}, {"vocab.json", R"({"a": 5000000})"}, gpt2}) ==
        "invalid_tokenizer: vocabulary: token \"a\": expected an id from 0 to 4194304");
  CHECK(refused({{"merges.txt", ""}, {"vocab.json", "{}"}}) ==
        "invalid_tokenizer: tokenizer_config.json: tokenizer_class: expected the class that reads "
        "merges.txt, such as \"GPT2Tokenizer\" or \"RobertaTokenizer\", got none; add it, or "
        "config.json with a model_type");
  CHECK(refused({{"vocab.txt", "[SEP]\n"}}) ==
        "invalid_tokenizer: vocabulary: expected the token \"[UNK]\", which is missing");
  CHECK(refused({{"vocab.txt", "[UNK]\n"}, {"tokenizer_config.json", "[]"}}) ==
        "invalid_tokenizer: tokenizer_config.json: expected an object of at most 1000 fields, got "
        "[]");
  CHECK(refused({{"source.model", unigram}}, TokenizerSide::target) ==
        "missing_file: target.model: expected it with source.model, got none");
  CHECK(refused({{"source.spm", unigram}}) ==
        "invalid_tokenizer: vocab.json: missing; the tokenizer needs it");
  // With separate vocabularies, the target's file is required, too.
  CHECK(refused({{"source.spm", unigram},
                 {"target.spm", unigram},
                 {"vocab.json", "{}"},
                 {"tokenizer_config.json", R"({"separate_vocabs": true})"}},
                TokenizerSide::target) ==
        "invalid_tokenizer: target_vocab.json: missing; the tokenizer needs it");
  const std::string kind =
      "unsupported: the SentencePiece model: expected one of kind Unigram, got BPE; the tokenizer "
      "must be saved again as tokenizer.json";
  CHECK(refused({{"spiece.model", bpe}}) == kind);
  CHECK(refused({{"sentencepiece.bpe.model", bpe}}) == kind);
  CHECK(refused(
            {{"spiece.model", unigram}, {"tokenizer_config.json", R"({"unk_token": "[UNK]"})"}}) ==
        "invalid_tokenizer: the SentencePiece model: the unknown piece \"[UNK]\" is missing");
}

TEST_CASE("each token has a displayed text", "[text][composed]") {
  const auto shown = [](const Tokenizer& tokenizer, std::string_view text) {
    std::vector<std::string> result;
    for (const Token& token : tokenizer.encode(text)) {
      result.push_back(tokenizer.display_text(token.id));
    }
    return result;
  };
  const auto joined = [&](const Tokenizer& tokenizer, std::string_view text) {
    std::string result;
    for (const std::string& part : shown(tokenizer, text)) result += part;
    return result;
  };
  const auto reading = [](const Tokenizer& tokenizer, std::string_view name) {
    return tokenizer.display_text(tokenizer.find(name).value());
  };

  SECTION("a space begins a word, and no mark of the vocabulary is left") {
    for (const char* name : {"wordpiece_cased", "bytes_masked", "unigram"}) {
      CHECK(joined(compose(read(std::string(name) + ".json")), "the film") == " the film");
    }
    const std::string text = " it was the best story ever told.";
    for (const char* name : {"unigram", "unigram_bytes", "bpe", "bpe_bytes"}) {
      CHECK(joined(test::tokenizer_named(name), text) == text);
    }
    CHECK(reading(test::tokenizer_named("unigram"), "\xE2\x96\x81the") == " the");
    CHECK(reading(test::tokenizer_named("unigram"), "\xE2\x96\x81") == " ");
    const ComposedTokenizer pieces = compose(read("wordpiece_cased.json"));
    CHECK(reading(pieces, "the") == " the");
    CHECK(reading(pieces, "##n") == "n");
    CHECK(reading(compose(read("bytes.json")), "\xC4\xA0the") == " the");
  }

  SECTION("special and unknown tokens read as their names") {
    for (const char* name : {"[CLS]", "[SEP]", "[UNK]"}) {
      CHECK(reading(compose(read("wordpiece_cased.json")), name) == name);
    }
    for (const char* name : {"<s>", "</s>", "<unk>"}) {
      CHECK(reading(test::tokenizer_named("unigram"), name) == name);
      CHECK(reading(compose(read("bytes_masked.json")), name) == name);
    }
    const std::string model = test::read_text(test::tokenizer_folder + "unigram.model");
    const auto renumbered = from_files({{"source.spm", model},
                                        {"target.spm", model},
                                        {"vocab.json", R"({"</s>": 0, "<unk>": 1, "<pad>": 2,
                                            "▁the": 3})"}});
    CHECK(shown(*renumbered, "the</s>") == std::vector<std::string>{" the", "</s>"});
    CHECK(reading(*renumbered, "<unk>") == "<unk>");
  }

  SECTION("added tokens read as themselves") {
    CHECK(shown(compose(read("bytes_masked.json")), "a naïve") ==
          std::vector<std::string>{" a", " ", "naïve"});
  }

  SECTION("bytes read as characters where they are whole, as their names elsewhere") {
    const std::vector<std::string> bytes{"<0xF0>", "<0x9F>", "<0xA6>", "<0x93>"};
    const auto last_four = [&](const Tokenizer& tokenizer) {
      const std::vector<std::string> all = shown(tokenizer, "🦓");
      REQUIRE(all.size() >= 4);
      return std::vector<std::string>(all.end() - 4, all.end());
    };
    const std::string llama = with("unigram_bytes.json", "decoder", R"({"type": "Sequence",
        "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                     {"type": "ByteFallback"}, {"type": "Fuse"}]})");
    CHECK(last_four(compose(llama)) == bytes);
    CHECK(last_four(test::tokenizer_named("unigram_bytes")) == bytes);
    CHECK(last_four(compose(read("bytes.json"))) == bytes);
    CHECK(reading(compose(llama), "<0x41>") == "A");
    CHECK(reading(test::tokenizer_named("unigram_bytes"), "<0x41>") == "A");
    CHECK(reading(test::tokenizer_named("unigram_bytes"), "<0x0A>") == "\n");
    CHECK(reading(compose(read("bytes.json")), "\xC4\x8A") == "\n");
    CHECK(shown(compose(read("bytes_masked.json")), "は").back() == "は");
  }
}

TEST_CASE("tokens record where the pre-tokenizer's words start", "[text][composed]") {
  const auto starts = [](const std::string& name, std::string_view text) {
    std::string digits;
    for (const Token& token : compose(read(name + ".json")).encode(text)) {
      digits += token.starts_word ? '1' : '0';
    }
    return digits;
  };
  // 1 where the original library's word_ids change.
  CHECK(starts("wordpiece_cased", "A naïve film, isn't it? 日本 [MASK]x") == "11111011111111");
  CHECK(starts("bytes_masked", "don't know  the films naïve<mask>!") == "101100111011110");
  CHECK(starts("unigram", "The film, I think") == "1101100000");
}

TEST_CASE("a decoder's text only grows, by whole characters", "[text][composed]") {
  const ComposedTokenizer tokenizer = compose(read("bytes.json"));
  const auto decoder = tokenizer.make_decoder();
  std::string before;
  for (const Token& token : tokenizer.encode("naïve 😀 日本")) {
    decoder->push(token.id);
    CHECK(decoder->text().starts_with(before));
    CHECK(decoder->text().find("\xEF\xBF\xBD") == std::string::npos);
    before = decoder->text();
  }
  decoder->finish();
  CHECK(decoder->text() == "naïve 😀 日本");
}

TEST_CASE("unsupported parts of a tokenizer.json are refused by name", "[text][composed]") {
  const char* const file = "wordpiece_cased.json";
  CHECK(refusal(with(file, "normalizer", R"({"type": "Nmt"})")) ==
        "unsupported: tokenizer.json: normalizer: type: expected one of BertNormalizer, ByteLevel, "
        "Lowercase, NFC, NFD, NFKC, NFKD, Precompiled, Prepend, Replace, Sequence, Strip, "
        "StripAccents, got \"Nmt\"; the tokenizer must be saved again without it, or the text "
        "prepared elsewhere");
  for (const char* key : {"pre_tokenizer", "post_processor", "decoder", "model"}) {
    INFO(key);
    const std::string message = refusal(with(file, key, R"({"type": "Wonderful"})"));
    CHECK(message.starts_with("unsupported: tokenizer.json: " + std::string(key) + ": type: "));
    CHECK(message.find("got \"Wonderful\"") != std::string::npos);
  }
  const std::string regex = refusal(with(file, "pre_tokenizer", R"({"type": "Sequence",
      "pretokenizers": [{"type": "Split", "pattern": {"Regex": "(a)\\1"}, "behavior":
                         "Removed", "invert": false}]})"));
  CHECK(regex.starts_with("unsupported: tokenizer.json: pre_tokenizer: pretokenizers[0]: pattern"));
  CHECK(refusal(with(file, "normalizer", R"({"type": "Lowercase", "more": 1})")) ==
        "invalid_tokenizer: tokenizer.json: normalizer: \"more\": unknown field");
  CHECK(refusal(with("bytes.json", "model", R"({"type": "BPE", "dropout": 0.1, "vocab": {},
      "merges": []})"))
            .starts_with("unsupported: tokenizer.json: model: dropout: "));
}

TEST_CASE("a tokenizer.json that contradicts itself is refused", "[text][composed]") {
  const auto model = [](const std::string& text) { return refusal(R"({"model": )" + text + "}"); };
  const std::string wordpiece = R"({"type": "WordPiece", "unk_token": "[UNK]",
      "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": )";
  CHECK(model(wordpiece + R"({"a": 0}})") ==
        "invalid_tokenizer: vocabulary: expected the token \"[UNK]\", which is missing");
  CHECK(model(wordpiece + R"({"a": 0, "b": 0}})") ==
        "invalid_tokenizer: vocabulary: token \"b\": its id 0 is taken already");
  CHECK(model(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]})") ==
        "invalid_tokenizer: vocabulary: expected the token \"b\", which is missing");
  CHECK(model(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["aa"]})") ==
        "invalid_tokenizer: tokenizer.json: model: merges: expected two tokens with a space "
        "between them, got \"aa\"");
  CHECK(model(R"({"type": "Unigram", "vocab": [["a", "b"]]})") ==
        "invalid_tokenizer: tokenizer.json: model: vocab: expected a token and its score, got "
        "[\"a\",\"b\"]");
  CHECK_THROWS_AS(from_files({}), Error);
  CHECK_THROWS_AS(from_files({{"merges.txt", ""}}), Error);
}

TEST_CASE("a component with a field of the wrong type is refused with the field's name",
          "[text][composed]") {
  struct Case {
    const char *key, *component, *message;
  };
  const std::vector<Case> cases{
      {"normalizer", R"({"type": "Sequence", "normalizers": {}})",
       "normalizer: normalizers: expected an array, got {}"},
      {"normalizer", R"({"type": "Sequence", "normalizers": [{"type": "NFC"}, {}]})",
       "normalizer: normalizers[1]: type: missing"},
      {"normalizer", R"({"type": "Precompiled", "precompiled_charsmap": "AA=A"})",
       "normalizer: precompiled_charsmap: expected base64"},
      {"normalizer", R"({"type": "Strip", "strip_left": 1, "strip_right": true})",
       "normalizer: strip_left: expected true or false, got 1"},
      {"normalizer", R"({"type": "Replace", "pattern": {"String": "a", "Regex": "b"},
                         "content": ""})",
       "normalizer: pattern: \"Regex\": unknown field"},
      {"pre_tokenizer", R"({"type": "Metaspace", "replacement": "__"})",
       "pre_tokenizer: replacement: expected one character, got \"__\""},
      {"pre_tokenizer", R"({"type": "Metaspace", "replacement": "_", "prepend_scheme": "last"})",
       "pre_tokenizer: prepend_scheme: expected one of always, first, never, got \"last\""},
      {"pre_tokenizer", R"({"type": "Punctuation", "behavior": "Merged"})",
       "pre_tokenizer: behavior: expected one of Removed, Isolated, MergedWithPrevious, "
       "MergedWithNext, Contiguous, got \"Merged\""},
      {"decoder", R"({"type": "Strip", "content": "", "start": 0, "stop": 0})",
       "decoder: content: expected one character, got \"\""},
      {"decoder", R"({"type": "Strip", "content": "a", "start": -1, "stop": 0})",
       "decoder: start: expected a whole number from 0 to 1000000, got -1"},
      {"post_processor", R"({"type": "BertProcessing", "sep": ["[SEP]"], "cls": ["[CLS]", 0]})",
       "post_processor: sep: expected a token and its id, got [\"[SEP]\"]"},
      {"post_processor", R"({"type": "RobertaProcessing", "sep": ["</s>", 1], "cls": ["<s>", -1]})",
       "post_processor: cls: expected a token id, got -1"},
      {"post_processor",
       R"({"type": "TemplateProcessing", "special_tokens": [], "single": [], "pair": []})",
       "post_processor: special_tokens: expected an object, got []"},
      {"post_processor",
       R"({"type": "TemplateProcessing", "special_tokens": {"a": {"id": "a", "ids": 1, "tokens": []}},
           "single": [], "pair": []})",
       "post_processor: special_tokens: ids: expected an array, got 1"},
      {"post_processor",
       R"({"type": "TemplateProcessing", "special_tokens": {}, "single": "$A", "pair": []})",
       "post_processor: single: expected an array, got \"$A\""},
      {"post_processor",
       R"({"type": "TemplateProcessing", "special_tokens": {}, "pair": [],
           "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}]})",
       "post_processor: single: id: expected one of special_tokens, got \"[CLS]\""},
      {"post_processor",
       R"({"type": "TemplateProcessing", "special_tokens": {}, "single": [],
           "pair": [{"Sequence": {"id": "C", "type_id": 0}}]})",
       "post_processor: pair: id: expected \"A\" or, for a pair, \"B\", got \"C\""},
      {"model", R"({"type": "Unigram", "vocab": {}})", "model: vocab: expected an array, got {}"},
      {"model", R"({"type": "WordPiece", "unk_token": "a", "continuing_subword_prefix": "",
                    "max_input_chars_per_word": 9, "vocab": []})",
       "model: vocab: expected an object, got []"},
      {"model", R"({"type": "BPE", "vocab": {"a": 1.5}, "merges": []})",
       "model: vocab: expected a token id, got 1.5"},
      {"model", R"({"type": "BPE", "vocab": {}, "merges": {}})",
       "model: merges: expected an array, got {}"},
      {"added_tokens", "{}", "added_tokens: expected an array, got {}"},
      {"added_tokens", R"([{"id": 7}])", "added_tokens: single_word: missing"},
  };
  for (const auto& [key, component, message] : cases) {
    CHECK(refusal(with("wordpiece_cased.json", key, component)) ==
          std::string("invalid_tokenizer: tokenizer.json: ") + message);
  }
}

TEST_CASE("base64 is read as defined in RFC 4648", "[text][composed]") {
  for (const auto& [text, bytes] : std::map<std::string, std::string>{{"", ""},
                                                                      {"Zg==", "f"},
                                                                      {"Zm8=", "fo"},
                                                                      {"Zm9v", "foo"},
                                                                      {"Zm9vYg==", "foob"},
                                                                      {"Zm9vYmE=", "fooba"},
                                                                      {"Zm9vYmFy", "foobar"},
                                                                      {"+/+/", "\xFB\xFF\xBF"}}) {
    CHECK(decode_base64(text) == bytes);
  }
  for (const char* text : {"Z", "Zm9vY", "Zm 9", "Zm9v\n", "Z=g=", "-_-_", "Zg==="}) {
    INFO(text);
    CHECK_FALSE(decode_base64(text));
  }
}

}  // namespace
}  // namespace glassformer
