// From a text to its continuation: properties of any model that continues texts.

#include "tasks/generate/generate.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <set>

#include "families/family.hpp"
#include "glassformer/glassformer.hpp"
#include "support/allocations.hpp"
#include "support/error_of.hpp"
#include "tasks/load.hpp"

namespace glassformer::test {
namespace {

using Catch::Matchers::ContainsSubstring;

const std::filesystem::path folder =
    GLASSFORMER_SOURCE_DIR "/tests/fixtures/checkpoints/gpt2_generate";
constexpr std::size_t positions = 32;

std::vector<std::int32_t> ids_of(const Generation& generation) {
  std::vector<std::int32_t> ids;
  for (const OutputToken& token : generation.output.tokens) ids.push_back(token.id);
  return ids;
}

GenerateOptions short_ones(std::size_t count = 8) {
  GenerateOptions options;
  options.max_new_tokens = count;
  return options;
}

// Returns a text of `tokens` tokens.
std::string text_of(const Generator&, std::size_t tokens) {
  std::string text;
  for (std::size_t i = 0; i < tokens; ++i) text += '~';
  return text;
}

// The folder's model, and decodings of one text.
struct Writer {
  Writer() : Writer(OpenFolder(folder)) {}

  DecodingState begin(const DecodingLimits& limits, const TraceRequest& request = {}) {
    return model.begin(1, limits, request, session);
  }

  LanguageModel model;
  Session session;

 private:
  explicit Writer(const OpenFolder& open) : model(open.config.architecture) {
    open.load(model.parameters());
  }
};

template <class Options, class Field, class Value>
Options with(Options options, Field field, Value value) {
  options.*field = value;
  return options;
}

}  // namespace

TEST_CASE("a prompt fed at once equals one fed token by token, bit for bit", "[generate]") {
  const auto pipeline = load_pipeline<GeneratePipeline>(folder);
  Writer writer;
  constexpr std::size_t length = 20;
  std::vector<Extension> all;
  for (std::size_t i = 0; i < length; ++i) {
    all.push_back({.parent = i == 0 ? no_parent : static_cast<NodeIndex>(i - 1),
                   .id = static_cast<std::int32_t>(7 * i % 500)});
  }
  const DecodingLimits limits = {.nodes = length, .positions = length, .rows = length};
  DecodingState at_once = writer.begin(limits, {.attention = true}),
                stepwise = writer.begin(limits, {.attention = true});
  const View hidden = writer.model.decode(at_once, all);
  const std::vector<float> together(hidden.data(), hidden.data() + hidden.size());
  for (std::size_t i = 0; i < length; ++i) {
    const View row = writer.model.decode(stepwise, std::span(all).subspan(i, 1));
    CHECK(std::equal(row.data(), row.data() + row.size(),
                     together.begin() + static_cast<std::ptrdiff_t>(i * row.size())));
  }
  const AttentionMap map = at_once.self_attention(length - 1);
  CHECK(map.data == stepwise.self_attention(length - 1).data);
  for (std::size_t row = 0; row < map.layers * map.heads * map.queries; ++row) {
    double sum = 0;
    for (std::size_t key = 0; key < map.keys; ++key) {
      const float weight = map.data[row * map.keys + key];
      if (key > row % map.queries) CHECK(weight == 0);
      sum += static_cast<double>(weight);
    }
    CHECK(std::abs(sum - 1) < 1e-5);
  }
}

// A search that follows one hypothesis from the token `first` on.
struct Follower {
  Follower(Writer& writer, const TokenChoice& choice, const Constraints& constraints,
           std::size_t length, std::size_t tokens, std::int32_t first,
           std::vector<std::vector<std::int32_t>> offered = {})
      : decoding(writer.model, writer.begin({.nodes = length, .positions = length, .rows = 1}),
                 std::move(offered)),
        scorer(decoding, constraints, ScoreKind::logits, 1, tokens),
        special{.start = first, .end = -1, .never = std::vector<bool>(500, false)},
        search(scorer, special, choice, {.beams = 1, .max_repeats = 0}, std::span(&length, 1),
               tokens) {}

