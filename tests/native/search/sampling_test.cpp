// The choice of the next token, compared with its formulas.

#include "search/sampling.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "search/constraints.hpp"
#include "support/allocations.hpp"

namespace glassformer::test {
namespace {

std::vector<float> random_logits(std::size_t count, std::uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<float> logits(count);
  for (float& logit : logits) logit = 12 * random.uniform() - 6;
  return logits;
}

std::vector<TokenChance> all(TokenChances& chances) {
  std::vector<TokenChance> list;
  for (auto chance = chances.next(); chance; chance = chances.next()) list.push_back(*chance);
  return list;
}

// Computes the softmax, sorts it, then applies top_k, then top_p, as defined in the papers.
std::vector<TokenChance> reference(const std::vector<float>& logits,
                                   const SamplingOptions& options) {
  std::vector<TokenChance> list;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double z = static_cast<double>(logits[i]) / static_cast<double>(options.temperature);
    list.push_back({static_cast<std::int32_t>(i), std::exp(z)});
  }
  std::ranges::stable_sort(list, [](const TokenChance& a, const TokenChance& b) {
    return a.probability > b.probability;
  });
  if (options.top_k > 0 && options.top_k < list.size()) list.resize(options.top_k);
  const auto normalize = [&] {
    double sum = 0;
    for (const TokenChance& chance : list) sum += chance.probability;
    for (TokenChance& chance : list) chance.probability /= sum;
  };
  normalize();
  double mass = 0;
  std::size_t kept = 0;
  while (kept < list.size() && (kept == 0 || mass < static_cast<double>(options.top_p))) {
    mass += list[kept++].probability;
  }
  if (options.top_p < 1) list.resize(kept);
  normalize();
  return list;
}

}  // namespace

TEST_CASE("the candidate tokens match the formula, in order", "[generation]") {
  const SamplingOptions options = GENERATE(
      SamplingOptions{}, SamplingOptions{.temperature = 0.5f}, SamplingOptions{.top_k = 7},
      SamplingOptions{.top_p = 0.6f}, SamplingOptions{.top_p = 0.0f}, SamplingOptions{.top_k = 999},
      SamplingOptions{.temperature = 2.5f, .top_k = 30, .top_p = 0.8f});
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const std::vector<float> logits = random_logits(200, seed);
    TokenChances chances(200);
    chances.weigh(random_logits(200, 77), {.top_k = 3});  // keeps no state between calls
    chances.weigh(logits, options);
    const std::vector<TokenChance> got = all(chances), expected = reference(logits, options);
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      CHECK(got[i].id == expected[i].id);
      CHECK(std::abs(got[i].probability - expected[i].probability) < 1e-5);
    }
  }
}

TEST_CASE("the lower of equally probable tokens comes first, and top-k does not split them",
          "[generation]") {
  TokenChances chances(6);
  chances.weigh(std::vector<float>{0, 2, 1, 2, 1, -3}, {.top_k = 3});
  std::vector<std::int32_t> ids;
  for (const TokenChance& chance : all(chances)) ids.push_back(chance.id);
  CHECK(ids == std::vector<std::int32_t>{1, 3, 2, 4});
}

TEST_CASE("tokens are drawn in proportion to their probability", "[generation]") {
  const SamplingOptions options = GENERATE(SamplingOptions{}, SamplingOptions{.top_k = 4});
  const std::vector<float> logits = {1.0f, 0.0f, 2.0f, -1.0f, 0.5f, 1.5f};
  constexpr std::size_t draws = 20000;
  std::vector<double> counts(logits.size());
  SplitMix64 random(5);
  TokenChances chances(logits.size());
  for (std::size_t i = 0; i < draws; ++i) {
    chances.weigh(logits, options);
    counts[static_cast<std::size_t>(chances.sample(random))] += 1;
  }
  chances.weigh(logits, options);
  for (const TokenChance& chance : all(chances)) {
    const double p = chance.probability;
    const double deviation = std::sqrt(draws * p * (1 - p));
    CHECK(std::abs(counts[static_cast<std::size_t>(chance.id)] - draws * p) < 5 * deviation);
    counts[static_cast<std::size_t>(chance.id)] = 0;
  }
  CHECK(std::accumulate(counts.begin(), counts.end(), 0.0) == 0);  // no other token was drawn
}

TEST_CASE("the same seed draws the same tokens, without allocating", "[generation]") {
  const std::vector<float> logits = random_logits(5000, 9);
  const auto draw = [&](std::uint64_t seed) {
    SplitMix64 random(seed);
    TokenChances chances(logits.size());
    std::vector<std::int32_t> ids(50);
    const std::size_t before = allocations();
    for (std::int32_t& id : ids) {
      chances.weigh(logits, {.temperature = 1.3f, .top_p = 0.9f});
      id = chances.sample(random);
    }
    CHECK(allocations() == before);
    return ids;
  };
  CHECK(draw(1) == draw(1));
  CHECK(draw(1) != draw(2));
}

// tests/fixtures/reference/sampling.py writes the golden.
TEST_CASE("tokens may be sampled as in the transformers library", "[generation]") {
  std::ifstream file(GLASSFORMER_SOURCE_DIR "/tests/fixtures/reference/sampling.json");
  const auto golden = nlohmann::json::parse(file);
  const auto logits = golden.at("logits").get<std::vector<float>>();
  const auto ids = golden.at("ids").get<std::vector<std::int32_t>>();
  REQUIRE(golden.at("cases").size() == 13);
  for (const auto& each : golden.at("cases")) {
    const auto& options = each.at("options");
    CAPTURE(options.dump());
    std::vector<float> scores = logits;
    const float given = options.value("encoder_repetition_penalty", 1.0f);
    penalize(logits, {ids, 1 / given}, scores);
    const std::vector<float> changed = scores;
    penalize(changed, {ids, options.value("repetition_penalty", 1.0f)}, scores);
    TokenChances chances(logits.size());
    chances.weigh(scores, {.temperature = options.value("temperature", 1.0f),
                           .top_k = options.value("top_k", std::size_t{0}),
                           .top_p = options.value("top_p", 1.0f),
                           .min_p = options.value("min_p", 0.0f),
                           .typical_p = options.value("typical_p", 1.0f)});
    const std::vector<TokenChance> kept = all(chances);
    REQUIRE(kept.size() == each.at("kept").size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
      CHECK(kept[i].id == each.at("kept")[i][0].get<std::int32_t>());
      CHECK(std::abs(kept[i].probability - each.at("kept")[i][1].get<double>()) < 2e-6);
    }
  }
}

TEST_CASE("a token that occurs several times is penalized once", "[generation]") {
  const std::vector<float> logits = {3, -2, 0, 1};
  const std::vector<std::int32_t> ids = {1, 0, 1, 1, 2};
  std::vector<float> scores(4);
  std::ranges::copy(logits, scores.begin());
  penalize(logits, {ids, 2.0f}, scores);
  CHECK(scores == std::vector<float>{1.5f, -4, 0, 1});
}

}  // namespace glassformer::test
