// The encoder-decoder, compared with PyTorch's named intermediates and with properties of any
// model.

#include "models/seq2seq.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "models/initialize.hpp"
#include "search/scorer.hpp"
#include "support/allocations.hpp"
#include "support/golden.hpp"
#include "support/io_fixture.hpp"
#include "weights/quantize.hpp"

namespace glassformer::test {
namespace {

constexpr DecodingLimits enough = {.nodes = 100, .positions = 24, .rows = 60};

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double here = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(here <= worst)) worst = here;
  }
  return worst;
}

template <class Matrix>
std::vector<float> values_of(const Matrix& x) {
  return {x.data(), x.data() + x.size()};
}

template <class Matrix>
std::vector<float> row_of(const Matrix& x, std::size_t row) {
  return {x.data() + row * x.shape(1), x.data() + (row + 1) * x.shape(1)};
}

// Returns a target's tokens as a chain of extensions, starting at node `first`.
std::vector<Extension> chain(const std::vector<std::int32_t>& ids, std::size_t source,
                             NodeIndex first) {
  std::vector<Extension> extensions;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const NodeIndex parent = i == 0 ? no_parent : first + static_cast<NodeIndex>(i - 1);
    extensions.push_back({.parent = parent, .source = source, .id = ids[i]});
  }
  return extensions;
}

// Feeds the forced targets of all texts in one step; lasts[s] is the node of target s's last token.
struct Forced {
  std::vector<Extension> extensions;
  std::vector<NodeIndex> lasts;
};

Forced force_all(const TranslationGolden& golden) {
  Forced forced;
  for (std::size_t text = 0; text < golden.json.at("ids").size(); ++text) {
    const auto first = static_cast<NodeIndex>(forced.extensions.size());
    const auto more = chain(golden.target(text), text, first);
    forced.extensions.insert(forced.extensions.end(), more.begin(), more.end());
    forced.lasts.push_back(static_cast<NodeIndex>(forced.extensions.size() - 1));
  }
  return forced;
}

// The values of each name, concatenated over all texts.
using Traced = std::map<std::string, std::vector<float>>;

void append(const std::vector<TracedTensor>& tensors, Traced& traced) {
  for (const TracedTensor& tensor : tensors) {
    auto& values = traced[tensor.name];
    values.insert(values.end(), tensor.data.begin(), tensor.data.end());
  }
}

TraceRequest parse_request(const nlohmann::json& options, bool attention) {
  TraceRequest request = {.attention = attention};
  if (!options.contains("ablate")) return request;
  for (const auto& head : options.at("ablate")) {
    const std::string site = head.at("attention");
    request.patches.push_back(ablation({head.at("layer"), head.at("head"),
                                        site == "encoder"   ? AttentionSite::encoder
                                        : site == "decoder" ? AttentionSite::decoder
                                                            : AttentionSite::cross}));
  }
  return request;
}

}  // namespace

