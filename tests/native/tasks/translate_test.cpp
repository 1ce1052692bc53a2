// Text to translation, on small random models: search, sentences, streaming, options, errors, JSON.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/strings/utf8.hpp"
#include "models/initialize.hpp"
#include "support/text_fixture.hpp"
#include "tasks/embedded_tensors.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer::test {
namespace {

using Catch::Matchers::ContainsSubstring;

ModelConfig config_of(const Tokenizer& source, const Tokenizer& target) {
  ModelConfig config;
  config.task = Task::translation;
  config.source_language = "en";
  config.target_language = "de";
  StackConfig stack;
  stack.tokens().vocab_size = source.size();
  stack.max_length = 40;
  stack.d_model = 32;
  LayerConfig layer;
  layer.attention = {.n_heads = 4, .n_kv_heads = 4, .d_head = 8, .bias = true, .out_bias = true};
  layer.feed_forward.d_ff = 48;
  stack.layers.assign(2, layer);
  stack.tokens().scale_embedding = true;
  stack.layer_norm.eps = 1e-5f;
  stack.final_norm = true;
  config.architecture.encoder = stack;
  stack.tokens().vocab_size = target.size();
  stack.max_length = 24;
  layer.mixer = Mixer::causal;
  stack.layers.assign(2, layer);
  config.architecture.decoder = stack;
  config.architecture.head = {.kind = HeadKind::next_token, .outputs = target.size()};
  config.suffix_tokens = {"</s>"};
  config.start_token = "<s>";
  config.end_token = "</s>";
  return config;
}

// Random weights, with an output layer that is confident and sometimes ends the text.
void fill(std::vector<NamedParameter> parameters, std::int32_t end, std::uint64_t seed) {
  SplitMix64 random(seed);
  for (const NamedParameter& parameter : parameters) {
    std::vector<float> values = initial_values(parameter, random);
    if (parameter.name == "lm_head.weight") {
      for (float& value : values) value *= 8;
    }
    if (parameter.name == "lm_head.bias") values[static_cast<std::size_t>(end)] = 6;
    parameter.set(values, 0);
  }
}

std::unique_ptr<TranslatePipeline> make_translator(const std::string& source = "bpe_bytes",
                                                   const std::string& target = "bpe_bytes",
                                                   std::uint64_t seed = 1) {
  const ModelConfig config = config_of(tokenizer_named(source), tokenizer_named(target));
  std::unique_ptr<Tokenizer> other;
  if (target != source) other = own_tokenizer(target);
  auto pipeline =
      std::make_unique<TranslatePipeline>(config, own_tokenizer(source), std::move(other));
  fill(pipeline->parameters(), *pipeline->target_tokenizer().find("</s>"), seed);
  return pipeline;
}

// Returns the JSON of a text's translation.
nlohmann::json json_of(TranslatePipeline& pipeline, std::string_view text,
                       const TranslateOptions& options = {}) {
  const auto job = pipeline.begin(std::span(&text, 1), options);
  while (job->step()) {
  }
  return nlohmann::json::parse(std::get<std::string>(results_as_json(*job).at(0)));
}

const std::vector<std::string> texts = {"How are you?",
                                        "The men walk to the market.",
                                        "a",
                                        "It was, I think, the best of all days!",
                                        "He said that she had seen the old man.",
                                        "\u00C4rger 123 \U0001F600"};

std::vector<std::string_view> views(const std::vector<std::string>& lines) {
  return {lines.begin(), lines.end()};
}

std::vector<std::int32_t> ids_of(const std::vector<OutputToken>& tokens) {
  std::vector<std::int32_t> ids;
  for (const OutputToken& token : tokens) ids.push_back(token.id);
  return ids;
}

// Returns a range of UTF-16 units of the text.
std::string slice(const std::string& text, std::uint32_t start, std::uint32_t end) {
  std::string result;
  std::uint32_t unit = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size =
        std::max<std::size_t>(valid_character_size(std::string_view(text).substr(i)), 1);
    if (unit >= start && unit < end) result += text.substr(i, size);
    unit += size == 4 ? 2 : 1;
    i += size;
  }
  return result;
}

// Compares two sentences, which may be at different positions in their translations.
void check_same(const SentenceTranslation& a, const SentenceTranslation& b) {
  CHECK(a.output.text == b.output.text);
  CHECK(a.output.score == b.output.score);
  std::vector<OutputToken> tokens = b.output.tokens;
  for (OutputToken& token : tokens) {
    token.start += a.target_start - b.target_start;
    token.end += a.target_start - b.target_start;
  }
  CHECK(a.output.tokens == tokens);
}

// Returns the code of the Error that an action throws.
template <class Action>
ErrorCode code_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  FAIL("expected an Error");
  return ErrorCode::internal;
}

void check_map(const AttentionMap& map, std::size_t queries, std::size_t keys) {
  REQUIRE((map.layers == 2 && map.heads == 4 && map.queries == queries && map.keys == keys));
  for (std::size_t row = 0; row < map.data.size(); row += keys) {
    float sum = 0;
    for (std::size_t key = 0; key < keys; ++key) sum += map.data[row + key];
    CHECK(std::abs(sum - 1) < 1e-5f);
  }
}

}  // namespace

