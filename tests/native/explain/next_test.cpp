// Explanations of a decoder's next token, compared with PyTorch and with properties that hold for
// any model.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>

#include "explain/readings/direct_logit_attribution.hpp"
#include "explain/traced.hpp"
#include "glassformer/explainer.hpp"
#include "glassformer/generator.hpp"
#include "support/any_file.hpp"
#include "support/checkpoint_golden.hpp"
#include "support/error_of.hpp"
#include "support/golden.hpp"
#include "tasks/explain/next/next_patching.hpp"
#include "tasks/load.hpp"

namespace glassformer::test {
namespace {

// A published GPT-2 and PyTorch's explanations of it
// (tests/fixtures/reference/goldens_explain_next.py).
struct NextGolden {
  explicit NextGolden(const std::string& name, Compute compute = Compute::f32)
      : folder(checkpoints / name),
        explainer(NextTokenExplainer::load(folder, {.compute = compute})) {
    plan = nlohmann::json::parse(read_file(folder / "expected.explain.json", any_file));
    expected = read_safetensors(folder / "expected.explain.safetensors");
    const nlohmann::json texts = CheckpointGolden(name).json.at("texts");
    text = texts.at(plan.at("text").get<std::size_t>()).at("text");
  }

  // PyTorch computes in double precision: values differ by the rounding of floats.
  void check_near(const std::string& tensor, std::span<const float> got) const {
    INFO(tensor);
    CHECK(distance(got, expected.at(tensor).values) <= 1e-4);
  }