TEST_CASE("every block of the encoder-decoder matches PyTorch's padded, masked batch",
          "[seq2seq]") {
  const std::string name = GENERATE(from_range(translation_golden_names()));
  const TranslationGolden golden(name);
  TraceRequest request = {.attention = true};
  request.names = {"encoder.*", "encoder.layers.*.*", "decoder.*", "decoder.layers.*.*",
                   "decoder.layers.*.*.*"};
  const auto encoded = golden.encode(golden.batch(), request);
  Traced traced;
  for (std::size_t text = 0; text < encoded.sources.size(); ++text) {
    append(encoded.traces[text], traced);
    const AttentionMap& map = encoded.attention[text];
    golden.check("encoder_attention." + std::to_string(text), map.data.data(), map.data.size());
  }

  DecodingState state = golden.begin(encoded, enough, request);
  const Forced forced = force_all(golden);
  const View hidden = golden.decode(state, forced.extensions);
  traced["decoder.output"] = values_of(hidden);
  View logits = golden.project(const_view(hidden));
  golden.check("logits", logits.data(), logits.size());
  for (std::size_t row = 0; row < logits.shape(0); ++row) {
    const float normalizer = writing_kernels().log_sum_exp(&logits(row, 0), logits.shape(1));
    for (std::size_t id = 0; id < logits.shape(1); ++id) logits(row, id) -= normalizer;
  }
  golden.check("log_probabilities", logits.data(), logits.size());

  const StackConfig& stack = golden.config.decoder();
  for (std::size_t text = 0; text < encoded.sources.size(); ++text) {
    const std::string index = std::to_string(text);
    const std::vector<TracedTensor> tensors = state.trace(forced.lasts[text]);
    append(tensors, traced);
    const AttentionMap self = state.self_attention(forced.lasts[text]);
    const AttentionMap cross = state.cross_attention(forced.lasts[text]);
    CHECK(golden.tensors.contains("decoder_attention." + index) == golden.has_self_attention());
    CHECK((self.data.size() > 0) == golden.has_self_attention());
    if (golden.has_self_attention()) {
      golden.check("decoder_attention." + index, self.data.data(), self.data.size());
    }
    golden.check("cross_attention." + index, cross.data.data(), cross.data.size());
    for (const TracedTensor& tensor : tensors) {
      if (!tensor.name.ends_with("weights")) continue;
      const AttentionMap& map =
          tensor.name.find("encoder_attn") == std::string::npos ? self : cross;
      CHECK(tensor.shape == std::vector{stack.n_heads(), map.queries, map.keys});
      const std::size_t layer = static_cast<std::size_t>(tensor.name[15] - '0');
      const auto weights = map.at(layer, 0);
      CHECK(std::equal(weights.begin(), weights.end(), tensor.data.begin()));
    }
  }

  std::size_t compared = 0;
  for (const auto& [tensor, expected] : golden.tensors) {
    if (!tensor.starts_with("encoder.") && !tensor.starts_with("decoder.")) continue;
    INFO(tensor);
    REQUIRE(traced.contains(tensor));
    if (tensor == "decoder.output") traced[tensor].resize(hidden.size());
    golden.check(tensor, traced[tensor].data(), traced[tensor].size());
    ++compared;
  }
  CHECK(compared >= 9 + 7 * stack.layers.size() - 6);
}

TEST_CASE("a decoding's weights are the softmax of its scores", "[seq2seq]") {
  const std::string name = GENERATE(from_range(translation_golden_names()));
  const TranslationGolden golden(name);
  TraceRequest request;
  request.names = {"decoder.layers.0.*.scores", "decoder.layers.0.*.weights"};
  const auto encoded = golden.encode(golden.batch(), request);
  DecodingState state = golden.begin(encoded, enough, request);
  const Forced forced = force_all(golden);
  golden.decode(state, forced.extensions);
  const std::vector<TracedTensor> tensors = state.trace(forced.lasts[0]);
  const std::size_t sites = golden.has_self_attention() ? 2 : 1;
  REQUIRE(tensors.size() == 2 * sites);  // the scores and weights of each attention
  for (std::size_t site = 0; site < sites; ++site) {
    const TracedTensor &weights = tensors[2 * site + 1], &scores = tensors[2 * site];
    REQUIRE(weights.name.ends_with("weights"));
    CHECK(scores.shape == weights.shape);
    const std::size_t keys = scores.shape[2];
    for (std::size_t row = 0; row < scores.data.size() / keys; ++row) {
      double sum = 0;
      for (std::size_t j = 0; j < keys; ++j) {
        sum += std::exp(static_cast<double>(scores.data[row * keys + j]));
      }
      for (std::size_t j = 0; j < keys; ++j) {
        const double expected = std::exp(static_cast<double>(scores.data[row * keys + j])) / sum;
        const double got = static_cast<double>(weights.data[row * keys + j]);
        if (!(std::abs(got - expected) < 1e-6)) FAIL_CHECK("row " << row << ", key " << j);
      }
    }
  }
}

