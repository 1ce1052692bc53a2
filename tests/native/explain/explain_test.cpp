// Explanations of an answer, compared with PyTorch and with properties that hold for any model.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "explain/interventions/value_zeroing.hpp"
#include "explain/patching/activation_patching.hpp"
#include "explain/readings/direct_logit_attribution.hpp"
#include "explain/readings/lens.hpp"
#include "explain/readings/rollout.hpp"
#include "explain/readings/value_norms.hpp"
#include "explain/traced.hpp"
#include "support/explain_golden.hpp"
#include "weights/quantize.hpp"

namespace glassformer::test {
namespace {

Stream stream_of(const EncoderRunner& model, const ExplainedText& text) {
  const std::size_t layers = model->encoder().stack().config().layers.size();
  return stream_of(trace(model, text, stream_tensors(layers)), layers);
}

std::size_t zeroing_layers(const ExplainGolden& golden) {
  return golden.model->encoder().stack().config().layers.size();
}

AttentionMap random_rows(std::size_t layers, std::size_t heads, std::size_t queries,
                         std::size_t keys) {
  AttentionMap map = {.layers = layers, .heads = heads, .queries = queries, .keys = keys};
  std::uint32_t state = 7;
  for (float& weight : map.data) {
    state = state * 1664525u + 1013904223u;
    weight = static_cast<float>(state >> 8) / 16777216.0f;
  }
  for (std::size_t row = 0; row < map.data.size() / keys; ++row) {
    const auto begin = map.data.begin() + static_cast<std::ptrdiff_t>(row * keys);
    const float sum = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(keys), 0.0f);
    std::transform(begin, begin + static_cast<std::ptrdiff_t>(keys), begin,
                   [&](float weight) { return weight / sum; });
  }
  return map;
}

void check_rows_sum_to_one(const std::vector<float>& matrix, std::size_t columns) {
  for (std::size_t row = 0; row < matrix.size() / columns; ++row) {
    const auto begin = matrix.begin() + static_cast<std::ptrdiff_t>(row * columns);
    CHECK(std::abs(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(columns), 0.0) - 1) <
          1e-5);
  }
}

}  // namespace

TEST_CASE("rollout multiplies the layers' mixtures", "[explain]") {
  const ExplainGolden golden = explain_golden();
  const auto output = golden.runner()(golden.text.batch(), {.attention = true});
  const std::vector<float> got = rollout(output.attention[0]);
  golden.check_near("rollout", got);
  check_rows_sum_to_one(got, golden.text.tokens());

  std::vector<float> last(golden.text.tokens());
  last.back() = 1;
  CHECK(pooled_rollout(got, last) ==
        std::vector<float>(got.end() - static_cast<std::ptrdiff_t>(last.size()), got.end()));
}

TEST_CASE("a query that reads nothing consists only of itself in a rollout", "[explain]") {
  AttentionMap map = {.layers = 2, .heads = 2, .queries = 3, .keys = 3};
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (std::size_t head = 0; head < 2; ++head)
      map.at(layer, head)[3] = 1;  // token 1 reads token 0
  }
  CHECK(rollout(map) == std::vector<float>{1, 0, 0, 0.75f, 0.25f, 0, 0, 0, 1});
}

TEST_CASE("a translation's rollout continues through the source", "[explain]") {
  const AttentionMap encoder = random_rows(2, 3, 5, 5), decoder = random_rows(2, 3, 4, 4),
                     cross = random_rows(2, 3, 4, 5);
  const std::vector<float> got = rollout({encoder, decoder, cross});
  REQUIRE(got.size() == 4 * 9);
  check_rows_sum_to_one(got, 9);

  // One layer by its formula: target ½ · ½ (A + I), source ½ C · R_encoder.
  const AttentionMap self = random_rows(1, 1, 4, 4), source = random_rows(1, 1, 4, 5);
  const std::vector<float> one = rollout({encoder, self, source}), read = rollout(encoder);
  for (std::size_t t = 0; t < 4; ++t) {
    for (std::size_t j = 0; j < 4; ++j) {
      const float expected = 0.25f * (self.at(0, 0)[t * 4 + j] + (t == j ? 1.0f : 0.0f));
      CHECK(std::abs(one[t * 9 + j] - expected) < 1e-6f);
    }
    for (std::size_t s = 0; s < 5; ++s) {
      float expected = 0;
      for (std::size_t k = 0; k < 5; ++k)
        expected += 0.5f * source.at(0, 0)[t * 5 + k] * read[k * 5 + s];
      CHECK(std::abs(one[t * 9 + 4 + s] - expected) < 1e-6f);
    }
  }
}

