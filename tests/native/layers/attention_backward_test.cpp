// The backward of attention, compared with central differences of its formula in double precision.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <numeric>

#include "layers/attention/attention.hpp"
#include "support/layer_check.hpp"

namespace glassformer::test {
namespace {

using scalar_reference::input_or_empty;
using scalar_reference::Inputs;
using scalar_reference::Matrix;

constexpr std::size_t model_width = 6;
constexpr Reach all_keys = {}, causal_reach = {.behind = 0};

// A text: its length, and the positions of its masked tokens.
struct MaskedText {
  std::size_t length;
  std::vector<std::size_t> masked = {};
};

struct AttentionCase {
  const char* name;
  AttentionConfig config;
  std::optional<Reach> reach = all_keys;  // none: linear attention
  std::vector<MaskedText> texts = {{5}};
  std::optional<RelativeBiasShape> relative = {};
  std::size_t every = 1;  // which gradients are compared
  NormConfig norm = {};   // of queries and keys
  double scale = 1;       // of the input
  std::optional<DisentangledConfig> distances = {};
};

std::vector<std::size_t> positions_from_to(std::size_t first, std::size_t end) {
  std::vector<std::size_t> positions(end - first);
  std::iota(positions.begin(), positions.end(), first);
  return positions;
}

// Heads of 3 numbers do not fill a vector.
AttentionConfig heads_of(std::size_t n_heads, std::size_t n_kv_heads, std::size_t d_head = 3) {
  return {.n_heads = n_heads, .n_kv_heads = n_kv_heads, .d_head = d_head};
}

AttentionConfig with_bias(AttentionConfig config) {
  config.bias = config.out_bias = true;
  return config;
}

AttentionConfig with_rotary(AttentionConfig config, std::size_t size, bool norms = false) {
  config.rotary = RotaryConfig{.base = 100, .size = size};
  config.qk_norm = norms;
  return config;
}

constexpr RelativeBiasShape bias_both_ways = {2, 8, 12, Distances::both_ways};
constexpr RelativeBiasShape bias_before = {2, 8, 12, Distances::before};

const std::vector<AttentionCase>& attention_cases() {
  static const std::vector<AttentionCase> all = {
      {.name = "one text", .config = with_bias(heads_of(2, 2))},
      {.name = "texts with masked tokens",
       .config = heads_of(2, 2),
       .texts = {{4, {0, 2}}, {1}, {3}, {2, {0, 1}}}},
      {.name = "causal",
       .config = with_bias(heads_of(2, 2)),
       .reach = causal_reach,
       .texts = {{6, {1}}, {3}}},
      {.name = "local", .config = heads_of(2, 2), .reach = Reach{2, 2}, .texts = {{9, {3}}, {4}}},
      {.name = "local, causal",
       .config = heads_of(1, 1),
       .reach = Reach{3, 0},
       .texts = {{9, {2, 3}}}},
      {.name = "local, with queries without keys",
       .config = heads_of(1, 1),
       .reach = Reach{1, 1},
       .texts = {{9, {0, 1, 2, 3, 4}}}},
      {.name = "bias by distance",
       .config = heads_of(2, 2),
       .texts = {{9, {2}}, {14}},
       .relative = bias_both_ways},
      {.name = "causal, bias by distance",
       .config = heads_of(2, 2),
       .reach = causal_reach,
       .texts = {{14, {1, 5}}},
       .relative = bias_before},
      {.name = "distances",
       .config = with_bias(heads_of(2, 2)),
       .texts = {{9, {2}}, {1}, {14}},
       .distances = DisentangledConfig{.span = 4, .distance = 9}},
      {.name = "distances as keys, a row each",
       .config = heads_of(2, 2),
       .texts = {{7, {0, 3}}},
       .distances = DisentangledConfig{.span = 5, .position_to_content = false, .norm = true}},
      {.name = "distances as queries, several blocks, local",
       .config = heads_of(1, 1),
       .reach = Reach{6, 6},
       .texts = {{53, {7, 50}}},
       .every = 7,
       .distances = DisentangledConfig{.span = 6, .distance = 20, .content_to_position = false}},
      {.name = "shared keys", .config = with_bias(heads_of(4, 2)), .texts = {{5, {2}}}},
      {.name = "one key head, causal", .config = heads_of(3, 1), .reach = causal_reach},
      {.name = "rotary", .config = with_rotary(heads_of(2, 2, 4), 4), .texts = {{7, {3}}, {3}}},
      {.name = "rotary of a part, norms",
       .config = with_rotary(heads_of(4, 2, 5), 2, true),
       .reach = causal_reach,
       .norm = {.kind = NormKind::rms, .eps = 1e-5f}},
      {.name = "layer norms of queries and keys",
       .config = with_rotary(heads_of(2, 1, 6), 6, true),
       .norm = {.kind = NormKind::standard, .eps = 1e-5f}},
      {.name = "wide heads", .config = heads_of(1, 1, 35), .texts = {{4}}},
      {.name = "weights near 0 and 1", .config = heads_of(2, 2), .texts = {{12}}, .scale = 5},
      {.name = "several blocks of queries",
       .config = heads_of(1, 1, 5),
       .texts = {{53, {7, 50}}},
       .every = 7},
      {.name = "several blocks, causal, bias by distance",
       .config = heads_of(2, 1),
       .reach = causal_reach,
       .texts = {{50}},
       .relative = bias_before,
       .every = 11},
      {.name = "several blocks, local, with a block without keys",
       .config = heads_of(1, 1),
       .reach = Reach{4, 4},
       .texts = {{110, positions_from_to(44, 100)}},
       .every = 5},
      {.name = "linear",
       .config = with_bias(heads_of(2, 2)),
       .reach = {},
       .texts = {{5, {1}}, {2}}},
      {.name = "linear, shared keys, rotary",
       .config = with_rotary(heads_of(4, 2, 4), 2),
       .reach = {},
       .texts = {{3, {0, 1, 2}}, {5}}},
  };
  return all;
}

float divisor_of(const AttentionCase& test) {
  return test.relative ? 1.0f : std::sqrt(static_cast<float>(test.config.d_head));
}

std::unique_ptr<const AttentionKind> kind_of(const AttentionCase& test) {
  if (!test.reach) return std::make_unique<LinearAttention>();
  return std::make_unique<SoftmaxAttention>(*test.reach);
}

constexpr NormConfig norm_of_distances = {.kind = NormKind::standard, .eps = 1e-5f};

scalar_reference::Attention formula_of(const AttentionCase& test) {
  return {.n_heads = test.config.n_heads,
          .n_kv_heads = test.config.n_kv_heads,
          .d_head = test.config.d_head,
          .divisor = static_cast<double>(divisor_of(test)),
          .reach = test.reach,
          .relative = test.relative};
}

Sequences sequences_of(const std::vector<MaskedText>& texts) {
  Sequences sequences;
  for (const MaskedText& text : texts) sequences.add(text.length, text.masked);
  return sequences;
}

Matrix projection(const Inputs& in, const std::string& input, const std::string& name) {
  return scalar_reference::linear(in.at(input), in.at(name + ".weight"),
                                  input_or_empty(in, name + ".bias"));
}

// Adds the table of distances, projected as queries and as keys.
void add_distances(const DisentangledConfig& config, const Inputs& in,
                   scalar_reference::Attention& attention) {
  Matrix table = in.at("distances.weight");
  if (config.norm) {
    table = scalar_reference::norm(norm_of_distances, table, in.at("distances.layer_norm.weight"),
                                   in.at("distances.layer_norm.bias"));
  }
  const auto projected = [&](const std::string& name) {
    return scalar_reference::linear(table, in.at(name + ".weight"),
                                    input_or_empty(in, name + ".bias"));
  };
  if (config.position_to_content) attention.distance_q = projected("q_proj");
  if (config.content_to_position) attention.distance_k = projected("k_proj");
}

// Queries or keys as they enter the product: normed and rotated, head by head.
Matrix turned(const AttentionCase& test, const Inputs& in, Matrix x, const std::string& norm,
              std::span<const std::size_t> positions) {
  const std::size_t rows = x.rows, columns = x.columns, d_head = test.config.d_head;
  if (test.config.qk_norm) {
    x.columns = d_head;
    x.rows = x.size() / d_head;
    x = scalar_reference::norm(test.norm, x, in.at(norm + ".weight"),
                               input_or_empty(in, norm + ".bias"));
    x.columns = columns;
    x.rows = rows;
  }
  if (!test.config.rotary) return x;
  return scalar_reference::rotate({.d_head = d_head, .size = test.config.rotary->size, .base = 100},
                                  x, positions);
}

std::vector<std::size_t> positions_in(const std::vector<MaskedText>& texts) {
  std::vector<std::size_t> positions;
  for (const MaskedText& text : texts) {
    for (std::size_t i = 0; i < text.length; ++i) positions.push_back(i);
  }
  return positions;
}

}  // namespace

TEST_CASE("an attention's gradients match its formula", "[backward]") {
  const std::size_t index = GENERATE(range(std::size_t{0}, attention_cases().size()));
  const AttentionCase& test = attention_cases()[index];
  INFO(test.name);
  LayerCheck check(7);
  std::optional<RelativeBias> relative;
  if (test.relative) relative.emplace(*test.relative).declare(check.parameters("relative"));
  const Sequences sequences = sequences_of(test.texts);
  std::optional<RelativeEmbeddings> distances;
  if (test.distances) {
    distances.emplace(*test.distances, model_width, sequences.longest(), norm_of_distances);
    distances->declare(check.parameters("distances"));
  }
  Attention attention(test.config, model_width,
                      {.kind = kind_of(test),
                       .relative = relative ? &*relative : nullptr,
                       .distances = distances ? &*distances : nullptr,
                       .norm = test.norm,
                       .divisor = divisor_of(test)},
                      Compute::f32);
  attention.declare(check.parameters());
  check.start();

  const std::vector<RowSegment> segments = segments_of(sequences);
  check.run().segments = segments;
  check.run().sequences = &sequences;
  check.run().session().reserve_attention(sequences.longest());
  if (distances) distances->begin(sequences.tokens(), check.run());
  const Matrix values = check.random_matrix(sequences.tokens(), model_width);
  const View input = check.input("input", scalar_reference::scaled(values, test.scale));
  const View x = check.input("x", sequences.tokens(), model_width);
  attention.add_to(x, const_view(input), check.run());

  const std::vector<std::size_t> positions = positions_in(test.texts);
  const auto formula = [&](const Inputs& in) {
    const Matrix q = turned(test, in, projection(in, "input", "q_proj"), "q_norm", positions);
    const Matrix k = turned(test, in, projection(in, "input", "k_proj"), "k_norm", positions);
    scalar_reference::Attention attends = formula_of(test);
    attends.distances = distances ? &*distances : nullptr;
    if (distances) add_distances(*test.distances, in, attends);
    const Matrix context =
        scalar_reference::attend(attends, segments, q, k, projection(in, "input", "v_proj"),
                                 input_or_empty(in, "relative.weight"));
    return scalar_reference::sum(in.at("x"),
                                 scalar_reference::linear(context, in.at("out_proj.weight"),
                                                          input_or_empty(in, "out_proj.bias")));
  };
  check.compare(x, formula, test.every);
}

TEST_CASE("the gradients of attention to an encoder's states match its formula", "[backward]") {
  const bool softmax = GENERATE(true, false);
  const AttentionCase test = {.name = "",
                              .config = with_bias(heads_of(4, 2)),
                              .reach = softmax ? std::optional(all_keys) : std::nullopt};
  LayerCheck check;
  Attention attention(test.config, model_width,
                      {.source = Attention::Source::encoder,
                       .kind = kind_of(test),
                       .norm = {},
                       .divisor = divisor_of(test)},
                      Compute::f32);
  attention.declare(check.parameters());
  check.start();

  const Sequences sources = sequences_of({{5, {1, 4}}, {1}, {2}});
  const Sequences targets = sequences_of({{3}, {7}, {2}});
  std::vector<RowSegment> segments;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    segments.push_back({.first = targets.start(i),
                        .count = targets.length(i),
                        .key_base = sources.start(i),
                        .keys = sources.visible(i),
                        .key_positions = sources.length(i)});
  }
  Run& run = check.run();
  run.source_segments = segments;
  run.session().reserve_attention(8);
  const std::size_t d_keys = test.config.d_kv_heads();
  const View states = check.input("states", sources.tokens(), model_width);
  const View kv = run.make(sources.tokens(), 2 * d_keys);
  attention.keys_values(const_view(states), kv, run);
  run.source_keys = {kv.data(), kv.data() + d_keys, 2 * d_keys};
  const View input = check.input("input", targets.tokens(), model_width);
  const View x = check.input("x", targets.tokens(), model_width);
  attention.add_to(x, const_view(input), run);