TEST_CASE("greedy decoding with the cache gives PyTorch's tokens", "[seq2seq]") {
  const std::string name = GENERATE(from_range(translation_golden_names()));
  const TranslationGolden golden(name);
  const std::int32_t start = golden.target(0)[0];
  const auto encoded = golden.encode(golden.batch());
  DecodingState state = golden.begin(encoded, enough);
  for (std::size_t text = 0; text < encoded.sources.size(); ++text) {
    const auto& expected = golden.json.at("greedy").at(text);
    std::vector<std::int32_t> ids;
    double total = 0;
    Extension next = {.parent = no_parent, .source = text, .id = start};
    while (ids.size() < expected.at("ids").size()) {
      const View logits = golden.project(const_view(golden.decode(state, {&next, 1})));
      const float* row = logits.data();
      const float* best = std::max_element(row, row + logits.size());
      total += static_cast<double>(*best - writing_kernels().log_sum_exp(row, logits.size()));
      ids.push_back(static_cast<std::int32_t>(best - row));
      next = {.parent = static_cast<NodeIndex>(state.tree().size() - 1), .id = ids.back()};
    }
    INFO(name << ": text " << text);
    CHECK(ids == expected.at("ids").get<std::vector<std::int32_t>>());
    CHECK(std::abs(total - expected.at("log_probability").get<double>()) < 1e-3);
  }
}

TEST_CASE("a target fed token by token equals one fed at once, bit for bit", "[seq2seq]") {
  const std::string name = GENERATE(from_range(translation_golden_names()));
  const TranslationGolden golden(name);
  const auto encoded = golden.encode(golden.batch());
  DecodingState at_once = golden.begin(encoded, enough, {.attention = true});
  const Forced forced = force_all(golden);
  const std::vector<float> expected = values_of(golden.decode(at_once, forced.extensions));

  DecodingState stepwise = golden.begin(encoded, enough, {.attention = true});
  std::vector<float> got;
  for (const Extension& extension : forced.extensions) {
    const auto row = values_of(golden.decode(stepwise, {&extension, 1}));
    got.insert(got.end(), row.begin(), row.end());
  }
  CHECK(got == expected);
  for (NodeIndex last : forced.lasts) {
    CHECK(stepwise.self_attention(last).data == at_once.self_attention(last).data);
    CHECK(stepwise.cross_attention(last).data == at_once.cross_attention(last).data);
  }
}

TEST_CASE("a source gives the same result in a batch as alone, bit for bit", "[seq2seq]") {
  const std::string name = GENERATE(from_range(translation_golden_names()));
  const TranslationGolden golden(name);
  const auto together = golden.encode(golden.batch(), {.attention = true});
  DecodingState state = golden.begin(together, enough, {.attention = true});
  const Forced forced = force_all(golden);
  const std::vector<float> hidden = values_of(golden.decode(state, forced.extensions));
  std::size_t first = 0;
  for (std::size_t text = 0; text < together.sources.size(); ++text) {
    const auto alone = golden.encode(golden.batch(text), {.attention = true});
    CHECK(alone.attention[0].data == together.attention[text].data);
    DecodingState own = golden.begin(alone, enough, {.attention = true});
    const auto extensions = chain(golden.target(text), 0, 0);
    const std::vector<float> got = values_of(golden.decode(own, extensions));
    CHECK(std::equal(got.begin(), got.end(), hidden.begin() + static_cast<std::ptrdiff_t>(first)));
    first += got.size();
    const auto last = static_cast<NodeIndex>(extensions.size() - 1);
    CHECK(own.self_attention(last).data == state.self_attention(forced.lasts[text]).data);
    CHECK(own.cross_attention(last).data == state.cross_attention(forced.lasts[text]).data);
  }
}