TEST_CASE("value norms are the norms of the vectors that attention moves", "[explain]") {
  const ExplainGolden golden = explain_golden();
  const auto traced = trace(golden.runner(), golden.text, value_norm_tensors());
  const ValueNorms norms = value_norms(explained_stack(golden.model->encoder(), "encoder"), traced);
  golden.check_near("value_norms.heads", norms.heads.data);
  golden.check_near("value_norms.layers", norms.layers.data);
}

TEST_CASE("value zeroing has PyTorch's shares, however many tokens run side by side", "[explain]") {
  const ExplainGolden golden = explain_golden();
  const std::size_t together = GENERATE(std::size_t{1}, std::size_t{30}, std::size_t{512});
  ValueZeroing zeroing(golden.runner(), golden.text, stream_of(golden.runner(), golden.text));
  std::size_t steps = 1;
  while (zeroing.step(together)) ++steps;
  const std::size_t tokens = golden.text.tokens(), layers = zeroing_layers(golden);
  const std::size_t a_step = std::min(std::max<std::size_t>(together / tokens, 1), tokens);
  CHECK(steps == layers * ((tokens + a_step - 1) / a_step));
  const ZeroedValues values = zeroing.take();
  golden.check_near("value_zeroing.layers", values.layers.data);
  golden.check_near("value_zeroing.rollout", values.matrix);
  check_rows_sum_to_one(values.layers.data, tokens);
  check_rows_sum_to_one(values.matrix, tokens);
}

TEST_CASE("a row that no value changes keeps its state", "[explain]") {
  const ExplainGolden golden = explain_golden();
  Stream stream = stream_of(golden.runner(), golden.text);
  std::ranges::fill(stream.states, 0.0f);  // without a direction, nothing can turn
  ValueZeroing zeroing(golden.runner(), golden.text, std::move(stream));
  while (zeroing.step()) {
  }
  const std::size_t tokens = golden.text.tokens();
  const std::vector<float> matrix = zeroing.take().matrix;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    CHECK(matrix[i] == (i / tokens == i % tokens ? 1.0f : 0.0f));
  }
}

TEST_CASE("the lens applies the model's own head to each layer's stream", "[explain]") {
  const ExplainGolden golden = explain_golden();
  const Lens read = lens(golden.runner(), stream_of(golden.runner(), golden.text));
  golden.check_near("lens.logits", read.logits);
  golden.check_near("lens.token_logits", read.token_logits);

  // The last row is the answer, bit for bit.
  const Tensor logits = golden.runner()(golden.text.batch(), {}).logits;
  CHECK(std::equal(logits.begin(), logits.end(),
                   read.logits.end() - static_cast<std::ptrdiff_t>(read.labels)));
}

TEST_CASE("the attribution has PyTorch's parts, which sum to the answer", "[explain]") {
  const ExplainGolden golden = explain_golden();
  const auto traced = trace(golden.runner(), golden.text, attribution_tensors(*golden.model));
  LogitAttribution parts = direct_logit_attribution(*golden.model, traced, golden.contrast);
  std::vector<std::string> columns;
  for (const LogitColumn& column : parts.columns) columns.push_back(to_string(column));
  CHECK(columns == golden.plan.at("columns").get<std::vector<std::string>>());
  golden.check_near("value", parts.value, golden.plan.at("value"));
  golden.check_near("ledger.written", parts.written);
  golden.check_near("ledger.read", parts.read);

  measure_effects(golden.runner(), golden.text, stream_of(golden.runner(), golden.text),
                  golden.contrast, parts);
  golden.check_near("ledger.effects", parts.effects);
}

namespace {

// Checks that both views sum to the answer, for each label.
void check_sums(const EncoderRunner& of, const ExplainedText& text) {
  const auto traced = trace(of, text, attribution_tensors(of.model));
  const std::size_t labels = of->head_config().outputs;
  for (std::size_t label = 0; label < labels; ++label) {
    const LogitAttribution parts =
        direct_logit_attribution(of.model, traced, contrast_for(label, labels));
    INFO("label " << label << ": " << parts.value);
    const double most = 1e-4 * std::max(1.0, std::abs(parts.value));
    CHECK(std::abs(parts.sum(parts.written) - parts.value) <= most);
    CHECK(std::abs(parts.sum(parts.read) - parts.value) <= most);
  }
}

}  // namespace