TEST_CASE("one beam is greedy and takes the most probable token at each step", "[translate]") {
  const auto pipeline = make_translator();
  const ModelConfig& config = pipeline->config();
  Seq2Seq model(config.architecture);
  Session session;
  const std::int32_t start = *pipeline->target_tokenizer().find("<s>");
  const std::int32_t end = *pipeline->target_tokenizer().find("</s>");
  fill(model.parameters(), end, 1);
  std::size_t compared = 0;
  for (const std::string& text : texts) {
    INFO(text);
    const Translation result = pipeline->translate(text, {.beams = 1});
    const SentenceTranslation& sentence = result.sentences.at(0);

    std::vector<std::int32_t> source, expected;
    for (const InputToken& token : sentence.source_tokens) source.push_back(token.id);
    CHECK(source.back() == *pipeline->source_tokenizer().find("</s>"));
    Batch batch;
    batch.add(source);
    const auto encoded = model.encode(batch, {}, session);
    DecodingState state =
        model.begin(encoded, {.nodes = 24, .positions = 24, .rows = 1}, {}, session);
    Extension next = {.parent = no_parent, .source = 0, .id = start};
    double logprob = 0;
    bool loops = false;
    while (expected.size() < 24 && next.id != end) {
      const View hidden = model.decode(state, {{next}});
      const View logits = model.project(const_view(hidden), session);
      std::int32_t best = end;
      double sum = 0;
      for (std::size_t id = 0; id < logits.shape(1); ++id) {
        sum += std::exp(static_cast<double>(logits(0, id)));
        const std::string_view piece =
            pipeline->target_tokenizer().piece(static_cast<std::int32_t>(id));
        const int byte = byte_of_piece(piece);
        if (piece == "<unk>" || piece == "<s>" || (byte >= 0 && byte < 32)) continue;
        if (logits(0, id) > logits(0, static_cast<std::size_t>(best))) {
          best = static_cast<std::int32_t>(id);
        }
      }
      logprob += static_cast<double>(logits(0, static_cast<std::size_t>(best))) - std::log(sum);
      const auto parent = static_cast<NodeIndex>(expected.size());
      expected.push_back(best);
      next = {.parent = parent, .source = 0, .id = best};
      for (std::size_t n = 1; n <= 4; ++n) {
        std::size_t same = 0;
        while (same + n < expected.size() &&
               expected[expected.size() - 1 - same] == expected[expected.size() - 1 - same - n]) {
          ++same;
        }
        loops = loops || same >= 4 * n;
      }
    }
    if (loops) continue;  // the search leaves loops early
    ++compared;
    CHECK(ids_of(sentence.output.tokens) == expected);
    CHECK(std::abs(static_cast<double>(result.score) -
                   logprob / static_cast<double>(expected.size())) < 1e-4);
  }
  CHECK(compared >= 3);
}

TEST_CASE("each text of a batch gets its own translation or error", "[translate]") {
  const auto pipeline = make_translator();
  std::vector<std::string> lines;
  for (int i = 0; i < 60; ++i) {  // more than fit in one batch
    lines.push_back(i % 7 == 3 ? " \n "
                               : texts[static_cast<std::size_t>(i) % texts.size()] +
                                     std::string(1, char('a' + i % 26)));
  }
  const auto results = pipeline->translate_batch(views(lines));
  REQUIRE(results.size() == lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    INFO(lines[i]);
    if (i % 7 == 3) {
      CHECK(std::get<Error>(results[i]).code() == ErrorCode::empty_input);
    } else {
      const Translation& got = std::get<Translation>(results[i]);
      const Translation alone = pipeline->translate(lines[i]);
      CHECK(got.text == alone.text);
      CHECK(got.score == alone.score);
      REQUIRE(got.sentences.size() == 1);
      check_same(got.sentences[0], alone.sentences[0]);
    }
  }
  CHECK(pipeline->translate_batch({}).empty());
}

TEST_CASE("sentences are translated one by one and joined with their original spacing",
          "[translate]") {
  const auto pipeline = make_translator();
  const std::string text = "\n  How are you?  The men walk.\n\n\u00C4rger!\tWhat?\u00A0 ";
  const Translation result = pipeline->translate(text);
  REQUIRE(result.sentences.size() == 4);
  std::uint32_t end = 0, target_end = 0;
  float score = 0;
  std::size_t tokens = 0;
  for (const SentenceTranslation& sentence : result.sentences) {
    CHECK(slice(text, end, sentence.start) ==
          slice(result.text, target_end, sentence.target_start));
    CHECK(slice(result.text, sentence.target_start, sentence.target_end) == sentence.output.text);
    const std::string alone = slice(text, sentence.start, sentence.end);
    check_same(sentence, pipeline->translate(alone).sentences.at(0));
    CHECK(sentence.source_tokens.front().start == sentence.start);
    CHECK(sentence.source_tokens.back().start == sentence.end);
    CHECK(sentence.source_tokens.back().end == sentence.end);
    CHECK(!sentence.clipped);
    end = sentence.end;
    target_end = sentence.target_end;
    score += sentence.output.score * static_cast<float>(sentence.output.tokens.size());
    tokens += sentence.output.tokens.size();
  }
  CHECK(slice(text, end, 1000) == slice(result.text, target_end, 1000));
  CHECK(std::abs(result.score - score / static_cast<float>(tokens)) < 1e-5f);
}

TEST_CASE("output tokens cover the output's text", "[translate]") {
  const auto pipeline = make_translator();
  for (const std::string& text : texts) {
    INFO(text);
    const OutputText output = pipeline->translate(text).sentences.at(0).output;
    CHECK(is_valid_utf8(output.text));
    std::uint32_t end = 0;  // the text is one sentence, which begins where the output does
    for (const OutputToken& token : output.tokens) {
      REQUIRE(token.start >= end);
      REQUIRE(token.end >= token.start);
      CHECK(slice(output.text, end, token.start).find_first_not_of(' ') == std::string::npos);
      const std::string piece(pipeline->target_tokenizer().piece(token.id));
      if (byte_of_piece(piece) < 0 && piece != "</s>") {
        const std::string covered = slice(output.text, token.start, token.end);
        CHECK_THAT(piece, ContainsSubstring(covered));
      }
      CHECK(token.logprob <= 0);
      end = token.end;
    }
    CHECK(end == utf16_size(output.text));
  }
}