  // The tokens written so far.
  std::vector<std::int32_t> ids() const {
    std::vector<std::int32_t> ids;
    for (const CandidateIndex i : search.path(0, search.leader(0))) {
      ids.push_back(search.tree(0)[i].id);
    }
    return ids;
  }

  DecodingScorer decoding;
  ConstrainedScorer scorer;
  SpecialTokens special;
  SamplingSearch search;
};

TEST_CASE("a decoding allocates nothing per token once it has begun", "[generate]") {
  Writer writer;
  const bool draws = GENERATE(false, true);
  Follower follower(writer, {.samples = draws}, {.repetition_penalty = 1.2f}, 30, 500, 5);
  writer.model.reserve_logits(1, writer.session);
  follower.search.step();  // allocates the kernels' buffers
  const std::size_t before = allocations();
  for (int i = 0; i < 25; ++i) CHECK(follower.search.step());
  CHECK(allocations() == before);
  CHECK(follower.ids().size() == 26);
}

TEST_CASE("tokens that the tokenizer lacks are never written", "[generate]") {
  Writer writer;
  constexpr std::size_t tokens = 20;  // of the model's 500
  for (const bool draws : {false, true}) {
    for (const float penalty : {1.0f, 1.5f}) {
      Follower follower(writer, {.samples = draws}, {.repetition_penalty = penalty}, 12, tokens,
                        287);
      while (follower.search.step()) {
      }
      const std::vector<std::int32_t> ids = follower.ids();
      REQUIRE(ids.size() == 12);
      CHECK(std::ranges::max(ids) < static_cast<std::int32_t>(tokens));
    }
  }
}

TEST_CASE("forbidden tokens are never written, and a text ends if all are forbidden",
          "[generate]") {
  std::vector<float> scores(8, 0);
  const auto forbidden = [&](std::vector<std::int32_t> ids, const TokenRules& rules) {
    std::ranges::fill(scores, 0.0f);
    forbid(ids, rules, scores);
    std::vector<std::size_t> found;
    for (std::size_t id = 0; id < scores.size(); ++id) {
      if (std::isinf(scores[id])) found.push_back(id);
    }
    return found;
  };
  using Ids = std::vector<std::size_t>;
  // Newest token first: the text is 1 2 3 1 2.
  const std::vector<std::int32_t> text = {2, 1, 3, 2, 1};
  CHECK(forbidden(text, {.no_repeat_ngram = 1}) == Ids{1, 2, 3});
  CHECK(forbidden(text, {.no_repeat_ngram = 2}) == Ids{3});
  CHECK(forbidden(text, {.no_repeat_ngram = 3}) == Ids{3});
  CHECK(forbidden(text, {.no_repeat_ngram = 4}).empty());
  CHECK(forbidden(text, {.no_repeat_ngram = 5}).empty());
  CHECK(forbidden(text, {.no_repeat_ngram = 6}).empty());
  CHECK(forbidden(text, {.min_length = 5, .ends = {7}}).empty());
  CHECK(forbidden(text, {.min_length = 6, .ends = {7, 9}}) == Ids{7});
  CHECK(forbidden(text, {.never = {{4}}}) == Ids{4});
  CHECK(forbidden(text, {.never = {{2, 4}, {1, 2, 5}, {1, 6}}}) == Ids{4, 5});
  // Matches the whole text plus one token, and a longer sequence.
  CHECK(forbidden(text, {.never = {{2, 3, 1, 2, 7}, {1, 2, 3, 1, 2, 6}}}) == Ids{7});

  Writer writer;
  for (const bool draws : {false, true}) {
    // Each of the 20 tokens occurs once; then every token is forbidden.
    Follower follower(writer, {.samples = draws}, {.rules = {.no_repeat_ngram = 1}}, 22, 20, 287);
    while (follower.search.step()) {
    }
    const std::vector<std::int32_t> ids = follower.ids();
    CHECK(ids.size() == 20);
    CHECK(std::set<std::int32_t>(ids.begin(), ids.end()).size() == 20);
    CHECK(follower.search.finite(0));
    CHECK(!follower.search.hypotheses(0)[0].complete);
  }
}

TEST_CASE("rules apply within the offered part of the vocabulary", "[generate]") {
  Writer writer;
  const std::vector<std::int32_t> some = {3, 50, 153, 200, 201, 290, 311, 420};
  const Constraints constraints = {.rules = {.no_repeat_ngram = 1}};
  Follower follower(writer, {}, constraints, some.size(), 500, 287, {some});
  while (follower.search.step()) {
  }
  std::vector<std::int32_t> written = follower.ids();
  std::ranges::sort(written);
  CHECK(written == some);

  DecodingScorer decoding(writer.model, writer.begin({.nodes = 8, .positions = 8, .rows = 1}),
                          {some});
  ConstrainedScorer scorer(decoding, constraints, ScoreKind::logprobs, 1, 500);
  Extension next = {.id = 287};
  std::set<std::int32_t> seen;
  for (NodeIndex i = 0; i < some.size(); ++i) {
    const NextTokens row = scorer.feed({&next, 1})[0];
    const auto best = std::ranges::max_element(row.logits);
    const std::int32_t id = row.id(static_cast<std::size_t>(best - row.logits.begin()));
    CHECK(std::isfinite(*best));
    CHECK(std::ranges::find(some, id) != some.end());
    CHECK(seen.insert(id).second);
    next = {.parent = i, .id = id};
  }
}

TEST_CASE("GPT-2 ends with its own end token unless its folder has another", "[generate]") {
  const auto pipeline = load_pipeline<GeneratePipeline>(folder);
  const auto ends = [&](const char* json) {
    HubConfig config(json, {}, &pipeline->tokenizer());
    return find_family("gpt2").read(config).generation.end_ids;
  };
  using Ids = std::vector<std::int32_t>;
  CHECK(ends("{}") == Ids{50256});
  CHECK(ends(R"({"vocab_size": 50256})").empty());  // this vocabulary has no such token
  CHECK(ends(R"({"eos_token_id": [7, 3]})") == Ids{7, 3});
  CHECK(ends(R"({"eos_token_id": null})").empty());
}

TEST_CASE("a stream returns every token, then the result of generate", "[generate]") {
  Generator generator = Generator::load(folder);
  for (GenerateOptions options : {short_ones(), with(short_ones(), &GenerateOptions::beams, 3),
                                  with(short_ones(), &GenerateOptions::seed, 4)}) {
    options.attention = true;
    std::vector<GenerationStep> steps;
    const auto keep = [&](const GenerationStep& step) { steps.push_back(step); };
    const Generation streamed = generator.stream("Où est la MAGIE ? 日本", keep, options);
    const Generation whole = generator.generate("Où est la MAGIE ? 日本", options);
    CHECK(streamed.output.text == whole.output.text);
    CHECK(ids_of(streamed) == ids_of(whole));
    CHECK(streamed.attention.decoder->data == whole.attention.decoder->data);
    CHECK(steps.size() + (whole.ended ? 1 : 0) >= whole.output.tokens.size());
    if (options.beams) continue;
    REQUIRE(steps.size() + (whole.ended ? 1 : 0) == whole.output.tokens.size());
    const AttentionMap& map = *whole.attention.decoder;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      CHECK(steps[i].token == whole.output.tokens[i]);
      CHECK(whole.output.text.starts_with(steps[i].text));
      const std::size_t row = whole.prompt_tokens.size() - 1 + i;
      for (std::size_t layer = 0; layer < map.layers; ++layer) {
        for (std::size_t head = 0; head < map.heads; ++head) {
          const auto from = map.at(layer, head).subspan(row * map.keys, row + 1);
          CHECK(std::ranges::equal(steps[i].attention.decoder->at(layer, head), from));
        }
      }
    }
  }
}