  check.compare(x, [&](const Inputs& in) {
    const Matrix context = scalar_reference::attend(
        formula_of(test), segments, projection(in, "input", "q_proj"),
        projection(in, "states", "k_proj"), projection(in, "states", "v_proj"));
    return scalar_reference::sum(
        in.at("x"),
        scalar_reference::linear(context, in.at("out_proj.weight"), in.at("out_proj.bias")));
  });
}

TEST_CASE("a rotation's gradients match its formula", "[backward]") {
  const bool own_positions = GENERATE(false, true);
  LayerCheck check;
  check.start();
  const Sequences sequences = sequences_of({{4}, {2}});
  const std::vector<RowSegment> segments = segments_of(sequences);
  const std::vector<std::size_t> positions = {2, 0, 9, 9, 1, 5};
  check.run().segments = segments;
  if (own_positions) check.run().positions = positions;
  const Rotary rotary({.base = 100, .size = 6});
  const View x = check.input("x", 6, 2 * 7);
  rotary(x.data(), x.shape(1), {2, 7}, check.run());
  check.compare(x, [&](const Inputs& in) {
    const auto implied = positions_in({{4}, {2}});
    return scalar_reference::rotate({.d_head = 7, .size = 6, .base = 100}, in.at("x"),
                                    own_positions ? positions : implied);
  });
}

}  // namespace glassformer::test