TEST_CASE("target offsets refer to the whole translation", "[translate]") {
  const auto pipeline = make_translator();
  const std::string text = "  How are you? The men walk.\nThe men walk to the market.";
  const TranslateOptions options = {.attention = true, .hypotheses = true};
  const Translation whole = pipeline->translate(text, options);
  REQUIRE(whole.sentences.size() == 3);
  for (const SentenceTranslation& sentence : whole.sentences) {
    INFO(sentence.output.text);
    CHECK(sentence.target_start > 0);
    CHECK(sentence.output.tokens.back().end == sentence.target_end);
    CHECK(sentence.hypotheses[0].tokens == sentence.output.tokens);
    const Translation alone =
        pipeline->translate(slice(text, sentence.start, sentence.end), options);
    const SentenceTranslation& same = alone.sentences.at(0);
    const auto piece = [](const Translation& translation, auto range) {
      return slice(translation.text, range.start, range.end);
    };
    for (std::size_t i = 0; i < sentence.output.tokens.size(); ++i) {
      CHECK(piece(whole, sentence.output.tokens[i]) == piece(alone, same.output.tokens.at(i)));
    }
    REQUIRE(!sentence.alignment->empty());
    for (std::size_t i = 0; i < sentence.alignment->size(); ++i) {
      CHECK(piece(whole, (*sentence.alignment)[i].target) ==
            piece(alone, same.alignment->at(i).target));
    }
    // Other hypotheses start at the same offset as the best one.
    for (std::size_t i = 0; i < sentence.hypotheses.size(); ++i) {
      const OutputToken& token = sentence.hypotheses[i].tokens.back();
      CHECK(token.end == same.hypotheses.at(i).tokens.back().end + sentence.target_start);
    }
  }
}

TEST_CASE("greedy streams only append whole characters, and end with the complete translation",
          "[translate]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  const auto pipeline = make_translator("bpe_bytes", "bpe_bytes", seed);
  const std::string text = " How are you? \U0001F600\u00C4!\nThe men walk to the market. ";
  const std::vector<std::string_view> both = {text, "And what else?"};
  const TranslateOptions options = {.beams = 1, .attention = true, .stream = true};
  const std::int32_t end = *pipeline->target_tokenizer().find("</s>");
  const auto expected = pipeline->translate_batch(both, {.beams = 1, .attention = true});

  auto session = pipeline->begin(both, options);
  std::vector<std::string> so_far(2);
  std::vector<std::vector<OutputToken>> tokens;
  for (bool more = true; more;) {
    more = session->step();
    const auto& streamed = session->streamed();
    if (!streamed) continue;
    CHECK(streamed->token.id != end);
    const std::string now = session->text(streamed->text);
    CHECK(now.starts_with(so_far[streamed->text]));
    CHECK(is_valid_utf8(now));
    so_far[streamed->text] = now;
    const SentenceTranslation& sentence = session->sentence();
    if (sentence.output.tokens.size() == 1) tokens.emplace_back();
    tokens.back().push_back(streamed->token);
    CHECK(ids_of(sentence.output.tokens) == ids_of(tokens.back()));
    CHECK(sentence.encoder.has_value());

    // The step's rows are rows of the complete attention weights.
    const auto& whole =
        std::get<Translation>(expected[streamed->text]).sentences.at(streamed->sentence);
    const std::size_t row = tokens.back().size() - 1;
    check_map(*streamed->decoder, 1, row + 1);
    check_map(*streamed->cross, 1, whole.source_tokens.size());
    for (std::size_t layer = 0; layer < 2; ++layer) {
      for (std::size_t head = 0; head < 4; ++head) {
        const auto got = streamed->cross->at(layer, head);
        const auto all = whole.cross->at(layer, head);
        CHECK(
            std::equal(got.begin(), got.end(), all.begin() + static_cast<long>(row * got.size())));
        const auto own = streamed->decoder->at(layer, head);
        const auto map = whole.decoder->at(layer, head);
        CHECK(std::equal(own.begin(), own.end(),
                         map.begin() + static_cast<long>(row * whole.decoder->keys)));
      }
    }
  }
  CHECK(session->done());
  CHECK(!session->step());
  std::size_t sentence = 0;
  const auto results = session->take();
  for (std::size_t i = 0; i < both.size(); ++i) {
    const Translation& got = std::get<Translation>(results[i]);
    const Translation& whole = std::get<Translation>(expected[i]);
    CHECK(got.text == whole.text);
    CHECK(got.text.starts_with(so_far[i]));
    REQUIRE(got.sentences.size() == whole.sentences.size());
    for (std::size_t s = 0; s < got.sentences.size(); ++s) {
      check_same(got.sentences[s], whole.sentences[s]);
      std::vector<OutputToken> expected_tokens = whole.sentences[s].output.tokens;
      if (expected_tokens.back().id == end) expected_tokens.pop_back();
      if (!expected_tokens.empty()) CHECK(tokens.at(sentence++) == expected_tokens);
    }
  }
}

TEST_CASE("sessions may be abandoned or alternate", "[translate]") {
  const auto pipeline = make_translator();
  const Translation expected = pipeline->translate(texts[1]);
  const std::vector<std::string_view> one = {texts[1]}, other = {texts[3]};
  for (int steps = 0; steps < 5; ++steps) {
    auto abandoned = pipeline->begin(other, {});
    for (int i = 0; i < steps; ++i) abandoned->step();
  }
  CHECK(pipeline->translate(texts[1]).text == expected.text);

  auto a = pipeline->begin(one, {});
  auto b = pipeline->begin(other, {.beams = 2, .attention = true});
  while (!a->done() || !b->done()) {
    a->step();
    b->step();
  }
  const auto results = a->take();
  check_same(std::get<Translation>(results[0]).sentences.at(0), expected.sentences.at(0));
  const auto others = b->take();
  check_same(std::get<Translation>(others[0]).sentences.at(0),
             pipeline->translate(texts[3], {.beams = 2}).sentences.at(0));
}