TEST_CASE("a call goes on from what an earlier one kept, and answers the same", "[generate]") {
  Generator generator = Generator::load(folder);
  for (GenerateOptions plain : {short_ones(), with(short_ones(), &GenerateOptions::seed, 4),
                                with(short_ones(), &GenerateOptions::repetition_penalty, 1.3f)}) {
    plain.attention = plain.seed.has_value();
    const GenerateOptions kept = with(plain, &GenerateOptions::keep, true);
    std::string text = "The film is";
    const Generation first = generator.generate(text, kept);
    CHECK(first.reused.has_value());
    text += first.output.text + " and 日本 more";
    // A longer text, the same again, another end, a shorter text, and one without a common start.
    const std::string other = "The film has no end";
    for (const std::string& next : {text, text, other, std::string("The film"), std::string("A")}) {
      INFO(next);
      const Generation got = generator.generate(next, kept);
      const Generation expected = generator.generate(next, plain);
      CHECK(got.output.text == expected.output.text);
      CHECK(got.output.tokens == expected.output.tokens);
      CHECK(!expected.reused.has_value());
      REQUIRE(got.reused.has_value());
      CHECK(*got.reused < got.prompt_tokens.size());
      if (next == text) CHECK(*got.reused >= first.prompt_tokens.size());
      if (next == other) CHECK(*got.reused == 2);
      if (next == "A") CHECK(*got.reused == 0);
      if (plain.attention) {
        CHECK(got.attention.decoder->data == expected.attention.decoder->data);
      }
    }
  }
  // A decoding with other requests is not gone on from.
  GenerateOptions options = with(short_ones(), &GenerateOptions::keep, true);
  generator.generate("The film is", options);
  options.attention = true;
  CHECK(generator.generate("The film is", options).reused == 0);
  options.beams = 2;
  CHECK(!generator.generate("The film is", options).reused.has_value());
}

