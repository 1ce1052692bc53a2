// Logits to scores, and token vectors to one vector.

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "families/config/hub_config.hpp"
#include "glassformer/embedder.hpp"
#include "support/error_of.hpp"
#include "tasks/embed/vectors.hpp"
#include "tasks/reading/scores.hpp"

namespace glassformer {
namespace {

using test::error_of;

std::vector<float> scores(Scoring scoring, std::vector<float> logits) {
  to_scores(scoring, logits);
  return logits;
}

std::vector<double> reference_softmax(const std::vector<float>& logits) {
  std::vector<double> result;
  double sum = 0;
  for (const float x : logits) sum += std::exp(static_cast<double>(x) - logits[0]);
  for (const float x : logits) result.push_back(std::exp(static_cast<double>(x) - logits[0]) / sum);
  return result;
}

// Returns whether the values differ by at most a few units in the last place.
bool is_score(float got, double expected, double tolerance = 1e-6) {
  return std::abs(static_cast<double>(got) - expected) <= tolerance;
}

std::vector<float> random_floats(std::size_t n, float scale) {
  std::mt19937 random(static_cast<std::uint32_t>(n));
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> result(n);
  for (float& x : result) x = normal(random);
  return result;
}

}  // namespace

TEST_CASE("problem type and number of labels decide how logits become scores",
          "[pipelines][scores]") {
  CHECK(scoring_of("", 2) == Scoring::softmax);
  CHECK(scoring_of("single_label_classification", 5) == Scoring::softmax);
  CHECK(scoring_of("multi_label_classification", 5) == Scoring::sigmoid);
  CHECK(scoring_of("", 1) == Scoring::sigmoid);  // rerankers
  CHECK(scoring_of("single_label_classification", 1) == Scoring::sigmoid);
  CHECK(scoring_of("regression", 1) == Scoring::raw);
  CHECK(scoring_of("regression", 3) == Scoring::raw);
  const Error error = error_of([] { scoring_of("ranking", 1); });
  CHECK(error.code() == ErrorCode::invalid_config);
  CHECK(std::string(error.what()).ends_with("got \"ranking\""));
}

TEST_CASE("softmax scores are e^x / sum", "[pipelines][scores]") {
  const std::vector<float> logits = random_floats(9, 4);
  const std::vector<float> got = scores(Scoring::softmax, logits);
  const std::vector<double> expected = reference_softmax(logits);
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(is_score(got[i], expected[i]));
  // The largest floats do not overflow.
  const float huge = std::numeric_limits<float>::max();
  CHECK(scores(Scoring::softmax, {huge, huge}) == std::vector<float>{0.5f, 0.5f});
  CHECK(scores(Scoring::softmax, {1000, 0, -1000}) == std::vector<float>{1, 0, 0});
}

TEST_CASE("sigmoid scores are 1 / (1 + e^-x), independent of each other", "[pipelines][scores]") {
  const std::vector<float> logits{-20, -3.5f, -1e-3f, 0, 0.25f, 2, 30};
  const std::vector<float> got = scores(Scoring::sigmoid, logits);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double expected = 1 / (1 + std::exp(-static_cast<double>(logits[i])));
    CHECK(is_score(got[i], expected, 1e-6 * expected));
  }
  CHECK(scores(Scoring::sigmoid, {-1e30f, 1e30f}) == std::vector<float>{0, 1});
  CHECK(scores(Scoring::raw, {-3.5f, 12}) == std::vector<float>{-3.5f, 12});
}

TEST_CASE("logits that are not finite are refused", "[pipelines][scores]") {
  for (const Scoring scoring : {Scoring::softmax, Scoring::sigmoid, Scoring::raw}) {
    for (const float logit :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity()}) {
      CHECK(error_of([&] { scores(scoring, {1, logit}); }).code() == ErrorCode::non_finite);
    }
  }
}