TEST_CASE("attention is complete and comes from the same pass", "[translate]") {
  const auto pipeline = make_translator();
  for (const std::size_t beams : {1u, 4u}) {
    for (const std::string& text : texts) {
      INFO(text << ", " << beams << " beams");
      const Translation plain = pipeline->translate(text, {.beams = beams});
      const Translation seen = pipeline->translate(text, {.beams = beams, .attention = true});
      const SentenceTranslation& sentence = seen.sentences.at(0);
      check_same(sentence, plain.sentences.at(0));
      CHECK((!plain.sentences[0].encoder && !plain.sentences[0].cross));
      CHECK(!plain.sentences[0].alignment);
      const std::size_t source = sentence.source_tokens.size();
      const std::size_t target = sentence.output.tokens.size();
      check_map(*sentence.encoder, source, source);
      check_map(*sentence.decoder, target, target);
      check_map(*sentence.cross, target, source);
      const auto head = sentence.decoder->at(1, 3);
      for (std::size_t i = 0; i < target; ++i) {
        for (std::size_t j = i + 1; j < target; ++j) CHECK(head[i * target + j] == 0.0f);
      }
      for (const AlignmentLink& link : *sentence.alignment) {
        CHECK(link.target.end <= utf16_size(seen.text));
        CHECK(link.target.start < link.target.end);
        CHECK(link.source.start >= sentence.start);
        CHECK(link.source.end <= sentence.end);
        CHECK((link.weight > 0 && link.weight <= 1));
      }
    }
  }
  const Translation aligned =
      pipeline->translate(texts[1], {.alignment = AlignmentOptions{.layer = 0, .heads = {1}}});
  CHECK(aligned.sentences[0].alignment.has_value());
  CHECK(!aligned.sentences[0].cross);
}

TEST_CASE("hypotheses are returned best first, with their search tree", "[translate]") {
  const auto pipeline = make_translator();
  for (const std::string& text : texts) {
    INFO(text);
    const SentenceTranslation sentence =
        pipeline->translate(text, {.beams = 4, .hypotheses = true}).sentences.at(0);
    REQUIRE(!sentence.hypotheses.empty());
    CHECK(sentence.hypotheses.size() <= 4);
    CHECK(sentence.hypotheses[0].text == sentence.output.text);
    CHECK(sentence.hypotheses[0].tokens == sentence.output.tokens);
    for (std::size_t i = 1; i < sentence.hypotheses.size(); ++i) {
      CHECK(sentence.hypotheses[i].score <= sentence.hypotheses[i - 1].score);
      CHECK(sentence.hypotheses[i].tokens != sentence.hypotheses[i - 1].tokens);
    }
    CHECK(sentence.tree.size() > 8);
    check_same(sentence, pipeline->translate(text).sentences.at(0));
  }
}

TEST_CASE("a folder sets how it searches, and options override it", "[translate]") {
  ModelConfig config = make_translator()->config();
  config.generation = {
      .max_length = 4, .beams = 3, .early_stopping = EarlyStopping::yes, .beams_in = "config.json"};
  CHECK(parse_config(to_json(config)).generation == config.generation);
  config.generation.end_ids = {1, 7};
  config.generation.never = {{5}, {9, 4}, {5, 6, 7}};
  config.generation.last_token = 2;
  config.generation.renormalize = true;
  config.generation.length_penalty = 1.5f;
  CHECK(parse_config(to_json(config)).generation == config.generation);
  config.generation.never = {{5, 1 << 20}};
  CHECK(code_of([&] { parse_config(to_json(config)); }) == ErrorCode::invalid_config);
}

TEST_CASE("ablated heads change the answer, in each of the three attentions", "[translate]") {
  const auto pipeline = make_translator();
  const float score = pipeline->translate(texts[1]).score;
  for (const AttentionSite site :
       {AttentionSite::encoder, AttentionSite::decoder, AttentionSite::cross}) {
    TranslateOptions options;
    options.ablate = {{.layer = 1, .head = 2, .attention = site}};
    CHECK(pipeline->translate(texts[1], options).score != score);
  }
  CHECK(pipeline->translate(texts[1]).score == score);
}

// Returns a stack with `max_length` positions, and embeddings for all tokens.
StackConfig encoder_of(std::size_t max_length) {
  StackConfig encoder;
  encoder.tokens().vocab_size = 1 << 16;
  encoder.max_length = max_length;
  return encoder;
}

TEST_CASE("a sentence over the limit is split at a natural pause", "[translate]") {
  const auto pipeline = make_translator();  // 39 tokens and </s>
  const SourceReader reader(pipeline->source_tokenizer(), {}, {0}, encoder_of(40));
  std::string text;
  for (int i = 0; i < 30; ++i) text += i % 5 == 4 ? "the men walk, " : "the old man walks ";
  const SourceText source = reader.read(text);
  CHECK(source.sentences.size() > 5);
  std::string whole;
  for (const SourceSentence& sentence : source.sentences) {
    CHECK(sentence.tokens.size() <= 40);
    CHECK(!sentence.clipped);
    CHECK(sentence.end - sentence.start == sentence.text.size());
    CHECK(text.substr(sentence.start, sentence.text.size()) == sentence.text);
    whole += sentence.before + sentence.text;
  }
  CHECK(whole + source.after == text);
  CHECK(source.sentences[0].text.ends_with("walk,"));

  const std::string word(500, 'x');
  const SourceText clipped = reader.read("Hello " + word + " world.");
  REQUIRE(clipped.sentences.size() == 3);
  CHECK(clipped.sentences[0].text == "Hello");
  CHECK(clipped.sentences[1].clipped);
  CHECK(clipped.sentences[1].text == word);
  CHECK(clipped.sentences[1].tokens.size() == 40);
  CHECK(clipped.sentences[2].text == "world.");
  CHECK(clipped.sentences[2].start == 507);

  // Any number of adjacent unknown characters is one token.
  const SentencePieceTokenizer plain = tokenizer_named("bpe");
  std::string unknown;
  while (unknown.size() < 9000) unknown += "\u6F22";
  std::string parts;
  const SourceReader short_reader(plain, {}, {}, encoder_of(40));
  for (const SourceSentence& sentence : short_reader.read(unknown).sentences) {
    CHECK(is_valid_utf8(sentence.text));
    parts += sentence.before + sentence.text;
  }
  CHECK(parts == unknown);

  const Translation result = pipeline->translate(text + word);
  CHECK(result.sentences.size() > 6);
  CHECK(result.sentences.back().clipped);
}