TEST_CASE("hypotheses with a common prefix do not affect each other after it", "[seq2seq]") {
  const TranslationGolden golden("translate_pre_norm_shared");
  const auto encoded = golden.encode(golden.batch(2));
  const std::vector<std::int32_t> left = {1, 9, 30, 11}, right = {1, 9, 7, 12};
  const auto straight = [&](const std::vector<std::int32_t>& ids) {
    DecodingState state = golden.begin(encoded, enough, {.attention = true});
    const View hidden = golden.decode(state, chain(ids, 0, 0));
    return std::pair(row_of(hidden, ids.size() - 1), state.cross_attention(3).data);
  };

  DecodingState tree = golden.begin(encoded, enough, {.attention = true});
  const auto feed = [&](std::vector<Extension> extensions) {
    return values_of(golden.decode(tree, extensions));
  };
  feed({{.id = 1}});
  feed({{.parent = 0, .id = 9}, {.parent = 0, .id = 40}});
  feed({{.parent = 1, .id = 7}, {.parent = 2, .id = 8}, {.parent = 1, .id = 30}});
  // The order of the rows changes at each step, like a search's beams.
  const std::vector<float> ends = feed({{.parent = 5, .id = 11}, {.parent = 3, .id = 12}});
  const std::size_t d = golden.config.decoder().d_model;
  const auto [left_hidden, left_cross] = straight(left);
  const auto [right_hidden, right_cross] = straight(right);
  CHECK(std::equal(left_hidden.begin(), left_hidden.end(), ends.begin()));
  CHECK(std::equal(right_hidden.begin(), right_hidden.end(),
                   ends.begin() + static_cast<std::ptrdiff_t>(d)));
  CHECK(tree.cross_attention(6).data == left_cross);
  CHECK(tree.cross_attention(7).data == right_cross);

  CHECK(tree.tree().size() == 8);
  CHECK(tree.tree().path(7) == std::vector<NodeIndex>{0, 1, 3, 7});
  CHECK(tree.tree().path(4) == std::vector<NodeIndex>{0, 2, 4});  // still available
  CHECK(tree.tree()[4].id == 8);
  CHECK(tree.tree()[4].depth == 2);
  CHECK(tree.self_attention(4).queries == 3);
}

TEST_CASE("no position depends on later ones", "[seq2seq]") {
  const std::string name = GENERATE(from_range(translation_golden_names()));
  const TranslationGolden golden(name);
  const auto encoded = golden.encode(golden.batch(0));
  std::vector<std::int32_t> ids = golden.target(0);
  const auto last = static_cast<NodeIndex>(ids.size() - 1);
  DecodingState state = golden.begin(encoded, enough, {.attention = true});
  const std::vector<float> hidden = values_of(golden.decode(state, chain(ids, 0, 0)));
  for (const bool own : {true, false}) {
    if (own && !golden.has_self_attention()) continue;
    const AttentionMap map = own ? state.self_attention(last) : state.cross_attention(last);
    REQUIRE(map.queries == ids.size());
    double worst = 0;
    std::size_t ahead = 0;
    for (std::size_t row = 0; row < map.layers * map.heads * map.queries; ++row) {
      double sum = 0;
      for (std::size_t key = 0; key < map.keys; ++key) {
        const float weight = map.data[row * map.keys + key];
        sum += static_cast<double>(weight);
        if (own && key > row % map.queries && weight != 0.0f) ++ahead;
      }
      worst = std::max(worst, std::abs(sum - 1));
    }
    CHECK(worst < 1e-5);
    CHECK(ahead == 0);  // exactly zero
  }

  ids.back() = (ids.back() + 1) % static_cast<std::int32_t>(golden.config.decoder().vocab_size());
  DecodingState other = golden.begin(encoded, enough);
  const std::vector<float> changed = values_of(golden.decode(other, chain(ids, 0, 0)));
  const auto before = static_cast<std::ptrdiff_t>(hidden.size() - golden.config.decoder().d_model);
  CHECK(std::equal(hidden.begin(), hidden.begin() + before, changed.begin()));
  CHECK(hidden != changed);
}

