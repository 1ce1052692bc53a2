// Beam search on Markov chains, compared with exhaustive search and plain argmax.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <map>
#include <set>

#include "models/initialize.hpp"
#include "search/beam_search.hpp"
#include "support/allocations.hpp"

namespace glassformer::test {
namespace {

constexpr std::int32_t start_token = 0, end_token = 1;

// Each source is a Markov chain: its next token depends only on the previous one.
class MarkovScorer final : public NextTokenScorer {
 public:
  using Table = std::vector<std::vector<float>>;  // [V][V] logits

  explicit MarkovScorer(std::vector<Table> tables) : tables_(std::move(tables)) {}

  std::span<const NextTokens> feed(std::span<const Extension> extensions) override {
    rows.push_back(extensions.size());
    next_.clear();
    for (const Extension& extension : extensions) {
      if (extension.parent != no_parent) {
        REQUIRE(extension.parent < sources_.size());
        REQUIRE(extension.source == sources_[extension.parent]);
      }
      sources_.push_back(extension.source);
      next_.push_back({tables_[extension.source][static_cast<std::size_t>(extension.id)], ids});
    }
    return next_;
  }

  double logprob(std::size_t source, std::int32_t last, std::int32_t id) const {
    const auto& row = tables_[source][static_cast<std::size_t>(last)];
    double total = 0;
    for (float x : row) total += std::exp(static_cast<double>(x));
    return static_cast<double>(row[static_cast<std::size_t>(id)]) - std::log(total);
  }
  std::size_t vocabulary() const { return tables_[0].size(); }

  std::vector<std::size_t> rows;  // fed in each step
  std::vector<std::int32_t> ids;  // of a row's logits; empty: all

 private:
  std::vector<Table> tables_;
  std::vector<std::size_t> sources_;  // by node
  std::vector<NextTokens> next_;
};

MarkovScorer::Table random_table(std::size_t vocabulary, SplitMix64& random, float spread = 6) {
  MarkovScorer::Table table(vocabulary, std::vector<float>(vocabulary));
  for (auto& row : table) {
    for (float& x : row) x = spread * random.uniform();
  }
  return table;
}

SpecialTokens tokens_of(std::size_t vocabulary) {
  SpecialTokens tokens = {start_token, end_token, std::vector<bool>(vocabulary, false)};
  tokens.never[start_token] = true;
  return tokens;
}

using Ids = std::vector<std::int32_t>;

Ids ids_of(const BeamSearch& search, std::size_t source, CandidateIndex last) {
  Ids ids;
  for (CandidateIndex i : search.path(source, last)) ids.push_back(search.tree(source)[i].id);
  return ids;
}

struct Scored {
  Ids ids;
  double logprob, score;
};

// Returns every sequence of at most `max_length` tokens that ends with the end token, best first.
std::vector<Scored> exhaustive(const MarkovScorer& scorer, std::size_t max_length, double penalty) {
  std::vector<Scored> found;
  std::vector<Scored> open = {{{}, 0, 0}};
  while (!open.empty()) {
    const Scored prefix = open.back();
    open.pop_back();
    for (std::int32_t id = 1; id < static_cast<std::int32_t>(scorer.vocabulary()); ++id) {
      Scored next = prefix;
      const std::int32_t last = prefix.ids.empty() ? start_token : prefix.ids.back();
      next.logprob += scorer.logprob(0, last, id);
      next.ids.push_back(id);
      next.score = next.logprob / std::pow(static_cast<double>(next.ids.size()), penalty);
      if (id == end_token) {
        found.push_back(next);
      } else if (next.ids.size() < max_length) {
        open.push_back(next);
      }
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Scored& a, const Scored& b) { return a.score > b.score; });
  return found;
}

// Takes the most probable token at each step.
Ids argmax(const MarkovScorer& scorer, std::size_t source, std::size_t max_length) {
  Ids ids;
  std::int32_t last = start_token;
  while (ids.size() < max_length && last != end_token) {
    std::int32_t best = 1;
    for (std::int32_t id = 2; id < static_cast<std::int32_t>(scorer.vocabulary()); ++id) {
      if (scorer.logprob(source, last, id) > scorer.logprob(source, last, best)) best = id;
    }
    ids.push_back(last = best);
  }
  return ids;
}

void run(BeamSearch& search) {
  while (search.step()) {
  }
}

}  // namespace

TEST_CASE("a beam as wide as the search space finds the results of exhaustive search",
          "[generation]") {
  const float penalty = GENERATE(0.0f, 0.6f, 1.0f, 2.0f);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed << ", length penalty " << penalty);
    SplitMix64 random(seed);
    MarkovScorer scorer({random_table(4, random)});
    const SpecialTokens tokens = tokens_of(4);
    const std::vector<std::size_t> max_lengths = {5};
    BeamSearch search(scorer, tokens, {.beams = 64, .length_penalty = penalty, .max_repeats = 0},
                      max_lengths);
    run(search);