TEST_CASE("the attribution sums to the answer of every classifier", "[explain]") {
  SECTION("goldens") {
    const Golden golden(GENERATE(from_range(golden_names())));
    INFO(golden.name);
    for (const auto& ids : golden.json.at("ids")) {
      check_sums(golden.runner(), {.ids = ids.get<std::vector<std::int32_t>>()});
    }
  }
  SECTION("published checkpoints, with their poolers and types") {
    const std::string name = GENERATE(from_range(checkpoint_names("sequence")));
    INFO(name);
    const OpenFolder opened(checkpoints / name);
    EncoderModel model(opened.config.architecture);
    opened.load(model.parameters());
    Session session;
    check_sums({model, session}, {.ids = {3, 7, 9, 4, 11, 4}});
  }
}

TEST_CASE("the attribution has a column for rounding in 8-bit integers", "[explain]") {
  const Golden golden("pre_norm_mean");
  const auto model = load_model(golden.folder, golden.config, Compute::int8);
  const EncoderRunner runner = {*model, golden.session};
  const ExplainedText text = {.ids = golden.json.at("ids").at(5).get<std::vector<std::int32_t>>()};
  check_sums(runner, text);
  const auto traced = trace(runner, text, attribution_tensors(*model));
  const LogitAttribution parts = direct_logit_attribution(*model, traced, contrast_for(0, 2));
  REQUIRE(to_string(parts.columns.back()) == "rounding");
  double rounding = 0;
  for (std::size_t i = 0; i < parts.tokens; ++i) {
    rounding += static_cast<double>(parts.written[(i + 1) * parts.columns.size() - 1]);
  }
  CHECK(std::abs(rounding) > 1e-5);
  CHECK(std::abs(rounding) < 0.5);
}