TEST_CASE("a text gives the same result in a batch as alone, and errors affect only their own text",
          "[generate]") {
  Generator generator = Generator::load(folder);
  const std::string too_long(GeneratePipeline::max_text_bytes + 1, 'a');
  const std::vector<std::string_view> texts = {"The film is", too_long, "", "not good"};
  const auto results =
      generator.generate_batch(texts, with(short_ones(), &GenerateOptions::seed, 1));
  REQUIRE(results.size() == texts.size());
  CHECK(std::get<Error>(results[1]).code() == ErrorCode::too_large);
  for (const std::size_t i : {0u, 2u, 3u}) {
    const Generation alone =
        generator.generate(texts[i], with(short_ones(), &GenerateOptions::seed, 1));
    CHECK(ids_of(std::get<Generation>(results[i])) == ids_of(alone));
  }
}

TEST_CASE("seeds and temperatures change the drawn text, and the defaults always give the same one",
          "[generate]") {
  Generator generator = Generator::load(folder);
  const auto write = [&](const GenerateOptions& options) {
    return ids_of(generator.generate("The film is", options));
  };
  const GenerateOptions greedy = short_ones(12);
  const GenerateOptions one = with(greedy, &GenerateOptions::seed, 1);
  CHECK(write(one) == write(one));
  CHECK(write(one) != write(with(greedy, &GenerateOptions::seed, 2)));
  CHECK(write(greedy) == write(with(one, &GenerateOptions::sample, false)));
  CHECK(write(greedy) == write(with(one, &GenerateOptions::temperature, 0.0f)));
  CHECK(write(greedy) == write(with(one, &GenerateOptions::top_k, 1)));
  CHECK(write(greedy) == write(with(one, &GenerateOptions::top_p, 0.0f)));
  CHECK(write(greedy) != write(with(greedy, &GenerateOptions::repetition_penalty, 3.0f)));
}

TEST_CASE("a text ends at the last position, and longer prompts lose their beginning",
          "[generate]") {
  Generator generator = Generator::load(folder);
  const std::size_t tokens = GENERATE(1u, 5u, 31u, 32u, 33u, 100u);
  INFO(tokens);
  const Generation result = generator.generate(text_of(generator, tokens), short_ones(20));
  CHECK(result.clipped == (tokens > positions));
  const std::size_t prompt = result.prompt_tokens.size(), written = result.output.tokens.size();
  CHECK(prompt == (tokens > positions ? positions / 2 : tokens));
  if (result.ended) return;
  CHECK(written == std::min<std::size_t>(20, positions + 1 - prompt));
  CHECK(result.prompt_tokens.back().end == tokens);
}