    const auto expected = exhaustive(scorer, 5, static_cast<double>(penalty));
    const auto got = search.hypotheses(0);
    REQUIRE(got.size() == expected.size());  // 1 + 2 + 4 + 8 + 16
    for (std::size_t i = 0; i < got.size(); ++i) {
      CHECK(got[i].complete);
      CHECK(std::abs(static_cast<double>(got[i].score) - expected[i].score) < 1e-5);
      CHECK(std::abs(search.tree(0)[got[i].last].total - expected[i].logprob) < 1e-5);
    }
    CHECK(ids_of(search, 0, got[0].last) == expected[0].ids);
    CHECK(search.leader(0) == got[0].last);
  }
}

TEST_CASE("the probabilities of a token's continuations sum to 1", "[generation]") {
  SplitMix64 random(3);
  MarkovScorer scorer({random_table(5, random)});
  const SpecialTokens tokens = {start_token, end_token, std::vector<bool>(5, false)};
  const std::vector<std::size_t> max_lengths = {3};
  BeamSearch search(scorer, tokens, {.beams = 64, .max_repeats = 0}, max_lengths);
  run(search);
  std::map<CandidateIndex, double> sums;
  const auto& tree = search.tree(0);
  for (CandidateIndex i = 1; i < tree.size(); ++i) {
    CHECK(tree[i].parent < i);
    CHECK(tree[i].length == tree[tree[i].parent].length + 1);
    sums[tree[i].parent] += std::exp(static_cast<double>(tree[i].logprob));
  }
  CHECK(sums.size() == 1 + 4 + 16);
  for (const auto& [parent, sum] : sums) CHECK(std::abs(sum - 1) < 1e-5);
}

TEST_CASE("a search with one beam takes the most probable token at every step", "[generation]") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    SplitMix64 random(seed);
    MarkovScorer scorer({random_table(60, random)});
    const SpecialTokens tokens = tokens_of(60);
    const std::vector<std::size_t> max_lengths = {40};
    BeamSearch search(scorer, tokens, {.beams = 1, .max_repeats = 0}, max_lengths);
    run(search);
    const auto found = search.hypotheses(0);
    REQUIRE(found.size() == 1);
    const Ids ids = ids_of(search, 0, found[0].last);
    CHECK(ids == argmax(scorer, 0, 40));
    CHECK(found[0].complete == (ids.back() == end_token));
  }
}

TEST_CASE("the search continues while a growing hypothesis is ahead of the best complete one",
          "[generation]") {
  // Two hypotheses have ended after two steps, but 2, 3 is more probable per token than either.
  constexpr float none = 1e-9f;
  MarkovScorer::Table table = {{none, 0.4f, 0.6f, none},
                               {none, none, none, none},
                               {none, 0.45f, none, 0.55f},
                               {none, 0.95f, 0.05f, none}};
  for (auto& row : table) {
    for (float& x : row) x = std::log(x);
  }
  MarkovScorer scorer({table});
  const SpecialTokens tokens = tokens_of(4);
  const std::vector<std::size_t> max_lengths = {20};
  BeamSearch search(scorer, tokens, {.beams = 2}, max_lengths);
  run(search);
  const auto found = search.hypotheses(0);
  REQUIRE(found.size() == 2);
  CHECK(ids_of(search, 0, found[0].last) == Ids{2, 3, end_token});
  CHECK(ids_of(search, 0, found[1].last) == Ids{2, end_token});
  CHECK(search.tree(0).back().length == 3);
}

TEST_CASE("the search ends when no growing hypothesis is better than the best complete one",
          "[generation]") {
  // The end token and another one are equally probable.
  MarkovScorer scorer({MarkovScorer::Table(3, {-100, 0, 0})});
  const SpecialTokens tokens = tokens_of(3);
  const std::vector<std::size_t> max_lengths = {5};
  BeamSearch search(scorer, tokens, {.beams = 1, .max_repeats = 0}, max_lengths);
  run(search);
  CHECK(scorer.rows.size() == 1);
  CHECK(ids_of(search, 0, search.leader(0)) == Ids{end_token});
}