TEST_CASE("ablated heads and masked source tokens give PyTorch's results", "[seq2seq]") {
  const std::string name = GENERATE(from_range(translation_golden_names()));
  const TranslationGolden golden(name);
  for (const auto& intervention : golden.json.at("interventions")) {
    const auto& options = intervention.at("options");
    INFO(name << ": " << options.dump());
    const std::size_t text = intervention.at("text");
    const auto masked = options.value("maskTokens", std::vector<std::size_t>{});
    const TraceRequest request = parse_request(options, true);
    const auto encoded = golden.encode(golden.batch(text, masked), request);
    DecodingState state = golden.begin(encoded, enough, request);
    const auto extensions = chain(golden.target(text), 0, 0);
    const View hidden = golden.decode(state, extensions);
    const View logits = golden.project(const_view(hidden));
    CHECK(largest_difference(row_of(logits, extensions.size() - 1), intervention.at("logits")) <=
          golden.tolerance("logits"));

    const AttentionMap map = state.cross_attention(static_cast<NodeIndex>(extensions.size() - 1));
    std::size_t read = 0;
    for (std::size_t row = 0; row < map.layers * map.heads * map.queries; ++row) {
      for (std::size_t position : masked) read += map.data[row * map.keys + position] != 0.0f;
    }
    CHECK(map.keys == encoded.sources.length(0));
    CHECK(read == 0);
  }
}

TEST_CASE("known mistakes give other results", "[seq2seq]") {
  const std::string name = GENERATE(from_range(translation_golden_names()));
  const TranslationGolden golden(name);
  const auto encoded = golden.encode(golden.batch(0));
  DecodingState state = golden.begin(encoded, enough);
  const auto extensions = chain(golden.target(0), 0, 0);
  const View logits = golden.project(const_view(golden.decode(state, extensions)));
  for (const auto& [slip, wrong] : golden.json.at("slips").items()) {
    INFO(name << ": " << slip);
    const bool first = slip == "no_look_ahead_mask" || slip == "zero_start_ignored";
    const std::size_t row = first ? 0 : extensions.size() - 1;
    CHECK(largest_difference(row_of(logits, row), wrong) > 100 * golden.tolerance("logits"));
  }
}

TEST_CASE("recording a translation's tensors changes no result", "[seq2seq]") {
  const std::string name = GENERATE(from_range(translation_golden_names()));
  const TranslationGolden golden(name);
  const Forced forced = force_all(golden);
  const auto run = [&](const TraceRequest& request) {
    const auto encoded = golden.encode(golden.batch(), request);
    DecodingState state = golden.begin(encoded, enough, request);
    const View hidden = golden.decode(state, forced.extensions);
    CHECK(encoded.attention.empty() != request.attention);
    CHECK(state.has_attention() == request.attention);
    return values_of(golden.project(const_view(hidden)));
  };
  TraceRequest everything = {.attention = true};
  everything.names = {"*.*", "*.layers.*.*", "*.layers.*.*.*"};
  CHECK(run({}) == run({.attention = true}));
  CHECK(run({}) == run(everything));
}

TEST_CASE("a cached attention adds only out_proj's bias when all its heads are ablated",
          "[seq2seq]") {
  const TranslationGolden golden("translate_pre_norm_shared");
  TraceRequest request;
  for (std::size_t head = 0; head < 4; ++head) {
    request.patches.push_back(
        ablation({.layer = 1, .head = head, .attention = AttentionSite::cross}));
  }
  request.names = {"decoder.layers.1.*.output"};
  const auto encoded = golden.encode(golden.batch(0), request);
  DecodingState state = golden.begin(encoded, enough, request);
  const Extension start = {.id = 1};
  golden.decode(state, {&start, 1});
  const std::vector<TracedTensor> tensors = state.trace(0);
  REQUIRE(tensors.size() == 2);  // self-attention and cross-attention
  REQUIRE(tensors[1].name == "decoder.layers.1.encoder_attn.output");
  const auto bias = golden.weight("decoder.layers.1.encoder_attn.out_proj.bias");
  CHECK(tensors[1].data == bias);
  CHECK(tensors[0].data != golden.weight("decoder.layers.1.self_attn.out_proj.bias"));
}