TEST_CASE("tokens of two texts are aligned", "[explain]") {
  // 1 and 2 are special; tokens above 100 continue a word.
  const auto align = [](const std::vector<std::int32_t>& base,
                        const std::vector<std::int32_t>& donor) {
    const auto tokens = [](const std::vector<std::int32_t>& ids) {
      std::vector<AlignedToken> of_text;
      for (const std::int32_t id : ids) of_text.push_back({id, id <= 2, id <= 100});
      return of_text;
    };
    return align_tokens(tokens(base), tokens(donor));
  };
  const auto pairs = [](const TokenAlignment& of) {
    std::vector<int> donors;
    for (const auto& donor : of.donor_of) donors.push_back(donor ? static_cast<int>(*donor) : -1);
    return donors;
  };
  using Columns = std::vector<std::size_t>;

  const TokenAlignment inserted = align({10, 11, 12, 13}, {10, 11, 20, 12, 13});
  CHECK(pairs(inserted) == std::vector<int>{0, 1, 3, 4});
  CHECK(inserted.base_columns == Columns{0, 1, 3, 4});
  CHECK(inserted.donor_columns == Columns{0, 1, 2, 3, 4});
  CHECK(inserted.columns == 5);

  const TokenAlignment removed = align({10, 11, 20, 12, 13}, {10, 11, 12, 13});
  CHECK(pairs(removed) == std::vector<int>{0, 1, -1, 2, 3});
  CHECK(removed.base_columns == Columns{0, 1, 2, 3, 4});
  CHECK(removed.donor_columns == Columns{0, 1, 3, 4});

  // One token is replaced by another; a word of three pieces by one of two, aligned at their last
  // pieces.
  CHECK(pairs(align({10, 11, 12}, {10, 21, 12})) == std::vector<int>{0, 1, 2});
  const TokenAlignment words = align({10, 11, 111, 112, 12}, {10, 21, 121, 12});
  CHECK(pairs(words) == std::vector<int>{0, -1, -1, 2, 3});
  CHECK(words.base_columns == Columns{0, 1, 2, 4, 5});
  CHECK(words.donor_columns == Columns{0, 3, 4, 5});
  // Two words replaced by one are not aligned.
  CHECK(pairs(align({10, 11, 12, 13}, {10, 21, 13})) == std::vector<int>{0, -1, -1, 2});
  // The leftmost of two longest common subsequences is used; specials align only with specials.
  CHECK(pairs(align({30, 11, 31}, {40, 11, 41, 11, 42, 43})) == std::vector<int>{0, 1, -1});
  CHECK(pairs(align({1, 10, 2, 11, 2}, {1, 11, 2, 12, 2})) == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(pairs(align({1, 2}, {1, 10, 2})) == std::vector<int>{0, 2});
  CHECK(align({}, {10}).columns == 1);

  // Of two beginnings, the last tokens are always aligned. Without this rule, it would be the first
  // 11 of the donor.
  CHECK(pairs(align({10, 11}, {10, 11, 11})) == std::vector<int>{0, 1});
  const std::vector<AlignedToken> shorter = {{10}, {11}}, longer = {{10}, {11}, {11}};
  const TokenAlignment beginnings = align_beginnings(shorter, longer);
  CHECK(pairs(beginnings) == std::vector<int>{0, 2});
  CHECK(beginnings.base_columns == Columns{0, 2});
  CHECK(beginnings.donor_columns == Columns{0, 1, 2});
  CHECK(beginnings.columns == 3);
  CHECK(pairs(align_beginnings(std::vector<AlignedToken>{{10}}, longer)) == std::vector<int>{2});
}

TEST_CASE("activation patching gives the result of a complete run from each layer", "[explain]") {
  const ExplainGolden golden = explain_golden();
  const auto& plan = golden.plan.at("transplant");
  const ExplainedText base = {.ids = plan.at("base").get<std::vector<std::int32_t>>()};
  const ExplainedText donor = {.ids = plan.at("donor").get<std::vector<std::int32_t>>()};
  const auto tokens = [&](const ExplainedText& text) {
    std::vector<AlignedToken> of_text;
    for (const std::int32_t id : text.ids) {
      of_text.push_back({.id = id, .special = golden.published && id <= 3});
    }
    return of_text;
  };
  const TokenAlignment alignment = align_tokens(tokens(base), tokens(donor));
  for (std::size_t i = 0; i < base.tokens(); ++i) {
    const auto& expected = plan.at("donor_of").at(i);
    REQUIRE(alignment.donor_of[i].has_value() == !expected.is_null());
    if (!expected.is_null()) CHECK(*alignment.donor_of[i] == expected.get<std::size_t>());
  }
  CHECK(alignment.base_columns == plan.at("base_columns").get<std::vector<std::size_t>>());
  CHECK(alignment.donor_columns == plan.at("donor_columns").get<std::vector<std::size_t>>());

  using Kind = PatchingSite::Kind;
  const std::vector<std::pair<std::string, Kind>> sites = {{"residual", Kind::residual},
                                                           {"attention", Kind::attention},
                                                           {"feed_forward", Kind::feed_forward},
                                                           {"head", Kind::head}};
  for (const auto& [name, kind] : sites) {
    INFO(name);
    ActivationPatching patching(golden.runner(), {base, donor, alignment},
                                {kind, plan.at("head").get<std::size_t>()});
    std::size_t steps = 1;
    while (patching.step(base.tokens())) ++steps;
    CHECK(steps > 10);
    CHECK(!patching.step());
    const PatchingTable& table = patching.table();
    golden.check_near("base", static_cast<double>(table.base), plan.at("base_value"));
    golden.check_near("donor", static_cast<double>(table.donor), plan.at("donor_value"));
    std::vector<float> values = table.values;
    for (std::size_t row = 0; row < table.rows; ++row) {
      for (std::size_t cell = 0; cell < table.cells; ++cell) {
        CHECK(table.unpaired[cell] == !alignment.donor_of[cell].has_value());
        float& value = values[row * table.cells + cell];
        const bool none = table.unpaired[cell] && kind != Kind::residual;
        CHECK(std::isnan(value) == none);
        if (none) value = 0;
      }
    }
    golden.check_near("transplant." + name, values);
  }
}

TEST_CASE("a preview of activation patching is the slope towards the donor's vectors",
          "[explain]") {
  const ExplainGolden golden = explain_golden();
  const EncoderRunner runner = golden.runner();
  const auto& plan = golden.plan.at("transplant");
  ExplainedText base = {.ids = plan.at("base").get<std::vector<std::int32_t>>()};
  ExplainedText donor = {.ids = plan.at("donor").get<std::vector<std::int32_t>>()};
  TokenAlignment alignment;
  for (const auto& of : plan.at("donor_of")) {
    alignment.donor_of.push_back(of.is_null() ? std::nullopt
                                              : std::optional(of.get<std::size_t>()));
  }
  alignment.base_columns = plan.at("base_columns").get<std::vector<std::size_t>>();
  alignment.donor_columns = plan.at("donor_columns").get<std::vector<std::size_t>>();
  using Kind = PatchingSite::Kind;
  const auto [kind, tensor] =
      GENERATE(std::pair(Kind::residual, "input"), std::pair(Kind::attention, "self_attn.output"),
               std::pair(Kind::feed_forward, "fc2"), std::pair(Kind::head, "self_attn.context"),
               std::pair(Kind::query, "self_attn.q"), std::pair(Kind::key, "self_attn.k"),
               std::pair(Kind::value, "self_attn.v"));
  const std::size_t head = plan.at("head");
  ActivationPatching patching(runner, {base, donor, alignment}, {kind, head});
  patching.preview();
  const PatchingTable& table = patching.table();
  CHECK(table.done == 0);
  base.positions = alignment.base_columns;
  donor.positions = alignment.donor_columns;
  const Contrast contrast = contrast_for(table.label, runner->head_config().outputs);
  const std::size_t layers = runner->encoder().stack().config().layers.size();
  for (std::size_t row = 0; row < table.rows; ++row) {
    const std::string name =
        row < layers ? encoder_layer_name(row, tensor) : encoder_layer_name(layers - 1, "output");
    const TracedTensor here = trace(runner, base, {name})[0];
    const TracedTensor there = trace(runner, donor, {name})[0];
    const std::size_t width =
        kind == Kind::head ? here.shape.back() : here.data.size() / here.shape[0];
    for (std::size_t token = 0; token < table.cells; ++token) {
      const float preview = table.delta(row, token);
      const std::optional<std::size_t> from = alignment.donor_of[token];
      CHECK(std::isnan(preview) == !from.has_value());
      if (!from) continue;
      const std::size_t heads = kind == Kind::head ? here.shape[1] : 1;
      const std::size_t at = kind == Kind::head ? head : 0;
      const float* own = &here.data[(token * heads + at) * width];
      const float* other = &there.data[(*from * heads + at) * width];
      // The number with the vector moved by a share of the way to the donor's.
      const auto moved = [&](float share) {
        Patch patch = {.name = name, .tokens = std::vector<std::size_t>{token}};
        if (kind == Kind::head) patch.heads = std::vector<std::size_t>{head};
        for (std::size_t c = 0; c < width; ++c) {
          patch.value.push_back(own[c] + share * (other[c] - own[c]));
        }
        patch.shape = here.shape;
        patch.shape[0] = 1;
        if (kind == Kind::head) patch.shape[1] = 1;
        const Tensor logits = runner(base.batch(), {.patches = {patch}}).logits;
        return contrast.of(logits.data());
      };
      // A larger step may cross a kink of ReLU, and a smaller one is nearer to rounding.
      double off = std::numeric_limits<double>::infinity();
      for (const float step : {2e-3f, 5e-4f}) {
        const double slope = (moved(step) - moved(-step)) / (2 * double{step});
        off = std::min(off, std::abs(slope - double{preview}) / std::max(1.0, std::abs(slope)));
      }
      INFO(name << ", token " << token);
      CHECK(off < 5e-3);
    }
  }
  // The steps measure the same numbers as without a preview.
  ActivationPatching measured(runner, {base, donor, alignment}, {kind, head});
  while (patching.step()) {
  }
  while (measured.step()) {
  }
  CHECK(table.done == table.values.size());
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const float expected = measured.table().values[i];
    CHECK((table.values[i] == expected || (std::isnan(expected) && std::isnan(table.values[i]))));
  }
}