TEST_CASE("any bytes are read completely", "[translate]") {
  const auto pipeline = make_translator();
  const SourceReader reader(pipeline->source_tokenizer(), {1}, {2}, encoder_of(12));
  std::uint32_t state = 7;
  const std::vector<std::string> parts = {"the ", "a",        "\xFF",   "\u00E4", "\U0001F600",
                                          ". ",   "\n",       "\u200B", "  ",     ", ",
                                          "B",    "\xE2\x80", "xyzzy"};
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 60; ++i) {
      state = state * 1664525 + 1013904223;
      text += parts[(state >> 16) % parts.size()];
    }
    SourceText source;
    try {
      source = reader.read(text);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::empty_input);
      continue;
    }
    std::string whole;
    for (const SourceSentence& sentence : source.sentences) {
      whole += sentence.before;
      CHECK(sentence.start == utf16_size(whole));
      whole += sentence.text;
      CHECK(sentence.end == utf16_size(whole));
      CHECK(sentence.tokens.size() <= 12);
      for (const Token& token : sentence.tokens) {
        CHECK((token.start >= sentence.start && token.end <= sentence.end));
      }
    }
    CHECK(whole + source.after == text);
  }
}

TEST_CASE("a source with only unknown characters has a translation without unknown pieces",
          "[translate]") {
  const auto pipeline = make_translator("bpe", "bpe");
  const Translation result = pipeline->translate("\u6F22\u5B57", {.hypotheses = true});
  const SentenceTranslation& sentence = result.sentences.at(0);
  const std::int32_t unknown = pipeline->target_tokenizer().unk_id();
  CHECK(std::any_of(sentence.source_tokens.begin(), sentence.source_tokens.end(),
                    [&](const InputToken& token) { return token.id == unknown; }));
  for (const SearchNode& node : sentence.tree) CHECK(node.id != unknown);
}

namespace {

// Returns a shortlist file with these lists; ids below `frequent` are in all of them. `change` may
// modify its offsets.
std::vector<std::byte> shortlist_file(
    const std::vector<std::vector<std::uint32_t>>& lists, std::uint64_t frequent,
    const std::function<void(std::span<std::uint64_t>)>& change = [](auto) {}) {
  std::vector<std::uint64_t> words = {frequent, 0, lists.size() + 1, 0, 0};
  std::vector<std::uint32_t> candidates;
  for (const auto& list : lists) {
    candidates.insert(candidates.end(), list.begin(), list.end());
    words.push_back(candidates.size());
  }
  words[3] = candidates.size();
  change(std::span(words).subspan(4));
  std::vector<std::byte> file(8 * words.size() + 4 * candidates.size());
  std::memcpy(file.data(), words.data(), 8 * words.size());
  std::memcpy(file.data() + 8 * words.size(), candidates.data(), 4 * candidates.size());
  std::uint64_t checksum = 0;
  for (std::size_t at = 0; at + 8 <= file.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, file.data() + at, 8);
    checksum ^= word + 0x9E3779B9 + (checksum << 6) + (checksum >> 2);
  }
  const std::uint64_t start[] = {0xF11A48D5013417F5, checksum};
  const auto bytes = std::as_bytes(std::span(start));
  file.insert(file.begin(), bytes.begin(), bytes.end());
  return file;
}

// Returns a translator with one vocabulary and a shortlist: ids below 40, and 7 i + 0 … 8 for token
// i.
std::unique_ptr<TranslatePipeline> make_shortlisting() {
  const SentencePieceTokenizer tokenizer = tokenizer_named("bpe_bytes");
  const ModelConfig config = config_of(tokenizer, tokenizer);
  std::vector<std::vector<std::uint32_t>> lists(tokenizer.size());
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (std::size_t j = 0; j < 9; ++j) {
      lists[i].push_back(static_cast<std::uint32_t>((7 * i + j) % tokenizer.size()));
    }
  }
  auto pipeline = std::make_unique<TranslatePipeline>(config, own_tokenizer("bpe_bytes"), nullptr,
                                                      Compute::f32, shortlist_file(lists, 40));
  fill(pipeline->parameters(), *tokenizer.find("</s>"), 1);
  return pipeline;
}

}  // namespace

TEST_CASE("a translation with a shortlist uses only the tokens offered for its source",
          "[translate]") {
  const auto pipeline = make_shortlisting();
  const auto plain = make_translator();  // with the same weights
  const std::int32_t size = static_cast<std::int32_t>(pipeline->target_tokenizer().size());
  const std::vector<std::string_view> all(texts.begin(), texts.end());
  std::size_t different = 0;
  const auto together = pipeline->translate_batch(all, {.hypotheses = true});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Translation alone = pipeline->translate(all[i], {.hypotheses = true});
    const SentenceTranslation& sentence = alone.sentences.at(0);
    std::set<std::int32_t> offered = {*pipeline->target_tokenizer().find("</s>")};
    for (std::int32_t id = 0; id < 40; ++id) offered.insert(id);
    for (const InputToken& token : sentence.source_tokens) {
      offered.insert(token.id);
      for (std::int32_t j = 0; j < 9; ++j) offered.insert((7 * token.id + j) % size);
    }
    for (std::int32_t id = 40; offered.size() % 8 != 0; ++id) offered.insert(id);
    for (const SearchNode& node : sentence.tree) CHECK(offered.count(node.id) == 1);

    // The batch's other sources add no candidates.
    const auto& same = std::get<Translation>(together[i]).sentences.at(0);
    CHECK(same.output.tokens == sentence.output.tokens);

    different += plain->translate(all[i]).text != alone.text;
  }
  CHECK(different > 0);
}