TEST_CASE("token vectors are pooled", "[pipelines][vectors]") {
  // Four tokens with three dimensions.
  const std::vector<float> numbers{1, -8, 3, /**/ 5, -2, 0, /**/ 3, -5, 9, /**/ 7, -1, 4};
  const ConstView states = const_view(numbers.data(), {4, 3});
  const std::vector<std::size_t> all{0, 1, 2, 3};
  using enum TokenPooling;
  using Vector = std::vector<float>;
  const auto pooled = [&](std::vector<TokenPooling> poolings,
                          const std::vector<std::size_t>& tokens) {
    return pool(states, tokens, poolings);
  };
  CHECK(pooled({cls}, all) == Vector{1, -8, 3});
  CHECK(pooled({max}, all) == Vector{7, -1, 9});
  CHECK(pooled({mean}, all) == Vector{4, -4, 4});           // 16/4, -16/4, 16/4
  CHECK(pooled({mean_sqrt_len}, all) == Vector{8, -8, 8});  // divided by sqrt(4)
  CHECK(pooled({cls, max, mean, mean_sqrt_len}, all) ==
        Vector{1, -8, 3, 7, -1, 9, 4, -4, 4, 8, -8, 8});
  // Two tokens are masked; the first one is still used.
  CHECK(pooled({cls}, {1, 2}) == Vector{1, -8, 3});
  CHECK(pooled({max}, {1, 2}) == Vector{5, -2, 9});
  CHECK(pooled({mean}, {1, 2}) == Vector{4, -3.5f, 4.5f});
  CHECK(pooled({weighted_mean}, {0, 2}) == Vector{2.5f, -5.75f, 7.5f});  // by position: 1/4, 3/4
  CHECK(pooled({last_token}, all) == Vector{7, -1, 4});
  CHECK(pooled({last_token}, {1, 2}) == Vector{3, -5, 9});
  CHECK(pool(states, std::vector<std::size_t>{2, 3}, std::vector{cls}, 2) == Vector{3, -5, 9});
}

TEST_CASE("a vector is normalized to length one", "[pipelines][vectors]") {
  std::vector<float> x{3, 0, -4};
  normalize(x);
  CHECK(x == std::vector<float>{0.6f, 0, -0.8f});
  std::vector<float> many = random_floats(384, 100);
  normalize(many);
  double sum = 0;
  for (const float element : many) sum += static_cast<double>(element) * element;
  CHECK(std::abs(sum - 1) <= 1e-6);
  std::vector<float> huge{3e30f, 4e30f};  // their squares overflow
  normalize(huge);
  CHECK((is_score(huge[0], 0.6) && is_score(huge[1], 0.8)));
  std::vector<float> zero{0, 0};
  normalize(zero);
  CHECK(zero == std::vector<float>{0, 0});
  std::vector<float> tiny{1e-13f, 0};  // divided by 1e-12
  normalize(tiny);
  CHECK(is_score(tiny[0], 0.1, 1e-7));
}

TEST_CASE("similarity is the cosine, or another measure", "[pipelines][vectors]") {
  using Vector = std::vector<float>;
  const Vector a = {1, 2}, b = {4, -2};
  CHECK(similarity(a, a, Similarity::dot) == 5);
  CHECK(similarity(a, b, Similarity::euclidean) == -5);
  CHECK(similarity(a, b, Similarity::manhattan) == -7);
  const auto cosine = [](const Vector& x, const Vector& y) { return similarity(x, y); };
  CHECK(cosine({1, 0}, {0, 5}) == 0);
  CHECK(cosine({2, 2}, {-1, -1}) == -1);
  CHECK(is_score(cosine({1, 2, 2}, {4, 0, 3}), 10.0 / (3 * 5)));
  CHECK(is_score(cosine({1, 0}, {1, 1}), std::sqrt(0.5)));
  CHECK(cosine({0, 0}, {1, 1}) == 0);
  const Error error = error_of([&] { cosine({1, 2}, {1, 2, 3}); });
  CHECK(error.code() == ErrorCode::invalid_option);
  CHECK(std::string(error.what()) ==
        "similarity: expected vectors of one size, got 2 and 3 numbers");
}

}  // namespace glassformer
