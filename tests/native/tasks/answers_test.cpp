// Spans of a context from the logits of their starts and ends.

#include "tasks/answer/answers.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "support/error_of.hpp"

namespace glassformer {
namespace {

using test::error_of;
using Windows = std::vector<TokenWindow>;

const TokenTemplate bert = surrounded(101, 102, Separator::once_with_types);

// Returns tokens of one character each, every one a word.
std::vector<Token> letter_tokens(std::size_t n) {
  std::vector<Token> tokens;
  for (std::uint32_t i = 0; i < n; ++i) tokens.push_back({7, i, i + 1});
  return tokens;
}

// Returns [CLS] question [SEP] context [SEP]; the context's first token is at 2 + question.
ModelInput window(std::size_t question, std::size_t context) {
  return fill(bert.pair, letter_tokens(question), letter_tokens(context));
}

// The best span by definition: tries every pair of tokens.
struct Reference {
  std::size_t first = 0, last = 0;  // positions in the window
  double score = -1, null_score = 0;
};

std::vector<double> masked_softmax(const ModelInput& input, const std::vector<float>& logits) {
  std::vector<double> p;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const bool stays = i == 0 || input.kinds[i] == TemplatePart::Kind::second_text;
    p.push_back(stays ? static_cast<double>(logits[i]) : -10000.0);
  }
  const double most = *std::max_element(p.begin(), p.end());
  double sum = 0;
  for (double& x : p) sum += x = std::exp(x - most);
  for (double& x : p) x /= sum;
  return p;
}

Reference reference(const ModelInput& input, const std::vector<float>& start,
                    const std::vector<float>& end, std::size_t max_answer_len) {
  std::vector<double> s = masked_softmax(input, start), e = masked_softmax(input, end);
  Reference best{.null_score = s[0] * e[0]};
  s[0] = e[0] = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    for (std::size_t j = i; j < std::min(s.size(), i + max_answer_len); ++j) {
      if (s[i] * e[j] > best.score) best = {i, j, s[i] * e[j], best.null_score};
    }
  }
  return best;
}

std::vector<float> random_logits(std::size_t n, std::mt19937& random) {
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(n);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

// Returns n logits: zeros, except the given ones.
std::vector<float> with(std::size_t n, std::vector<std::pair<std::size_t, float>> others) {
  std::vector<float> logits(n, 0.0f);
  for (const auto& [position, logit] : others) logits[position] = logit;
  return logits;
}

bool is_near(float got, double expected) {
  return std::abs(static_cast<double>(got) - expected) <= 1e-6;
}

}  // namespace

TEST_CASE("a long context is read in windows, each together with the question",
          "[pipelines][answers]") {
  const auto windows = [](std::size_t question, std::size_t context,
                          const AnswerOptions& options = {}) {
    return context_windows(bert.pair, {question, context}, options);
  };
  // 384 - 3 special - 10 of the question = 371; each window starts 371 - 128 after the previous
  // one.
  CHECK(windows(10, 371) == Windows{{0, 371}});
  CHECK(windows(10, 372) == Windows{{0, 371}, {243, 372}});
  CHECK(windows(10, 900) == Windows{{0, 371}, {243, 614}, {486, 857}, {729, 900}});
  // A model of 64 tokens: windows overlap by half by default.
  CHECK(windows(10, 60, {.max_seq_len = 64}) == Windows{{0, 51}, {19, 60}});
  CHECK(windows(10, 60, {.max_seq_len = 64, .doc_stride = 5}) == Windows{{0, 51}, {46, 60}});
  // The question leaves space for 32 tokens, no more than the overlap, which becomes 16.
  CHECK(windows(29, 60, {.max_seq_len = 64}) == Windows{{0, 32}, {16, 48}, {32, 60}});
  CHECK(windows(60, 2, {.max_seq_len = 64}) == Windows{{0, 1}, {1, 2}});
  const Error error = error_of([&] { windows(61, 2, {.max_seq_len = 64}); });
  CHECK(error.code() == ErrorCode::too_large);
  CHECK(std::string(error.what()) ==
        "question: expected at most 60 tokens, so that one token of the context fits, too, "
        "got 61; shorten the question");
}

TEST_CASE("the best span has the highest p_start · p_end", "[pipelines][answers]") {
  std::mt19937 random(20261123);
  for (int round = 0; round < 300; ++round) {
    const std::size_t question = random() % 6;
    const std::size_t context = 1 + random() % 40;
    const std::size_t max_answer_len = 1 + random() % 20;
    const ModelInput input = window(question, context);
    const std::vector<float> start = random_logits(input.tokens.size(), random);
    const std::vector<float> end = random_logits(input.tokens.size(), random);
    const Reference expected = reference(input, start, end, max_answer_len);
    const AnswerSpan got = best_span(input, start, end, max_answer_len);
    INFO("round " << round);
    CHECK(got.start == expected.first - question - 2);
    CHECK(got.end == expected.last - question - 1);
    CHECK(is_near(got.score, expected.score));
    CHECK(is_near(got.null_score, expected.null_score));
  }
}