TEST_CASE("a translation continues a given prefix", "[translate]") {
  const auto pipeline = make_translator();
  const auto shortlisting = make_shortlisting();
  const std::int32_t end = *pipeline->target_tokenizer().find("</s>");
  std::size_t different = 0;
  for (const std::string& text : texts) {
    INFO(text);
    const SentenceTranslation free =
        pipeline->translate(text, {.hypotheses = true}).sentences.at(0);
    // The first candidate other than the best one.
    const auto other = std::ranges::find_if(free.tree, [&](const SearchNode& node) {
      return &node != &free.tree[0] && node.parent == 0 && node.id != end &&
             node.id != free.output.tokens[0].id;
    });
    if (other == free.tree.end()) continue;
    for (TranslatePipeline* each : {pipeline.get(), shortlisting.get()}) {
      const OutputText forced =
          each->translate(text, {.prefixes = {{other->id}}}).sentences.at(0).output;
      CHECK(forced.tokens[0].id == other->id);
      if (each == pipeline.get()) CHECK(forced.tokens[0].logprob == other->logprob);
      ++different;
    }
    // The translation's own tokens as the prefix give the same result and log-probabilities.
    std::vector<std::int32_t> own;
    for (const OutputToken& token : free.output.tokens) own.push_back(token.id);
    check_same(free, pipeline->translate(text, {.prefixes = {own}}).sentences.at(0));
  }
  CHECK(different > 2);
  const Translation two = pipeline->translate("The cat. The dog.", {.prefixes = {{}, {7, 9}}});
  REQUIRE(two.sentences.size() == 2);
  CHECK(two.sentences[1].output.tokens[0].id == 7);
  CHECK(two.sentences[1].output.tokens[1].id == 9);
  for (const std::vector<std::int32_t>& wrong :
       {std::vector<std::int32_t>{-1}, {1 << 20}, {end, 7}}) {
    CHECK(code_of([&] { pipeline->translate("a", {.prefixes = {wrong}}); }) ==
          ErrorCode::invalid_option);
  }
}

TEST_CASE("masked source tokens have no effect in either stack", "[translate]") {
  const auto pipeline = make_translator();
  const std::string text = "A cat sat. A dog ran.";
  const Translation whole = pipeline->translate(text, {.attention = true});
  const Translation hidden =
      pipeline->translate(text, {.mask_tokens = {{}, {1}}, .attention = true});
  REQUIRE(whole.sentences.size() == 2);
  check_same(whole.sentences[0], hidden.sentences[0]);
  const SentenceTranslation& sentence = hidden.sentences[1];
  CHECK(sentence.output.tokens[0].logprob != whole.sentences[1].output.tokens[0].logprob);
  for (const AttentionMap* map : {&*sentence.encoder, &*sentence.cross}) {
    const std::size_t keys = sentence.source_tokens.size();
    REQUIRE(keys > 2);
    float others = 0;
    for (std::size_t i = 0; i < map->data.size(); ++i) {
      if (i % keys == 1) CHECK(map->data[i] == 0);
      if (i % keys == 0) others += map->data[i];
    }
    CHECK(others > 0);
  }
  // A trace repeats the steps with the same tokens masked.
  const std::string weights = "decoder.layers.0.encoder_attn.weights";
  const Translation traced =
      pipeline->translate(text, {.mask_tokens = {{}, {1}}, .trace = {weights}});
  const TracedTensor& seen = traced.sentences.at(1).trace.at(0);
  for (std::size_t i = 1; i < seen.data.size(); i += seen.shape[2]) CHECK(seen.data[i] == 0);
  // Equals a run without masked tokens.
  const TranslateOptions nothing = {.mask_tokens = {{}}};
  check_same(whole.sentences[1], pipeline->translate(text, nothing).sentences.at(1));
  for (const std::vector<std::size_t>& wrong : {std::vector<std::size_t>{99}, {0, 1, 2, 3, 4, 5}}) {
    CHECK(code_of([&] { pipeline->translate("A", {.mask_tokens = {wrong}}); }) ==
          ErrorCode::invalid_option);
  }
}

TEST_CASE("a shortlist that is damaged or of another model is refused by name", "[translate]") {
  const SentencePieceTokenizer tokenizer = tokenizer_named("bpe_bytes");
  ModelConfig config = config_of(tokenizer, tokenizer);
  const auto message = [&](std::span<const std::byte> file) -> std::string {
    try {
      TranslatePipeline(config, own_tokenizer("bpe_bytes"), nullptr, Compute::f32, file);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::invalid_shortlist);
      return error.what();
    }
    return "accepted";
  };
  const auto n = static_cast<std::uint32_t>(tokenizer.size());
  std::vector<std::vector<std::uint32_t>> lists(n, {1, 2, 3});
  const std::vector<std::byte> good = shortlist_file(lists, 5);
  CHECK(message(good) == "accepted");
  CHECK_THAT(message({}), ContainsSubstring("expected at least 48, got 0"));
  CHECK_THAT(message(std::span(good).first(47)),
             ContainsSubstring("bytes: expected at least 48, got 47"));
  CHECK_THAT(message(std::span(good).first(good.size() - 4)), ContainsSubstring("bytes: expected"));
  CHECK_THAT(message(shortlist_file(lists, n + 1)), ContainsSubstring("frequent tokens"));
  for (const std::size_t at : {std::size_t{0}, std::size_t{8}, std::size_t{60}, good.size() - 5}) {
    std::vector<std::byte> damaged = good;
    damaged[at] ^= std::byte{1};
    CHECK_THAT(message(damaged), ContainsSubstring(at == 0 ? "magic number" : "checksum"));
  }
  std::vector<std::vector<std::uint32_t>> wrong = lists;
  wrong[3][1] = n;
  CHECK_THAT(message(shortlist_file(wrong, 5)), ContainsSubstring("candidate: expected below"));
  wrong.pop_back();
  CHECK_THAT(message(shortlist_file(wrong, 5)), ContainsSubstring("offsets: expected"));
  const auto descending = [](std::span<std::uint64_t> offsets) {
    std::swap(offsets[3], offsets[4]);
  };
  CHECK_THAT(message(shortlist_file(lists, 5, descending)),
             ContainsSubstring("offset: expected at least 12, got 9"));
}

TEST_CASE("source and target languages may have separate vocabularies", "[translate]") {
  const auto pipeline = make_translator("unigram", "bpe");
  const SentenceTranslation sentence = pipeline->translate(texts[1]).sentences.at(0);
  CHECK(pipeline->source_tokenizer().piece(100) != pipeline->target_tokenizer().piece(100));
  CHECK(sentence.output.text ==
        pipeline->target_tokenizer().decode(ids_of(sentence.output.tokens)));
}