TEST_CASE("a whole text transplanted into another gives its own answer", "[explain]") {
  const Golden golden(GENERATE("pre_norm_mean", "linear_attention", "tutorial_post_norm"));
  const auto compute = GENERATE(Compute::f32, Compute::int8);
  const auto model = load_model(golden.folder, golden.config, compute);
  const EncoderRunner runner = {*model, golden.session};
  const ExplainedText base = {.ids = golden.json.at("ids").at(2).get<std::vector<std::int32_t>>()};
  ExplainedText donor = base;
  donor.ids[1] = 5;
  donor.ids[2] = 9;
  TokenAlignment alignment;
  alignment.columns = base.tokens();
  for (std::size_t i = 0; i < base.tokens(); ++i) {
    alignment.donor_of.push_back(i);
    alignment.base_columns.push_back(i);
  }
  alignment.donor_columns = alignment.base_columns;
  ActivationPatching all(runner, {base, donor, alignment, std::vector<std::size_t>(base.tokens())},
                         {});
  while (all.step()) {
  }
  const PatchingTable& table = all.table();
  REQUIRE(table.cells == 1);
  for (const float value : table.values) CHECK(value == table.donor);
  CHECK(table.base == table.plain_base);

  // Patching from the same text changes nothing, so no cell is run.
  ActivationPatching none(runner, {base, base, alignment}, {});
  std::size_t rows = 1;
  while (none.step(1)) ++rows;
  CHECK(rows == none.table().rows);  // otherwise there would be a step per cell
  for (std::size_t row = 0; row < none.table().rows; ++row) CHECK(none.table().delta(row, 1) == 0);
  CHECK(!none.table().share(0, 0).has_value());
}

}  // namespace glassformer::test