TEST_CASE("hypotheses are returned best first, each with its own tokens and score",
          "[generation]") {
  const std::size_t beams = GENERATE(2u, 4u, 8u);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed << ", beams " << beams);
    SplitMix64 random(seed);
    MarkovScorer scorer({random_table(30, random)});
    const SpecialTokens tokens = tokens_of(30);
    const std::vector<std::size_t> max_lengths = {20};
    BeamSearch search(scorer, tokens, {.beams = beams, .length_penalty = 0.8f}, max_lengths);
    CHECK(search.hypotheses(0).empty());
    run(search);
    const auto found = search.hypotheses(0);
    REQUIRE(!found.empty());
    CHECK(found.size() <= beams);
    std::set<Ids> different;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i > 0) CHECK(found[i].score <= found[i - 1].score);
      const Ids ids = ids_of(search, 0, found[i].last);
      CHECK(different.insert(ids).second);
      double logprob = 0;
      std::int32_t last = start_token;
      for (std::int32_t id : ids) {
        logprob += scorer.logprob(0, last, id);
        last = id;
      }
      CHECK(std::abs(static_cast<double>(found[i].score) -
                     logprob / std::pow(static_cast<double>(ids.size()), 0.8)) < 1e-5);
    }
  }
}

TEST_CASE("a batch gives each source its own result, and finished sources feed no rows",
          "[generation]") {
  SplitMix64 random(5);
  std::vector<MarkovScorer::Table> tables;
  for (int i = 0; i < 5; ++i) tables.push_back(random_table(20, random));
  const std::vector<std::size_t> max_lengths = {3, 12, 1, 0, 7};
  const SpecialTokens tokens = tokens_of(20);
  MarkovScorer scorer(tables);
  BeamSearch search(scorer, tokens, {.beams = 3}, max_lengths);
  run(search);
  std::size_t rows_alone = 0;
  for (std::size_t source = 0; source < tables.size(); ++source) {
    MarkovScorer alone({tables[source]});
    const std::vector<std::size_t> max_length = {max_lengths[source]};
    BeamSearch single(alone, tokens, {.beams = 3}, max_length);
    run(single);
    const auto expected = single.hypotheses(0), got = search.hypotheses(source);
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      CHECK(got[i].score == expected[i].score);
      CHECK(ids_of(search, source, got[i].last) == ids_of(single, 0, expected[i].last));
      CHECK(ids_of(single, 0, expected[i].last).size() <= max_lengths[source]);
    }
    for (std::size_t rows : alone.rows) rows_alone += rows;
  }
  std::size_t rows = 0;
  for (std::size_t step : scorer.rows) rows += step;
  CHECK(rows == rows_alone);
  CHECK(!search.step());
}

TEST_CASE("endless hypotheses are cut at the limit, and forbidden tokens are never generated",
          "[generation]") {
  SplitMix64 random(6);
  auto table = random_table(10, random);
  for (auto& row : table) row[end_token] = -1e30f;
  for (auto& row : table) row[7] = 50;
  SpecialTokens tokens = tokens_of(10);
  tokens.never[7] = true;
  MarkovScorer scorer({table});
  const std::vector<std::size_t> max_lengths = {9};
  BeamSearch search(scorer, tokens, {.beams = 3}, max_lengths);
  run(search);
  const auto found = search.hypotheses(0);
  REQUIRE(found.size() == 3);
  for (const Hypothesis& hypothesis : found) {
    CHECK(!hypothesis.complete);
    const Ids ids = ids_of(search, 0, hypothesis.last);
    CHECK(ids.size() == 9);
    CHECK(std::find(ids.begin(), ids.end(), 7) == ids.end());
  }

  tokens.never.assign(10, true);  // no token may follow the start
  BeamSearch stuck(scorer, tokens, {.beams = 3}, max_lengths);
  CHECK(!stuck.step());
  CHECK(stuck.path(0, stuck.leader(0)).empty());
}

TEST_CASE("a loop is left after its fourth round", "[generation]") {
  const std::size_t period = GENERATE(1u, 2u, 3u, 4u, 5u);
  INFO("period " << period);
  MarkovScorer::Table table(20, std::vector<float>(20, 0.0f));
  for (std::size_t i = 0; i < period; ++i) {
    table[2 + i][2 + (i + 1) % period] = 12;
    table[2 + i][end_token] = 6;
  }
  table[start_token][2] = 12;
  const SpecialTokens tokens = tokens_of(20);
  const std::vector<std::size_t> max_lengths = {64};
  const auto length = [&](std::size_t max_repeats) {
    MarkovScorer scorer({table});
    BeamSearch search(scorer, tokens, {.beams = 1, .max_repeats = max_repeats}, max_lengths);
    run(search);
    return search.path(0, search.leader(0)).size();
  };
  CHECK(length(0) == 64);
  CHECK(length(4) == (period <= 4 ? 4 * period + period : 64));
  CHECK(length(1) == (period <= 4 ? 2 * period : 64));
}