TEST_CASE("invalid translation requests are refused by name, and the next one works",
          "[translate]") {
  const auto pipeline = make_translator();
  const auto refused = [&](const std::string& text, const TranslateOptions& options) {
    return code_of([&] { pipeline->translate(text, options); });
  };
  CHECK(refused("", {}) == ErrorCode::empty_input);
  CHECK(refused(" \n\t", {}) == ErrorCode::empty_input);
  CHECK(refused("\u200B", {}) == ErrorCode::empty_input);
  CHECK(refused("a", {.beams = 0}) == ErrorCode::invalid_option);
  CHECK(refused("a", {.beams = 65}) == ErrorCode::invalid_option);
  CHECK(refused("a", {.length_penalty = -1}) == ErrorCode::invalid_option);
  CHECK(refused("a", {.length_penalty = std::numeric_limits<float>::quiet_NaN()}) ==
        ErrorCode::invalid_option);
  CHECK(refused("a", {.ablate = {{2, 0}}}) == ErrorCode::invalid_option);
  CHECK(refused("a", {.ablate = {{0, 4, AttentionSite::cross}}}) == ErrorCode::invalid_option);
  CHECK(refused("a", {.alignment = AlignmentOptions{.layer = 2}}) == ErrorCode::invalid_option);
  CHECK(refused("a", {.alignment = AlignmentOptions{.heads = {4}}}) == ErrorCode::invalid_option);
  CHECK(pipeline->translate("a", {.beams = 64}).sentences.size() == 1);
  CHECK(pipeline->translate(texts[1], {.max_length = 3}).sentences[0].output.tokens.size() <= 3);
  CHECK(pipeline->translate(texts[1], {.max_length = 100000}).sentences[0].output.tokens.size() <=
        24);

  const SentencePieceTokenizer tokenizer = tokenizer_named("bpe_bytes");
  const auto code_with = [&](const std::function<void(ModelConfig&)>& change) {
    ModelConfig config = config_of(tokenizer, tokenizer);
    change(config);
    return code_of([&] { TranslatePipeline(config, own_tokenizer("bpe_bytes")); });
  };
  CHECK(code_with([](ModelConfig& c) { c.task = Task::text_classification; }) ==
        ErrorCode::wrong_task);
  CHECK(code_with([](ModelConfig& c) { c.architecture.encoder->tokens().vocab_size = 10; }) ==
        ErrorCode::invalid_tokenizer);
  CHECK(code_with([](ModelConfig& c) { c.architecture.decoder->tokens().vocab_size = 10; }) ==
        ErrorCode::invalid_tokenizer);
  CHECK(code_with([](ModelConfig& c) { c.start_token = "[BOS]"; }) == ErrorCode::invalid_config);
  CHECK(code_with([](ModelConfig& c) { c.architecture.encoder->max_length = 1; }) ==
        ErrorCode::invalid_config);
}

TEST_CASE("tokens merge into words", "[translate]") {
  const auto words = [](std::string_view text, const std::vector<TextRange>& ranges) {
    std::string result;
    for (const Word& word : words_of(text, ranges)) {
      result += text.substr(word.range.start, word.range.end - word.range.start);
      result += '[' + std::to_string(word.first) + ',' + std::to_string(word.last) + ']';
    }
    return result;
  };
  CHECK(words("walking home.", {{0, 4}, {4, 7}, {8, 12}, {12, 13}, {13, 13}}) ==
        "walking[0,1]home[2,2].[3,3]");
  CHECK(words("don't go...", {{0, 3}, {3, 4}, {4, 5}, {6, 8}, {8, 9}, {9, 11}}) ==
        "don't[0,2]go[3,3]...[4,5]");
  CHECK(words("a-b - c", {{0, 1}, {1, 2}, {2, 3}, {4, 5}, {6, 7}}) == "a-b[0,2]-[3,3]c[4,4]");
  CHECK(words("(x)", {{0, 1}, {1, 2}, {2, 3}}) == "([0,0]x[1,1])[2,2]");
  CHECK(words("", {{0, 0}}) == "");
  CHECK(words_of("\U0001F600\u00E4 \u201Cb\u201D",
                 std::vector<TextRange>{{0, 2}, {2, 3}, {4, 5}, {5, 6}, {6, 7}})
            .size() == 4);
}

TEST_CASE("a word is linked to the words that it attends to most", "[translate]") {
  // One layer, two heads; target "ab c", source "x yz" and </s>.
  AttentionMap cross = {.layers = 1, .heads = 2, .queries = 3, .keys = 4};
  cross.data = {0.8f, 0.1f, 0.1f, 0.0f, 0.6f, 0.2f, 0.1f, 0.1f, 0.1f, 0.3f, 0.3f, 0.3f,
                1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.5f, 0.5f, 0.0f, 0.4f, 0.2f, 0.2f, 0.2f};
  const std::vector<Word> target = {{0, 1, {0, 2}}, {2, 2, {3, 4}}};
  const std::vector<Word> source = {{0, 0, {0, 1}}, {1, 2, {2, 4}}};
  const auto both = align(cross, {}, target, source);
  REQUIRE(both.size() == 4);
  CHECK((both[0].target == TextRange{0, 2} && both[0].source == TextRange{0, 1}));
  CHECK(std::abs(both[0].weight - 0.6f) < 1e-6f);    // (0.8 + 0.6 + 1 + 0) / 4
  CHECK(std::abs(both[1].weight - 0.375f) < 1e-6f);  // (0.2 + 0.3 + 0 + 1) / 4
  CHECK((both[2].target == TextRange{3, 4} && both[2].source == TextRange{0, 1}));
  CHECK(std::abs(both[2].weight - 0.25f) < 1e-6f);
  CHECK(both[3].source == TextRange{2, 4});
  CHECK(std::abs(both[3].weight - 0.5f) < 1e-6f);
  const auto first = align(cross, {.layer = 0, .heads = {0}}, target, source);
  REQUIRE(first.size() == 2);  // the others have less than half
  CHECK(std::abs(first[0].weight - 0.7f) < 1e-6f);
  CHECK(align(cross, {}, target, {}).empty());
}