TEST_CASE("a source may have every token masked", "[seq2seq]") {
  const TranslationGolden golden("translate_pre_norm_shared");
  const auto encoded = golden.encode(golden.batch(1, {0, 1, 2, 3}), {.attention = true});
  DecodingState state = golden.begin(encoded, enough, {.attention = true});
  const Extension start = {.id = 1};
  const View logits = golden.project(const_view(golden.decode(state, {&start, 1})));
  for (float value : values_of(logits)) CHECK(std::isfinite(value));
  const AttentionMap map = state.cross_attention(0);
  CHECK(std::all_of(map.data.begin(), map.data.end(), [](float weight) { return weight == 0; }));
}

TEST_CASE("long sources and hypotheses match the definition of attention", "[seq2seq]") {
  ModelConfig config = TranslationGolden("translate_pre_norm_shared").config;
  config.architecture.encoder->max_length = config.architecture.decoder->max_length = 256;
  Seq2Seq model(config.architecture);
  Session session;
  SplitMix64 random(11);
  for (const NamedParameter& parameter : model.parameters()) {
    parameter.set(initial_values(parameter, random), 0);
  }
  const auto draw = [&](std::size_t count) {
    std::vector<std::int32_t> ids(count);
    for (auto& id : ids)
      id = static_cast<std::int32_t>(random.next() % config.encoder().vocab_size());
    return ids;
  };
  Batch batch;
  batch.add(draw(251), std::vector<std::size_t>{0, 100, 250});
  const auto encoded = model.encode(batch, {}, session);
  const auto extensions = chain(draw(256), 0, 0);
  const DecodingLimits limits = {.nodes = 256, .positions = 256, .rows = 256};
  DecodingState at_once = model.begin(encoded, limits, {.attention = true}, session);
  const std::vector<float> expected = values_of(model.decode(at_once, extensions));
  DecodingState stepwise = model.begin(encoded, limits, {}, session);
  std::vector<float> got;
  for (const Extension& extension : extensions) {
    const auto row = values_of(model.decode(stepwise, {&extension, 1}));
    got.insert(got.end(), row.begin(), row.end());
  }
  CHECK(got == expected);
  for (const AttentionMap& map : {at_once.self_attention(255), at_once.cross_attention(255)}) {
    double worst = 0;
    for (std::size_t row = 0; row < map.layers * map.heads * map.queries; ++row) {
      const auto first = map.data.begin() + static_cast<std::ptrdiff_t>(row * map.keys);
      const double sum = std::accumulate(first, first + static_cast<std::ptrdiff_t>(map.keys), 0.0);
      worst = std::max(worst, std::abs(sum - 1));
    }
    CHECK(worst < 1e-5);
  }
}

TEST_CASE("a decoding allocates nothing once it has begun", "[seq2seq]") {
  const std::string name = GENERATE(from_range(translation_golden_names()));
  const bool attention = GENERATE(false, true);
  const TranslationGolden golden(name);
  const auto encoded = golden.encode(golden.batch());
  constexpr DecodingLimits limits = {.nodes = 3 * 2 * 20, .positions = 20, .rows = 6};
  DecodingState state = golden.begin(encoded, limits, {.attention = attention});
  std::vector<Extension> beams = {{.source = 0, .id = 1}, {.source = 0, .id = 2},
                                  {.source = 1, .id = 1}, {.source = 1, .id = 2},
                                  {.source = 2, .id = 1}, {.source = 2, .id = 2}};
  const std::size_t before = allocations();
  for (std::int32_t step = 0; step < 20; ++step) {
    golden.project(const_view(golden.decode(state, beams)));
    const auto first = static_cast<NodeIndex>(state.tree().size() - beams.size());
    for (std::size_t row = 0; row < beams.size(); ++row) {
      beams[row].parent = first + static_cast<NodeIndex>(row ^ 1);  // swaps each pair
      beams[row].id = (beams[row].id + step) % 60;
    }
  }
  CHECK(allocations() == before);
}