  std::filesystem::path folder;
  NextTokenExplainer explainer;
  nlohmann::json plan;
  std::map<std::string, GoldenTensor> expected;
  std::string text;
};

const std::vector<std::string> names = {"gpt2_generate", "gpt2_scaled", "gpt2_unscaled"};

double column_sum(const LogitAttribution& attribution, const std::vector<float>& view,
                  std::size_t column) {
  double sum = 0;
  for (std::size_t i = 0; i < attribution.tokens; ++i) {
    sum += static_cast<double>(view[i * attribution.columns.size() + column]);
  }
  return sum;
}

void check_sums(const LogitAttribution& attribution) {
  const double most = 1e-4 * std::max(1.0, std::abs(attribution.value));
  CHECK(std::abs(attribution.sum(attribution.written) - attribution.value) <= most);
  CHECK(std::abs(attribution.sum(attribution.read) - attribution.value) <= most);
}

}  // namespace

TEST_CASE("rollout, value norms and lens of the next token match PyTorch", "[explain]") {
  NextGolden golden(GENERATE(from_range(names)));
  INFO(golden.folder);
  const Explanation<Rollout> rollout = golden.explainer.rollout(golden.text);
  golden.check_near("rollout", rollout.part.matrix);
  const std::size_t tokens = rollout.tokens.size();
  CHECK(std::equal(rollout.part.scores.begin(), rollout.part.scores.end(),
                   rollout.part.matrix.end() - static_cast<std::ptrdiff_t>(tokens)));
  const ValueNorms norms = golden.explainer.value_norms(golden.text).part;
  golden.check_near("value_norms.heads", norms.heads.data);
  golden.check_near("value_norms.layers", norms.layers.data);

  const std::size_t words = golden.expected.at("lens.logprobs").shape.back();
  const NextLens lens = golden.explainer.lens(golden.text, words).part;
  std::vector<float> logprobs;
  for (std::size_t layer = 0; layer < lens.layers.size(); ++layer) {
    for (std::size_t row = 0; row < lens.layers[layer].size(); ++row) {
      for (const Guess& guess : lens.layers[layer][row]) logprobs.push_back(guess.logprob);
      CHECK(lens.layers[layer][row][0].id == golden.plan.at("lens")[layer][row]);
    }
  }
  golden.check_near("lens.logprobs", logprobs);

  // After the last layer, the lens shows the answer itself.
  NextOptions everything;
  everything.count = 0;
  const Prediction next = Generator::load(golden.folder).next(golden.text, everything);
  for (const Guess& guess : lens.layers.back().back()) {
    const auto same = std::ranges::find(next.next, guess.id, &NextToken::id);
    REQUIRE(same != next.next.end());
    CHECK(same->logprob == guess.logprob);
    CHECK(same->text == guess.text);
  }
}

TEST_CASE("the attribution of the next token has PyTorch's parts, which sum to its value",
          "[explain]") {
  NextGolden golden(GENERATE(from_range(names)));
  INFO(golden.folder);
  const NextLogitAttribution found =
      golden.explainer.direct_logit_attribution(golden.text, {.effects = true}).part;
  CHECK(found.token.id == golden.plan.at("token"));
  CHECK(found.against.id == golden.plan.at("against"));
  CHECK(std::abs(found.attribution.value - golden.plan.at("value").get<double>()) < 1e-4);
  CHECK(std::abs(found.attribution.value - static_cast<double>(found.token.logprob) +
                 static_cast<double>(found.against.logprob)) < 1e-4);
  std::vector<std::string> columns;
  for (const LogitColumn& column : found.attribution.columns) columns.push_back(to_string(column));
  CHECK(columns == golden.plan.at("columns").get<std::vector<std::string>>());
  golden.check_near("ledger.written", found.attribution.written);
  golden.check_near("ledger.read", found.attribution.read);
  golden.check_near("ledger.effects", found.attribution.effects);
  check_sums(found.attribution);

  // In `written`, only the last row is nonzero. The views differ in where the heads' parts are
  // entered.
  const std::size_t width = found.attribution.columns.size();
  for (std::size_t i = 0; i + width < found.attribution.written.size(); ++i) {
    CHECK(found.attribution.written[i] == 0.0f);
  }
  for (std::size_t c = 0; c < width; ++c) {
    CHECK(std::abs(column_sum(found.attribution, found.attribution.written, c) -
                   column_sum(found.attribution, found.attribution.read, c)) < 1e-5);
  }

  const auto& other = golden.plan.at("other");
  const NextLogitAttribution chosen =
      golden.explainer
          .direct_logit_attribution(golden.text,
                                    {.token = other.at("token"), .against = other.at("against")})
          .part;
  CHECK(std::abs(chosen.attribution.value - other.at("value").get<double>()) < 1e-4);
  CHECK(chosen.attribution.effects.empty());
  golden.check_near("other.written", chosen.attribution.written);
  golden.check_near("other.read", chosen.attribution.read);
  check_sums(chosen.attribution);
}

TEST_CASE("the attribution of the next token sums to its value in every model that continues texts",
          "[explain]") {
  const std::string name = GENERATE(from_range(checkpoint_names("generate")));
  INFO(name);
  const auto compute = GENERATE(Compute::f32, Compute::int8);
  NextTokenExplainer explainer = NextTokenExplainer::load(checkpoints / name, {.compute = compute});
  check_sums(explainer.direct_logit_attribution("The film opens on a").part.attribution);
}

TEST_CASE("the attribution of the next token has a column for rounding in 8-bit integers",
          "[explain]") {
  NextGolden golden(GENERATE(from_range(names)), Compute::int8);
  const LogitAttribution attribution =
      golden.explainer.direct_logit_attribution(golden.text, {.effects = true}).part.attribution;
  REQUIRE(to_string(attribution.columns.back()) == "rounding");
  check_sums(attribution);
  const std::size_t last = attribution.columns.size() - 1;
  const double rounding = column_sum(attribution, attribution.written, last);
  CHECK(std::abs(rounding) > 1e-6);
  CHECK(std::abs(rounding) < 0.5);
  CHECK(attribution.effects[last] == 0.0f);
}

TEST_CASE("the shipped writer's attribution sums to its lead, for long texts too", "[explain]") {
  NextTokenExplainer explainer =
      NextTokenExplainer::load(GLASSFORMER_SOURCE_DIR "/weights/writer", {.compute = Compute::f32});
  std::string long_text;
  for (int i = 0; i < 400; ++i) long_text += " not bad, and then again";
  for (const std::string& text : {std::string("The film was one of the"), long_text}) {
    const Explanation<NextLogitAttribution> found = explainer.direct_logit_attribution(text);
    CHECK(found.clipped == (text == long_text));
    check_sums(found.part.attribution);
    CHECK(found.part.attribution.value > 0);
    CHECK(found.part.attribution.tokens == found.tokens.size());
  }
  // The effect of a head is the difference to a run without it.
  const std::string text = "The film was one of the";
  const NextLogitAttribution found =
      explainer.direct_logit_attribution(text, {.effects = true}).part;
  Generator generator =
      Generator::load(GLASSFORMER_SOURCE_DIR "/weights/writer", {.compute = Compute::f32});
  const auto lead = [&](const NextOptions& options) {
    const auto next = generator.next(text, options).next;
    const auto logprob = [&](std::int32_t id) {
      return static_cast<double>(std::ranges::find(next, id, &NextToken::id)->logprob);
    };
    return logprob(found.token.id) - logprob(found.against.id);
  };
  NextOptions options;
  options.count = 0;
  CHECK(std::abs(lead(options) - found.attribution.value) < 1e-4);
  options.ablate = {{2, 1, AttentionSite::decoder}};
  const LogitColumn column = {.kind = LogitColumn::Kind::head, .layer = 2, .head = 1};
  const auto place = std::ranges::find(found.attribution.columns, column);
  const auto effect = static_cast<double>(
      found.attribution
          .effects[static_cast<std::size_t>(place - found.attribution.columns.begin())]);
  CHECK(std::abs(found.attribution.value - lead(options) - effect) < 1e-4);
}

TEST_CASE("the two compared next tokens are those in which two texts differ", "[explain]") {
  using Ids = std::pair<std::optional<std::int32_t>, std::optional<std::int32_t>>;
  const auto parting = [](std::vector<float> base, std::vector<float> donor) {
    for (float& probability : base) probability = std::log(probability);
    for (float& probability : donor) probability = std::log(probability);
    const NextAttributionOptions options = parting_tokens(base, donor);
    return Ids(options.token, options.against);
  };
  // The most probable of each.
  CHECK(parting({0.6f, 0.3f, 0.1f}, {0.2f, 0.3f, 0.5f}) == Ids(2, 0));
  // If that is the same: the largest gain and the largest loss.
  CHECK(parting({0.6f, 0.3f, 0.1f}, {0.45f, 0.25f, 0.3f}) == Ids(2, 0));
  CHECK(parting({0.5f, 0.2f, 0.3f}, {0.65f, 0.25f, 0.1f}) == Ids(0, 2));
  CHECK(parting({0.5f, 0.3f, 0.19f, 0.01f}, {0.55f, 0.1f, 0.25f, 0.1f}) == Ids(3, 1));
  CHECK(parting({0.5f, 0.3f, 0.2f}, {0.5f, 0.3f, 0.2f}) == Ids());
}

// The tokens before the last layer cannot see what follows; after it, only the last one counts.
TEST_CASE("activation patching carries all of a next token's lead in the last row", "[explain]") {
  NextTokenExplainer explainer =
      NextTokenExplainer::load(GLASSFORMER_SOURCE_DIR "/weights/writer", {.compute = Compute::f32});
  const auto [tokens, clipped, label, result] =
      explainer.activation_patching("The film is neither funny", "The film is funny");
  const PatchingTable& table = result.patching.table;
  REQUIRE(table.cells == tokens.size());
  CHECK(table.done == table.values.size());
  CHECK(table.base < 0);
  CHECK(table.donor > 0);
  CHECK(table.plain_donor != table.donor);  // its last token has another position
  CHECK(table.unpaired[3]);
  for (std::size_t row = 0; row < table.rows; ++row) {
    for (std::size_t cell = 0; cell < 3; ++cell) CHECK(table.delta(row, cell) == 0.0f);
  }
  const std::size_t last = table.rows - 1;
  CHECK(table.delta(last, 3) == 0.0f);
  CHECK(std::abs(table.values[last * table.cells + 4] - table.donor) <= 1e-3f);
  CHECK(table.delta(0, 3) > 0.5f);  // "neither" made the difference

  // In 8-bit integers, too; and in models without a table of positions.
  auto integers = NextTokenExplainer::load(GLASSFORMER_SOURCE_DIR "/weights/writer",
                                           {.compute = Compute::int8});
  CHECK(integers.activation_patching("This film is", "The problem is").part.token);
  auto rotary = NextTokenExplainer::load(checkpoints / "llama");
  const auto moved = rotary.activation_patching("a b c d", "a c d").part.patching.table;
  CHECK(moved.base == moved.plain_base);
  CHECK(moved.donor == moved.plain_donor);
}

TEST_CASE("next-token explanations refuse invalid requests by name", "[explain]") {
  NextGolden golden("gpt2_generate");
  const auto refusal = [&](const NextAttributionOptions& options) {
    return error_of([&] { golden.explainer.direct_logit_attribution(golden.text, options); });
  };
  CHECK(refusal({.token = 500}).code() == ErrorCode::invalid_option);
  CHECK(refusal({.against = -1}).code() == ErrorCode::invalid_option);
  CHECK(refusal({.token = 7, .against = 7}).code() == ErrorCode::invalid_option);
  CHECK_NOTHROW(golden.explainer.rollout(""));  // begins with the bos token
  CHECK(error_of([] { NextTokenExplainer::load(checkpoints / "t5"); }).code() ==
        ErrorCode::unsupported);
  // If the token is not the most probable one, its rival is the most probable one.
  const NextLogitAttribution other =
      golden.explainer.direct_logit_attribution(golden.text, {.token = 17}).part;
  CHECK(other.against.id == golden.plan.at("token"));
  CHECK(other.attribution.value < 0);
}

}  // namespace glassformer::test