TEST_CASE("the JSON of a translation has all of its fields", "[translate]") {
  const auto pipeline = make_translator();
  const std::string text = "How are you? The men walk.";
  const TranslateOptions options = {.attention = true, .hypotheses = true};
  const Translation result = pipeline->translate(text, options);
  const nlohmann::json json = json_of(*pipeline, text, options);
  CHECK(json.at("text") == result.text);
  CHECK(json.at("score").get<float>() == result.score);
  REQUIRE(json.at("sentences").size() == 2);
  const SentenceTranslation& sentence = result.sentences[1];
  const auto& got = json.at("sentences").at(1);
  CHECK(got.at("text") == sentence.output.text);
  CHECK(got.at("score").get<float>() == sentence.output.score);
  CHECK(got.at("start") == sentence.start);
  CHECK(got.at("targetEnd") == sentence.target_end);
  CHECK(got.at("clipped") == false);
  CHECK(got.at("tokens").size() == sentence.output.tokens.size());
  const auto check_text = [](const nlohmann::json& token, const Tokenizer& tokenizer) {
    CHECK(token.at("text") == tokenizer.display_text(token.at("id")));
  };
  check_text(got.at("tokens").at(0), pipeline->target_tokenizer());
  check_text(got.at("sourceTokens").at(0), pipeline->source_tokenizer());
  check_text(got.at("hypotheses").at(1).at("tokens").at(0), pipeline->target_tokenizer());
  for (const auto& candidate : got.at("tree")) check_text(candidate, pipeline->target_tokenizer());
  CHECK(got.at("tree").at(0).at("text") == "<s>");
  CHECK(got.at("tokens").at(0).at("logprob").get<float>() == sentence.output.tokens[0].logprob);
  CHECK(got.at("sourceTokens").size() == sentence.source_tokens.size());
  CHECK(got.at("attention").at("cross").at("keys") == sentence.source_tokens.size());
  CHECK(got.at("attention").at("decoder").at("data").is_string());
  CHECK(got.at("alignment").size() == sentence.alignment->size());
  CHECK(got.at("hypotheses").at(0).at("text") == sentence.output.text);
  CHECK(got.at("tree").size() == sentence.tree.size());
  CHECK(got.at("tree").at(1).at("parent") == 0);
  const nlohmann::json plain = json_of(*pipeline, "a");
  for (const char* key : {"attention", "alignment", "hypotheses", "tree"}) {
    CHECK(!plain.at("sentences").at(0).contains(key));
  }

  const std::vector<std::string_view> one = {"The men walk. It was the best of all days!"};
  auto session = pipeline->begin(one, {.beams = 1, .attention = true, .stream = true});
  std::size_t sentences = 0;
  std::string settled, shown;
  for (bool done = false; !done;) {
    done = !session->step();
    CHECK(done == session->done());
    EmbeddedTensors writer;
    if (!session->show(writer)) continue;
    const auto step = nlohmann::json::parse(writer.take());
    if (step.contains("before")) settled = shown + step.at("before").get<std::string>();
    shown = settled + step.at("text").get<std::string>();
    CHECK(shown == session->text(0));
    CHECK(step.contains("sentence") == step.contains("before"));
    CHECK(step.at("token").at("id") == session->streamed()->token.id);
    check_text(step.at("token"), pipeline->target_tokenizer());
    CHECK(step.contains("sentence") == step.at("attention").contains("encoder"));
    if (step.contains("sentence")) CHECK(step.at("sentence").at("index") == sentences++);
    CHECK(step.at("attention").at("cross").at("queries") == 1);
  }
  CHECK(sentences == 2);
}

TEST_CASE("translation options are read from JSON, and unknown or mistyped ones are refused",
          "[translate]") {
  const TranslateOptions options = read_options<TranslateOptions>(
      R"({"beams": 2, "lengthPenalty": 0.6, "maxLength": 9, "attention": true, "hypotheses": true,
          "stream": true, "alignment": {"layer": 1, "heads": [0, 3]},
          "ablate": [{"attention": "cross", "layer": 1, "head": 5}]})");
  CHECK((options.beams == 2u && options.length_penalty == 0.6f && options.max_length == 9));
  CHECK((options.attention && options.hypotheses && options.stream));
  CHECK((options.alignment->layer == 1u && options.alignment->heads.size() == 2));
  REQUIRE(options.ablate.size() == 1);
  CHECK(options.ablate[0].attention == AttentionSite::cross);
  CHECK(!read_options<TranslateOptions>("{}").beams);
  CHECK(!read_options<TranslateOptions>("{}").early_stopping);
  CHECK(read_options<TranslateOptions>(R"({"earlyStopping": false})").early_stopping ==
        EarlyStopping::no);
  CHECK(read_options<TranslateOptions>(R"({"earlyStopping": "never"})").early_stopping ==
        EarlyStopping::never);
  CHECK(read_options<TranslateOptions>(R"({"prefixes": [[], [3]]})").prefixes.at(1).at(0) == 3);
  CHECK(read_options<TranslateOptions>(R"({"alignment": true})").alignment.has_value());
  CHECK(!read_options<TranslateOptions>(R"({"alignment": false})").alignment.has_value());
  for (const char* json :
       {R"({"beam": 1})", R"({"beams": -1})", R"({"beams": 1.5})", R"({"beams": "4"})",
        R"({"lengthPenalty": "1"})", R"({"maxLength": -1})", R"({"alignment": 1})",
        R"({"alignment": {"head": 1}})", R"({"ablate": [{"attention": "self", "layer": 0,
        "head": 0}]})",
        R"({"earlyStopping": "soon"})", R"({"prefixes": [3]})", R"({"prefixes": [[-1]]})",
        R"({"maskTokens": [0]})", R"({"maskTokens": [["a"]]})", R"({"attention": 1})", "[]", "{"}) {
    INFO(json);
    CHECK(code_of([&] { read_options<TranslateOptions>(json); }) == ErrorCode::invalid_option);
  }
}

}  // namespace glassformer::test