TEST_CASE("logits for part of the vocabulary equal those for the whole vocabulary", "[seq2seq]") {
  const Compute compute = GENERATE(Compute::f32, Compute::int8);
  const TranslationGolden golden("translate_odd_local");
  Seq2Seq model(golden.config.architecture, compute);
  Session session;
  SplitMix64 random(3);
  for (const NamedParameter& parameter : model.parameters()) {
    const std::vector<float> values = initial_values(parameter, random);
    if (parameter.set_integers) {
      const QuantizedMatrix matrix = quantize(values, parameter.shape[0], parameter.bits);
      parameter.set_integers(matrix.values, matrix.scales, 0);
    } else {
      parameter.set(values, 0);
    }
  }
  constexpr DecodingLimits limits = {.nodes = 40, .positions = 10, .rows = 4};
  const auto encoded = model.encode(golden.batch(), {}, session);
  const std::vector<std::int32_t> first = {0, 3, 17, 18, 40}, second = {1, 2, 59};
  DecodingScorer part(model, model.begin(encoded, limits, {}, session), {first, second});
  DecodingScorer whole(model, model.begin(encoded, limits, {}, session));
  std::vector<Extension> beams = {
      {.source = 0, .id = 1}, {.source = 0, .id = 2}, {.source = 1, .id = 1}};
  std::vector<std::vector<float>> expected;
  for (int step = 0; step < 3; ++step) {
    expected.clear();
    for (const NextTokens& next : whole.feed(beams)) {
      REQUIRE(next.ids.empty());
      expected.emplace_back(next.logits.begin(), next.logits.end());
    }
    const std::size_t before = allocations();
    const std::span<const NextTokens> got = part.feed(beams);
    CHECK(allocations() == before);
    REQUIRE(got.size() == beams.size());
    for (std::size_t row = 0; row < got.size(); ++row) {
      const std::vector<std::int32_t>& ids = row < 2 ? first : second;
      REQUIRE(std::equal(got[row].ids.begin(), got[row].ids.end(), ids.begin(), ids.end()));
      REQUIRE(got[row].logits.size() == ids.size());
      for (std::size_t i = 0; i < ids.size(); ++i) {
        CHECK(got[row].logits[i] == expected[row][static_cast<std::size_t>(ids[i])]);
      }
    }
    for (std::size_t row = 0; row < beams.size(); ++row) {
      beams[row] = {.parent = static_cast<NodeIndex>(3 * step) + static_cast<NodeIndex>(row),
                    .source = 9,  // ignored after the first token
                    .id = static_cast<std::int32_t>(5 + row)};
    }
  }
}

TEST_CASE("a decoding cannot exceed its limits", "[seq2seq]") {
  const TranslationGolden golden("translate_pre_norm_shared");
  const auto encoded = golden.encode(golden.batch(0));
  const auto refused = [&](const char* message, const std::vector<Extension>& extensions) {
    DecodingState state = golden.begin(encoded, {.nodes = 4, .positions = 2, .rows = 3});
    golden.decode(state, chain({1, 5}, 0, 0));
    check_error(ErrorCode::internal, message, [&] { golden.decode(state, extensions); });
  };
  refused("rows: expected at most 3, got 4", {{.id = 1}, {.id = 1}, {.id = 1}, {.id = 1}});
  refused("nodes: expected at most 4, got 5", {{.id = 1}, {.id = 1}, {.id = 1}});
  refused("positions: expected at most 2, got 3", {{.parent = 1, .id = 4}});
  check_error(ErrorCode::internal, "positions: expected at most 48, got 49",
              [&] { golden.begin(encoded, {.nodes = 60, .positions = 49, .rows = 3}); });
}