TEST_CASE("a search allocates all its memory at the start", "[generation]") {
  // Any logits that rarely end.
  struct Scorer final : NextTokenScorer {
    Scorer() {
      SplitMix64 random(9);
      for (float& x : logits) x = 6 * random.uniform();
      for (std::size_t row = 0; row < logits.shape(0); ++row) logits(row, end_token) = -1;
    }
    std::span<const NextTokens> feed(std::span<const Extension> extensions) override {
      first = (first + 1) % 20;
      for (std::size_t i = 0; i < extensions.size(); ++i) {
        next[i].logits = {&logits(first + i, 0), logits.shape(1)};
      }
      return std::span(next).first(extensions.size());
    }
    Tensor logits = Tensor::from_shape({40, 100});
    std::array<NextTokens, 12> next;
    std::size_t first = 0;
  };
  Scorer scorer;
  const SpecialTokens tokens = tokens_of(100);
  const std::vector<std::size_t> max_lengths = {30, 12, 25};
  BeamSearch search(scorer, tokens, {.beams = 4}, max_lengths);
  const std::size_t before = allocations();
  std::size_t steps = 0;
  while (search.step()) ++steps;
  CHECK(allocations() == before);
  CHECK(steps == 29);
}

TEST_CASE("a search over part of the vocabulary treats all other tokens as impossible",
          "[generation]") {
  SplitMix64 random(5);
  const auto whole = random_table(30, random);
  const std::vector<std::int32_t> ids = {end_token, 4, 7, 11, 18, 29};
  MarkovScorer::Table part = whole, without = whole;  // `without`: all other tokens are impossible
  for (std::size_t last = 0; last < whole.size(); ++last) {
    part[last].clear();
    for (const std::int32_t id : ids)
      part[last].push_back(whole[last][static_cast<std::size_t>(id)]);
    for (std::size_t id = 0; id < whole.size(); ++id) {
      const bool offered =
          std::find(ids.begin(), ids.end(), static_cast<std::int32_t>(id)) != ids.end();
      if (!offered) without[last][id] = -1e4f;
    }
  }
  MarkovScorer narrow({part}), wide({without});
  narrow.ids = ids;
  const SpecialTokens tokens = tokens_of(30);
  const std::vector<std::size_t> max_lengths = {8};
  BeamSearch a(narrow, tokens, {.beams = 2}, max_lengths),
      b(wide, tokens, {.beams = 2}, max_lengths);
  bool more = true;
  while (more) {
    more = a.step();
    REQUIRE(b.step() == more);
  }
  REQUIRE(a.tree(0).size() == b.tree(0).size());
  for (std::size_t i = 0; i < a.tree(0).size(); ++i) {
    CHECK(a.tree(0)[i].id == b.tree(0)[i].id);
    CHECK(std::abs(a.tree(0)[i].total - b.tree(0)[i].total) < 1e-4);
  }
}

TEST_CASE("equal scores go to the lower token", "[generation]") {
  MarkovScorer scorer({MarkovScorer::Table(6, std::vector<float>(6, 1.5f))});
  const SpecialTokens tokens = tokens_of(6);
  const std::vector<std::size_t> max_lengths = {2};
  BeamSearch search(scorer, tokens, {.beams = 2, .max_repeats = 0}, max_lengths);
  search.step();
  const auto& tree = search.tree(0);
  REQUIRE(tree.size() == 5);
  for (CandidateIndex i = 1; i < 5; ++i) CHECK(tree[i].id == static_cast<std::int32_t>(i));
  CHECK((tree[1].kept && tree[2].kept && tree[3].kept && !tree[4].kept));  // only 1 ends
}

TEST_CASE("equal scores go to the hypothesis that was ahead", "[generation]") {
  MarkovScorer scorer({MarkovScorer::Table(6, std::vector<float>(6, 1.5f))});
  const SpecialTokens tokens = tokens_of(6);
  const std::vector<std::size_t> max_lengths = {3};
  BeamSearch search(scorer, tokens, {.beams = 2, .max_repeats = 0}, max_lengths);
  search.step();  // 2 and 3 continue, with equal probability
  search.step();
  const auto& tree = search.tree(0);
  REQUIRE(tree.size() == 9);
  for (CandidateIndex i = 5; i < 9; ++i) {
    CHECK(tree[i].parent == 2);
    CHECK(tree[i].id == static_cast<std::int32_t>(i - 4));
  }
}

}  // namespace glassformer::test