TEST_CASE("completed hypotheses are returned best first, and the first is the answer",
          "[generate]") {
  Generator generator = Generator::load(folder);
  GenerateOptions options = with(short_ones(), &GenerateOptions::beams, 4);
  options.hypotheses = true;
  const Generation result = generator.generate("The film is", options);
  REQUIRE(result.hypotheses.size() == 4);
  CHECK(result.hypotheses[0].text == result.output.text);
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(result.hypotheses[i].score <= result.hypotheses[i - 1].score);
  }
  // Not worse than greedy, as measured by the model itself.
  const Generation greedy = generator.generate("The film is", short_ones());
  CHECK(result.output.score >= greedy.output.score - 1e-6f);
}

TEST_CASE("a trace has a row per token that was read, and changes no result", "[generate]") {
  Generator generator = Generator::load(folder);
  for (const std::size_t beams : {1u, 3u}) {
    GenerateOptions options = with(short_ones(6), &GenerateOptions::beams, beams);
    const Generation plain = generator.generate("The film is", options);
    options.trace = {"logits", "decoder.layers.*.output", "decoder.layers.1.self_attn.weights"};
    options.attention = true;
    const Generation traced = generator.generate("The film is", options);
    CHECK(ids_of(plain) == ids_of(traced));
    const std::size_t prompt = plain.prompt_tokens.size();
    const std::size_t read = prompt + plain.output.tokens.size() - 1;
    REQUIRE(traced.trace.size() == 4);
    for (const TracedTensor& tensor : traced.trace) {
      INFO(tensor.name);
      if (tensor.name == "decoder.layers.1.self_attn.weights") {
        const std::span<const float> last(traced.attention.decoder->data);
        CHECK(std::ranges::equal(tensor.data, last.last(last.size() / 2)));
        continue;
      }
      REQUIRE(tensor.shape[0] == read);
      if (tensor.name != "logits" || beams > 1) continue;
      // Each output token is the best one of the preceding row.
      for (std::size_t i = 0; i < plain.output.tokens.size(); ++i) {
        const std::span<const float> row =
            std::span(tensor.data).subspan((prompt - 1 + i) * tensor.shape[1], tensor.shape[1]);
        CHECK(std::ranges::max_element(row) - row.begin() == plain.output.tokens[i].id);
      }
    }
    // Patching a tensor with its own values changes nothing; ablating a head does.
    GenerateOptions patched = with(short_ones(6), &GenerateOptions::beams, beams);
    const auto stream =
        std::ranges::find(traced.trace, "decoder.layers.0.output", &TracedTensor::name);
    patched.patch = {{.name = stream->name, .shape = stream->shape, .value = stream->data}};
    if (beams == 1) CHECK(ids_of(generator.generate("The film is", patched)) == ids_of(plain));
    patched.patch.clear();
    patched.ablate = {{0, 0, AttentionSite::decoder},
                      {0, 1, AttentionSite::decoder},
                      {1, 0, AttentionSite::decoder}};
    CHECK(generator.generate("The film is", patched).output.tokens[0].logprob !=
          plain.output.tokens[0].logprob);
  }
}

TEST_CASE("next-token probabilities sum to 1, and the first candidate is the one generated",
          "[generate]") {
  Generator generator = Generator::load(folder);
  NextOptions options;
  options.count = 0;
  const Prediction all = generator.next("The film is", options);
  CHECK(all.next.size() == 500);
  double sum = 0, model = 0;
  for (const NextToken& token : all.next) {
    sum += static_cast<double>(token.probability);
    model += std::exp(static_cast<double>(token.logprob));
  }
  CHECK(std::abs(sum - 1) < 1e-5);
  CHECK(std::abs(model - 1) < 1e-5);
  const Generation greedy = generator.generate("The film is", short_ones(1));
  CHECK(all.next[0].id == greedy.output.tokens[0].id);
  CHECK(all.next[0].text == greedy.output.tokens[0].text);
  CHECK(std::abs(all.next[0].logprob - greedy.output.tokens[0].logprob) < 1e-6f);
  options.count = 3;
  CHECK(generator.next("The film is", options).next.size() == 3);
}