TEST_CASE("two decodings of one model do not affect each other", "[seq2seq]") {
  const TranslationGolden golden("translate_tutorial_separate");
  const auto first = golden.encode(golden.batch(0)), second = golden.encode(golden.batch(2));
  const std::vector<std::int32_t> ids = golden.target(0);
  const auto alone = [&](const Seq2Seq::Encoded& encoded) {
    DecodingState state = golden.begin(encoded, enough);
    return row_of(golden.decode(state, chain(ids, 0, 0)), ids.size() - 1);
  };
  const auto expected_first = alone(first), expected_second = alone(second);
  DecodingState a = golden.begin(first, enough), b = golden.begin(second, enough);
  std::vector<float> got_first, got_second;
  for (const Extension& extension : chain(ids, 0, 0)) {
    got_first = values_of(golden.decode(a, {&extension, 1}));
    got_second = values_of(golden.decode(b, {&extension, 1}));
  }
  CHECK(got_first == expected_first);
  CHECK(got_second == expected_second);
}

TEST_CASE("shared embeddings are stored once", "[seq2seq]") {
  const auto tables = [](EmbeddingSharing sharing) {
    Architecture architecture =
        TranslationGolden("translate_tutorial_separate").config.architecture;
    architecture.embeddings = sharing;
    if (sharing == EmbeddingSharing::shared) {
      architecture.decoder->tokens().vocab_size = architecture.head.outputs =
          architecture.encoder->vocab_size();
    }
    Seq2Seq model(architecture);
    std::set<std::string> names;
    for (const NamedParameter& parameter : model.parameters()) {
      if (parameter.name.find("embed_tokens") != std::string::npos ||
          parameter.name.starts_with("lm_head")) {
        CHECK(names.insert(parameter.name).second);
      }
    }
    return names;
  };
  using Names = std::set<std::string>;
  CHECK(tables(EmbeddingSharing::shared) == Names{"embed_tokens.weight", "lm_head.bias"});
  CHECK(tables(EmbeddingSharing::tied) ==
        Names{"encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.bias"});
  CHECK(tables(EmbeddingSharing::separate) == Names{"encoder.embed_tokens.weight",
                                                    "decoder.embed_tokens.weight", "lm_head.weight",
                                                    "lm_head.bias"});
}

TEST_CASE("the tutorial's build_transformer has the expected parameters", "[seq2seq]") {
  constexpr std::size_t d = 512, f = 2048, layers = 6, source = 300, target = 400;
  const ModelConfig config = parse_config(R"({
    "format": 1, "model_type": "encoder_decoder", "task": "translation",
    "source_language": "en", "target_language": "it",
    "source_vocab_size": 300, "target_vocab_size": 400, "embeddings": "separate",
    "d_model": 512, "d_ff": 2048, "n_heads": 8, "encoder_layers": 6, "decoder_layers": 6,
    "max_source_length": 350, "max_target_length": 350, "positions": "sinusoidal",
    "scale_embedding": true, "norm": "pre", "layer_norm": "unbiased", "layer_norm_eps": 1e-6,
    "final_norm": true, "attention": "full", "attention_bias": true, "activation": "relu",
    "lm_head_bias": true, "prefix_tokens": ["<s>"], "suffix_tokens": ["</s>"],
    "start_token": "<s>", "end_token": "</s>"})");
  Seq2Seq model(config.architecture);
  std::size_t count = 0;
  std::set<std::string> names;
  for (const NamedParameter& parameter : model.parameters()) {
    count += element_count(parameter.shape);
    CHECK(names.insert(parameter.name).second);
  }
  constexpr std::size_t attention = 4 * (d * d + d), norm = 2 * d;
  constexpr std::size_t feed_forward = f * d + f + d * f + d;
  CHECK(count == source * d + target * d + (d * target + target) +
                     layers * (attention + feed_forward + 2 * norm) + norm +
                     layers * (2 * attention + feed_forward + 3 * norm) + norm);
  CHECK(names.contains("encoder.layers.5.self_attn.q_proj.bias"));
  CHECK(names.contains("decoder.layers.5.encoder_attn.out_proj.weight"));
  CHECK(names.contains("decoder.layers.0.encoder_attn_layer_norm.bias"));
  CHECK(names.contains("decoder.layer_norm.weight"));
  CHECK(!names.contains("decoder.embed_positions.weight"));
}

}  // namespace glassformer::test