TEST_CASE("a span is within the context, in order and short", "[pipelines][answers]") {
  const ModelInput input = window(2, 20);  // the context is at 4 to 23
  const std::size_t n = input.tokens.size();
  REQUIRE(n == 25);
  const auto span = [&](std::vector<std::pair<std::size_t, float>> start,
                        std::vector<std::pair<std::size_t, float>> end, std::size_t most = 15) {
    const AnswerSpan found = best_span(input, with(n, start), with(n, end), most);
    return std::pair(found.start, found.end);
  };
  using Place = std::pair<std::uint32_t, std::uint32_t>;
  // Logits of the question and of special tokens are ignored, however high.
  CHECK(span({{0, 30}, {1, 90}, {3, 80}, {7, 5}}, {{2, 90}, {24, 90}, {9, 5}}) == Place{3, 6});
  // The end must not precede the start, so only one of the two counts.
  CHECK(span({{10, 9}}, {{6, 8}}) == Place{6, 7});
  // 5 to 19 has 15 tokens; 5 to 20 has one too many.
  CHECK(span({{5, 9}}, {{19, 8}, {20, 9}}) == Place{1, 16});
  CHECK(span({{5, 9}}, {{19, 8}, {20, 9}}, 16) == Place{1, 17});
  CHECK(span({{5, 9}}, {{6, 9}}, 1) == Place{1, 2});
  // If all are equal, the first one is best.
  CHECK(span({}, {}) == Place{0, 1});
}

TEST_CASE("the null score is the first token's", "[pipelines][answers]") {
  // p_start[0] = 1/2, since e^x equals four tokens of e^0; p_end[0] = 1/5.
  const ModelInput input = window(3, 4);
  const std::size_t n = input.tokens.size();
  const AnswerSpan found =
      best_span(input, with(n, {{0, std::log(4.0f)}, {2, 50}}), with(n, {{1, 50}}), 15);
  CHECK(is_near(found.null_score, 0.5 * 0.2));
  CHECK(is_near(found.score, 0.125 * 0.2));
  // The null answer is certain: the context's share underflows in floats.
  const AnswerSpan none = best_span(input, with(n, {{0, 500}}), with(n, {{0, 500}}), 15);
  CHECK(none.null_score == 1);
  CHECK(none.score == 0);
}

TEST_CASE("an answer is extended to whole words", "[pipelines][answers]") {
  // "play ing now here": two words of two tokens each, with a one-token word between them.
  std::vector<Token> context{{1, 0, 4}, {2, 4, 7}, {3, 8, 9}, {4, 10, 13}, {5, 13, 17}};
  context[1].starts_word = context[4].starts_word = false;
  const auto place = [](const ModelInput& input, std::size_t first, std::size_t last) {
    const std::size_t n = input.tokens.size();
    const AnswerSpan found = best_span(input, with(n, {{first, 9}}), with(n, {{last, 9}}), 15);
    return std::pair(found.start, found.end);
  };
  using Place = std::pair<std::uint32_t, std::uint32_t>;
  const ModelInput input = fill(bert.pair, letter_tokens(1), context);  // the context is at 3 to 7
  CHECK(place(input, 4, 4) == Place{0, 7});
  CHECK(place(input, 3, 3) == Place{0, 7});
  CHECK(place(input, 5, 5) == Place{8, 9});
  CHECK(place(input, 4, 6) == Place{0, 17});
  CHECK(place(input, 6, 7) == Place{10, 17});
  // A window that starts or ends within a word has only part of it.
  const std::span<const Token> all(context);
  CHECK(place(fill(bert.pair, letter_tokens(1), all.subspan(1, 3)), 3, 3) == Place{4, 7});
  CHECK(place(fill(bert.pair, letter_tokens(1), all.subspan(1, 3)), 5, 5) == Place{10, 13});
}

TEST_CASE("the answer is the best of all windows", "[pipelines][answers]") {
  const std::string context = "In 😀 Zoë née Ng, 1990.";
  const std::vector<AnswerSpan> windows{
      {.start = 0, .end = 2, .score = 0.25f, .null_score = 0.5f},
      {.start = 6, .end = 9, .score = 0.375f, .null_score = 0.4375f},
      {.start = 18, .end = 22, .score = 0.375f, .null_score = 0.625f}};
  const Answer answer = best_answer(context, windows, {});
  CHECK(answer.answer == "Zoë");  // the first of two equal ones; offsets are in UTF-16 units
  CHECK(answer.score == 0.375f);
  CHECK(answer.start == 6);
  CHECK(answer.end == 9);
  CHECK(best_answer(context, std::span(windows).subspan(2), {}).answer == "1990");
}

TEST_CASE("an answer may be empty if that is allowed", "[pipelines][answers]") {
  std::vector<AnswerSpan> windows{{.start = 0, .end = 2, .score = 0.25f, .null_score = 0.5f},
                                  {.start = 3, .end = 5, .score = 0.375f, .null_score = 0.4375f}};
  const AnswerOptions options{.handle_impossible_answer = true};
  // The lowest null score counts: every window must agree.
  const Answer none = best_answer("In June", windows, options);
  CHECK(none.answer.empty());
  CHECK(none.score == 0.4375f);
  CHECK(none.start == 0);
  CHECK(none.end == 0);
  CHECK(best_answer("In June", windows, {}).answer == "Ju");
  windows[0].null_score = 0.375f;  // the answer wins at equal scores
  CHECK(best_answer("In June", windows, options).answer == "Ju");
}

TEST_CASE("span logits that are not finite are refused", "[pipelines][answers]") {
  const ModelInput input = window(2, 3);
  const std::vector<float> zeros = with(input.tokens.size(), {});
  for (const float logit :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const std::vector<float> broken = with(input.tokens.size(), {{5, logit}});
    CHECK(error_of([&] { best_span(input, broken, zeros, 15); }).code() == ErrorCode::non_finite);
    CHECK(error_of([&] { best_span(input, zeros, broken, 15); }).code() == ErrorCode::non_finite);
  }
}

}  // namespace glassformer