TEST_CASE("invalid options of a continuation are refused by name", "[generate]") {
  const auto pipeline = load_pipeline<GeneratePipeline>(folder);
  const auto refused = [&](const char* options, const char* words) {
    INFO(options);
    const Error error = error_of([&] {
      pipeline->begin(TaskInputs{std::vector<TextInput>{"a"}}, std::string_view(options));
    });
    CHECK(error.code() == ErrorCode::invalid_option);
    CHECK_THAT(error.what(), ContainsSubstring(words));
  };
  refused(R"({"beams": 0})", "beams");
  refused(R"({"beams": 65})", "beams");
  refused(R"({"beams": 2, "temperature": 0.5})", "beams");
  refused(R"({"maxNewTokens": 0})", "maxNewTokens");
  refused(R"({"temperature": -1})", "temperature");
  refused(R"({"topP": 1.5})", "topP");
  refused(R"({"topK": -1})", "topK");
  refused(R"({"seed": 0.5})", "seed");
  refused(R"({"repetitionPenalty": 0})", "repetitionPenalty");
  refused(R"({"lengthPenalty": 11})", "lengthPenalty");
  refused(R"({"count": 3, "beams": 2})", "beams");
  refused(R"({"maxLength": 3})", "maxLength");
  refused(R"({"trace": ["encoder.output"]})", "decoder.layers.0-1.input");
  refused(R"({"ablate": [{"attention": "encoder", "layer": 0, "head": 0}]})", "ablate");
  refused(R"({"ablate": [{"attention": "decoder", "layer": 2, "head": 0}]})", "ablate");
  const std::vector<TextInput> pair = {{"a", "b"}};
  CHECK(error_of([&] { pipeline->begin(TaskInputs{pair}, "{}"); }).code() ==
        ErrorCode::invalid_option);
}

TEST_CASE("a folder sets how its texts are continued, and options override it", "[generate]") {
  const GenerationConfig drawing = {
      .end_ids = {0}, .sample = true, .sampling = {.temperature = 0.5f}};
  const GenerationConfig searching = {
      .beams = 4, .length_penalty = 2.0f, .early_stopping = EarlyStopping::never};
  CHECK(!plan_of({}, {}).choice.samples);
  const GenerationPlan folders = plan_of({}, drawing);
  CHECK(folders.choice.samples);
  CHECK(folders.choice.sampling.temperature == 0.5f);
  CHECK(folders.choice.sampling.top_k == 50);  // the library's default
  // Other options leave the folder's settings unchanged.
  const GenerateOptions seeded = with(GenerateOptions(), &GenerateOptions::seed, 1);
  const GenerateOptions hot = with(GenerateOptions(), &GenerateOptions::temperature, 2.0f);
  for (const GenerateOptions& one : {seeded, hot}) {
    CHECK(plan_of(one, drawing).choice.sampling.top_k == 50);
    CHECK(plan_of(one, {.sample = true, .sampling = {.top_k = 7}}).choice.sampling.top_k == 7);
    CHECK(plan_of(one, {}).choice.sampling.top_k == 0);
    CHECK(plan_of(with(one, &GenerateOptions::top_k, 0), drawing).choice.sampling.top_k == 0);
  }
  GenerateOptions options;
  options.beams = 3;
  CHECK(!plan_of(options, drawing).choice.samples);
  CHECK(plan_of(options, drawing).search.beams == 3);
  options = {};
  options.sample = false;
  CHECK(!plan_of(options, drawing).choice.samples);
  CHECK(plan_of(options, drawing).search.beams == 1);
  const GenerationPlan searched = plan_of({}, searching);
  CHECK(!searched.choice.samples);
  CHECK(searched.search.beams == 4);
  CHECK(searched.search.length_penalty == 2.0f);
  CHECK(searched.search.stop == SearchOptions::Stop::never);
  // Normalized over one token, its probability would always be 1.
  CHECK(!plan_of({}, {.renormalize = true}).search.renormalize);
  CHECK(plan_of({}, {.beams = 2, .renormalize = true}).search.renormalize);
  options = {};
  options.top_p = 0.9f;
  const GenerationPlan asked = plan_of(options, searching);
  CHECK(asked.choice.samples);
  CHECK(asked.search.beams == 1);
  CHECK(asked.choice.sampling.top_k == 0);
}

}  // namespace glassformer::test
