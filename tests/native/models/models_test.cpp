// Layers and models, compared with PyTorch's named intermediates and with properties of any model.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <map>
#include <numeric>

#include "models/initialize.hpp"
#include "support/allocations.hpp"
#include "support/golden.hpp"
#include "tasks/classify/classify.hpp"

namespace glassformer::test {
namespace {

TraceRequest inspect_everything() { return {.attention = true, .contributions = true}; }

std::vector<float> values_of(const Tensor& x) { return {x.begin(), x.end()}; }

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double here = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(here <= worst)) worst = here;
  }
  return worst;
}

}  // namespace

TEST_CASE("every block matches PyTorch's padded, masked batch", "[models]") {
  const std::string name = GENERATE(from_range(golden_names()));
  const Golden golden(name);
  const Batch batch = golden.batch();
  TraceRequest request = inspect_everything();
  request.names = {"encoder.*", "encoder.layers.*.*", "encoder.layers.*.self_attn.*", "pooled",
                   "logits"};
  const auto output = golden.run(batch, request);
  // The goldens concatenate the rows of all texts.
  std::map<std::string, std::vector<float>> traced;
  for (const auto& tensors : output.traces) {
    for (const TracedTensor& tensor : tensors) {
      auto& values = traced[tensor.name];
      values.insert(values.end(), tensor.data.begin(), tensor.data.end());
    }
  }
  std::size_t compared = 0;
  for (const auto& [tensor, expected] : golden.tensors) {
    if (tensor.starts_with("attention.") || tensor.starts_with("contributions.")) continue;
    INFO(tensor);
    REQUIRE(traced.contains(tensor));
    golden.check(tensor, traced[tensor].data(), traced[tensor].size());
    ++compared;
  }
  CHECK(compared >= 5);

  for (std::size_t text = 0; text < batch.size(); ++text) {
    const std::string index = std::to_string(text);
    const AttentionMap& map = output.attention[text];
    golden.check("attention." + index, map.data.data(), map.data.size());
    if (!golden.tensors.contains("contributions." + index)) continue;
    std::vector<float> by_class;  // the golden is [C, n]
    for (std::size_t c = 0; c < output.logits.shape(1); ++c) {
      for (std::size_t i = 0; i < batch.length(text); ++i) {
        by_class.push_back(output.contributions(batch.start(text) + i, c));
      }
    }
    golden.check("contributions." + index, by_class.data(), by_class.size());
  }
}

TEST_CASE("a trace shows consistent tensors and changes no result", "[models]") {
  const std::string name = GENERATE(from_range(golden_names()));
  const Golden golden(name);
  const Batch batch = golden.batch();
  const auto plain = golden.run(batch);
  CHECK(plain.traces.empty());
  TraceRequest request = {.attention = true};
  request.names = {"*", "encoder.*", "encoder.layers.*.*", "encoder.layers.*.self_attn.*"};
  const auto traced = golden.run(batch, request);
  CHECK(values_of(plain.logits) == values_of(traced.logits));  // bit for bit

  const StackConfig& stack = golden.config.encoder();
  for (std::size_t s = 0; s < batch.size(); ++s) {
    std::map<std::string, TracedTensor> tensors;
    for (const TracedTensor& tensor : traced.traces[s]) {
      INFO(tensor.name);
      CHECK(tensors.emplace(tensor.name, tensor).second);
      std::size_t size = 1;
      for (const std::size_t extent : tensor.shape) size *= extent;
      CHECK(tensor.data.size() == size);
    }
    const std::size_t length = batch.length(s);
    for (std::size_t layer = 0; layer < stack.layers.size(); ++layer) {
      const std::string block = "encoder.layers." + std::to_string(layer) + ".";
      const LayerConfig& config = stack.layers[layer];
      INFO(block);
      CHECK(tensors.at(block + "input").shape == std::vector{length, stack.d_model});
      CHECK(tensors.at(block + "fc1").shape == std::vector{length, config.feed_forward.d_ff});
      CHECK(tensors.at(block + "self_attn.q").shape ==
            std::vector{length, config.attention.n_heads, config.attention.d_head});
      if (layer > 0) {
        const std::string before = "encoder.layers." + std::to_string(layer - 1) + ".output";
        CHECK(tensors.at(before).data == tensors.at(block + "input").data);
      }
      // Weights are the softmax of the scores.
      const TracedTensor& weights = tensors.at(block + "self_attn.weights");
      CHECK(weights.shape == std::vector{stack.n_heads(), length, length});
      const auto map = traced.attention[s].at(layer, 0);
      CHECK(std::equal(map.begin(), map.end(), weights.data.begin()));
      CHECK(tensors.contains(block + "self_attn.scores") == (config.mixer != Mixer::linear));
      if (config.mixer == Mixer::linear) continue;
      const TracedTensor& scores = tensors.at(block + "self_attn.scores");
      for (std::size_t row = 0; row < stack.n_heads() * length; ++row) {
        double sum = 0;
        for (std::size_t j = 0; j < length; ++j) {
          sum += std::exp(static_cast<double>(scores.data[row * length + j]));
        }
        for (std::size_t j = 0; j < length; ++j) {
          const double expected =
              std::exp(static_cast<double>(scores.data[row * length + j])) / sum;
          const double got = static_cast<double>(weights.data[row * length + j]);
          if (!(std::abs(got - expected) < 1e-6)) FAIL_CHECK("row " << row << ", key " << j);
        }
      }
      // Residual sums.
      const auto sum_of = [&](const std::string& a, const std::string& b) {
        std::vector<float> sum = tensors.at(block + a).data;
        const std::vector<float>& other = tensors.at(block + b).data;
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
        return sum;
      };
      CHECK(sum_of("input", "self_attn.output") == tensors.at(block + "self_attn.residual").data);
      if (config.norm == NormPlacement::pre) {
        CHECK(sum_of("self_attn.residual", "fc2") == tensors.at(block + "output").data);
      }
    }
  }
}

TEST_CASE("a star in a name pattern matches one part between dots", "[models]") {
  CHECK(matches("encoder.layers.*.output", "encoder.layers.11.output"));
  CHECK(!matches("encoder.layers.*.output", "encoder.layers.1.self_attn.output"));
  CHECK(!matches("encoder.layers.*.output", "encoder.layers.1.outputs"));
  CHECK(matches("*.*", "encoder.output"));
  CHECK(matches("enc*r.out*t", "encoder.output"));
  CHECK(matches("*", "logits"));
  CHECK(!matches("*", "encoder.output"));
  CHECK(!matches("", "logits"));
}

TEST_CASE("ablated heads and masked tokens give PyTorch's results", "[models]") {
  const std::string name = GENERATE(from_range(golden_names()));
  const Golden golden(name);
  for (const auto& intervention : golden.json.at("interventions")) {
    const auto options = read_options<ClassifyOptions>(intervention.at("options").dump()).encoder;
    INFO(golden.name << ": " << intervention.at("options").dump());
    const Batch batch = golden.batch(intervention.at("text"), options.mask_tokens);
    const auto output = golden.run(batch, {.patches = with_ablations({}, options.ablate)});
    CHECK(distance(values_of(output.logits), intervention.at("logits")) <=
          golden.tolerance("logits"));
  }
}

TEST_CASE("the tutorial's mistakes give other results", "[models]") {
  // The generator computes the goldens with each mistake: positions that index the batch, misplaced
  // norms, padding included in the mean.
  const std::string name = GENERATE(from_range(golden_names()));
  const Golden golden(name);
  const auto logits = values_of(golden.run(golden.batch()).logits);
  for (const auto& [slip, wrong] : golden.json.at("slips").items()) {
    INFO(golden.name << ": " << slip);
    std::vector<float> flat;
    for (const auto& row : wrong) {
      for (const auto& value : row) flat.push_back(value);
    }
    CHECK(distance(logits, flat) > 100 * golden.tolerance("logits"));
  }
}

TEST_CASE("8-bit products stay close to floats in every architecture", "[models]") {
  const std::string name = GENERATE(from_range(golden_names()));
  INFO(name);
  const Golden golden(name);
  const auto quantized = load_model(golden.folder, golden.config, Compute::int8);
  const auto expected = golden.run(golden.batch(), inspect_everything());
  const auto got = (*quantized)(golden.batch(), inspect_everything(), golden.session);
  // With widths of 8 to 24, errors hardly average out.
  const double difference = distance(values_of(expected.logits), values_of(got.logits));
  CHECK(difference > 0);
  CHECK(difference < 0.25);
  for (const AttentionMap& map : got.attention) {
    for (std::size_t row = 0; row < map.data.size() / map.keys; ++row) {
      const float* weights = &map.data[row * map.keys];
      const float sum = std::accumulate(weights, weights + map.keys, 0.0f);
      CHECK((std::abs(sum - 1) < 1e-5f || sum == 0));
    }
  }
}

TEST_CASE("rows of attention sum to one", "[models]") {
  const std::string name = GENERATE(from_range(golden_names()));
  const Golden golden(name);
  const auto output = golden.run(golden.batch(), inspect_everything());
  for (const AttentionMap& map : output.attention) {
    for (std::size_t row = 0; row < map.layers * map.heads * map.queries; ++row) {
      double sum = 0;
      bool in_range = true;
      for (std::size_t key = 0; key < map.keys; ++key) {
        const float weight = map.data[row * map.keys + key];
        in_range = in_range && weight >= 0 && weight <= 1.000001f;
        sum += static_cast<double>(weight);
      }
      if (!in_range || std::abs(sum - 1) > 1e-5) {
        FAIL_CHECK(golden.name << ": row " << row << " sums to " << sum);
      }
    }
  }
}

TEST_CASE("contributions and the bias sum to the logits", "[models]") {
  const std::string name = GENERATE(from_range(golden_names()));
  const Golden golden(name);
  const Batch batch = golden.batch();
  const auto output = golden.run(batch, inspect_everything());
  const std::vector<float> bias = golden.weight("classifier.bias");
  for (std::size_t s = 0; s < batch.size(); ++s) {
    for (std::size_t c = 0; c < bias.size(); ++c) {
      double sum = static_cast<double>(bias[c]);
      for (std::size_t i = 0; i < batch.length(s); ++i) {
        sum += static_cast<double>(output.contributions(batch.start(s) + i, c));
      }
      CHECK(std::abs(sum - static_cast<double>(output.logits(s, c))) < 2e-5);
    }
  }
}

TEST_CASE("neither recording attention nor other texts in the batch change a result", "[models]") {
  const std::string name = GENERATE(from_range(golden_names()));
  const Golden golden(name);
  const Batch batch = golden.batch();
  const auto plain = golden.run(batch);
  const auto inspected = golden.run(batch, inspect_everything());
  CHECK(values_of(plain.logits) == values_of(inspected.logits));  // bit for bit
  CHECK(plain.attention.empty());
  for (std::size_t s = 0; s < batch.size(); ++s) {
    const auto alone = golden.run(golden.batch(s), inspect_everything());
    for (std::size_t c = 0; c < golden.config.labels.size(); ++c) {
      CHECK(alone.logits(0, c) == plain.logits(s, c));
    }
    CHECK(alone.attention[0].data == inspected.attention[s].data);
  }
}

TEST_CASE("no token attends to a masked token", "[models]") {
  const std::string name = GENERATE(from_range(golden_names()));
  const Golden golden(name);
  const auto output = golden.run(golden.batch(0, {1, 4}), inspect_everything());
  const AttentionMap& map = output.attention[0];
  for (std::size_t layer = 0; layer < map.layers; ++layer) {
    for (std::size_t head = 0; head < map.heads; ++head) {
      for (std::size_t query = 0; query < map.queries; ++query) {
        if (map.at(layer, head)[query * map.keys + 1] != 0 ||
            map.at(layer, head)[query * map.keys + 4] != 0) {
          FAIL_CHECK(golden.name << ": layer " << layer << ", head " << head);
        }
      }
    }
  }
}

TEST_CASE("only out_proj's bias remains when all heads of a layer are ablated", "[models]") {
  const Golden golden("pre_norm_mean");
  const Batch batch = golden.batch();
  const std::size_t n = batch.tokens(), d = golden.config.encoder().d_model;
  TraceRequest request;
  for (std::size_t head = 0; head < 4; ++head)
    request.patches.push_back(ablation({.layer = 1, .head = head}));
  request.names = {"encoder.layers.1.self_attn.output"};
  const auto output = golden.run(batch, request);
  std::vector<float> sum;
  for (const auto& tensors : output.traces) {
    REQUIRE(tensors.size() == 1);
    sum.insert(sum.end(), tensors[0].data.begin(), tensors[0].data.end());
  }
  REQUIRE(sum.size() == n * d);

  const auto bias = golden.weight("encoder.layers.1.self_attn.out_proj.bias");
  CHECK(distance(bias, std::vector<float>(d, 0.0f)) > 0.01);  // so that it proves something
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < d; ++c) CHECK(sum[i * d + c] == bias[c]);
  }
}

TEST_CASE("a local window that spans the text equals full attention", "[models]") {
  Golden golden("pre_norm_mean");
  ModelConfig config = golden.config;
  for (LayerConfig& layer : config.architecture.encoder->layers) {
    layer.mixer = Mixer::local;
    layer.attention.window = 64;
  }
  const auto wide = load_model(golden.folder, config);
  const auto expected = golden.run(golden.batch());
  CHECK(values_of((*wide)(golden.batch(), {}, golden.session).logits) ==
        values_of(expected.logits));
}

TEST_CASE("a row of a parameter is the row that was set", "[models]") {
  const std::string name = GENERATE(from_range(golden_names()));
  const Golden golden(name);
  for (const Compute compute : {Compute::f32, Compute::int8}) {
    EncoderModel model(golden.config.architecture, compute);
    const std::vector<NamedParameter> parameters = model.parameters();
    CHECK_THROWS_AS(row_of(parameters.front(), 0), Error);  // not loaded yet
    initialize(parameters, 7);
    SplitMix64 random(7);
    for (const NamedParameter& parameter : parameters) {
      const std::vector<float> values = initial_values(parameter, random);
      const std::size_t rows = parameter.shape[0];
      for (std::size_t row = 0; row < rows; ++row) {
        const std::vector<float> got = row_of(parameter, row);
        REQUIRE(got.size() == values.size() / rows);
        for (std::size_t i = 0; i < got.size(); ++i) {
          const float expected = values[row * got.size() + i];
          // Integers are at most half a step from the number, and a step is at most 1/127 of it.
          const float most = parameter.set ? 0 : 0.51f * 2 / 127;
          REQUIRE(std::abs(got[i] - expected) <= most);
        }
      }
      CHECK_THROWS_AS(row_of(parameter, rows), Error);
    }
  }
}

TEST_CASE("long texts of several blocks match the definition of attention", "[models]") {
  // Attention processes 48 queries at a time; this text has five such blocks and a remainder.
  Golden golden("pre_norm_mean");
  ModelConfig config = golden.config;
  config.architecture.encoder->max_length = 256;
  EncoderModel model(config.architecture);
  SplitMix64 random(7);
  for (const NamedParameter& parameter : model.parameters()) {
    parameter.set(initial_values(parameter, random), 0);
  }
  Batch batch;
  std::vector<std::int32_t> ids(251);
  for (auto& id : ids)
    id = static_cast<std::int32_t>(random.next() % config.encoder().vocab_size());
  batch.add(ids, std::vector<std::size_t>{0, 47, 48, 100, 250});
  const auto output = model(batch, {.attention = true}, golden.session);
  const AttentionMap& map = output.attention[0];
  double worst = 0;
  for (std::size_t row = 0; row < map.layers * map.heads * map.queries; ++row) {
    double sum = 0;
    for (std::size_t key = 0; key < map.keys; ++key) {
      sum += static_cast<double>(map.data[row * map.keys + key]);
    }
    worst = std::max(worst, std::abs(sum - 1));
    for (std::size_t key : {0u, 47u, 48u, 100u, 250u}) {
      if (map.data[row * map.keys + key] != 0) FAIL_CHECK("row " << row << ", key " << key);
    }
  }
  CHECK(worst < 1e-5);
}

namespace {

// Random queries, keys and values in the layout of qkv_proj's output.
struct RandomHead {
  RandomHead(std::size_t length, std::size_t d_head, float spread)
      : qkv({length, 3 * d_head}), context({length, d_head}), weights(length * length, 0.0f) {
    SplitMix64 random(length * 31 + d_head);
    for (float& value : qkv) value = (2 * random.uniform() - 1) * spread;
  }

  HeadInput input(Compute compute, std::span<const std::uint32_t> visible) const {
    const std::size_t d_head = context.shape(1), in_front = context.shape(0) - 1;
    return {.q = qkv.data(),
            .q_stride = 3 * d_head,
            .queries = context.shape(0),
            .k = qkv.data() + d_head,
            .v = qkv.data() + 2 * d_head,
            .kv_stride = 3 * d_head,
            .d_head = d_head,
            .divisor = std::sqrt(static_cast<float>(d_head)),
            .compute = compute,
            .keys = visible,
            .bias = bias.empty() ? nullptr : bias.data() + in_front};
  }

  void attend(Compute compute, std::span<const std::uint32_t> visible, std::size_t window) {
    const std::size_t length = context.shape(0), d_head = context.shape(1);
    AttentionScratch scratch;
    scratch.reserve(length);
    const HeadOutput out = {
        .context = context.data(), .stride = d_head, .weights = {weights.data(), length}};
    SoftmaxAttention({.before = window, .behind = window})
        .attend(input(compute, visible), out, scratch);
  }

  Tensor qkv, context;
  std::vector<float> weights;
  std::vector<float> bias;  // [2 · length - 1] by distance; empty: no bias
};

// Returns the weights of a query by the formula, in double precision.
std::vector<double> weights_of(const RandomHead& head, std::size_t query,
                               std::span<const std::uint32_t> visible, std::size_t window) {
  const HeadInput in = head.input(Compute::f32, visible);
  std::vector<double> weights(in.queries, 0.0);
  double sum = 0;
  for (const std::uint32_t key : visible) {
    if (key + window < query || key > query + window) continue;
    double score = 0;
    for (std::size_t c = 0; c < in.d_head; ++c) {
      score += static_cast<double>(in.q[query * in.q_stride + c]) *
               static_cast<double>(in.k[key * in.kv_stride + c]);
    }
    const double bias = static_cast<double>(head.bias[key + in.queries - 1 - query]);
    sum += weights[key] = std::exp(score / static_cast<double>(in.divisor) + bias);
  }
  for (double& weight : weights) weight = sum == 0 ? 0.0 : weight / sum;
  return weights;
}

}  // namespace

TEST_CASE("attention in integers is close to attention in floats", "[models]") {
  for (const std::size_t length : {1u, 2u, 7u, 49u, 300u, 600u}) {  // 256 keys are summed at a time
    for (const std::size_t d_head : {1u, 5u, 16u, 40u}) {
      for (const std::size_t window : {std::size_t{3}, std::size_t{60}, std::size_t{1000}}) {
        for (const bool masked : {false, true}) {
          INFO(length << " tokens, d_head " << d_head << ", window " << window << ", masked "
                      << masked);
          std::vector<std::uint32_t> visible;
          for (std::uint32_t i = 0; i < length; ++i) {
            if (!masked || i % 3 != 0) visible.push_back(i);
          }
          RandomHead floats(length, d_head, 3.0f), integers(length, d_head, 3.0f);
          floats.attend(Compute::f32, visible, window);
          integers.attend(Compute::int8, visible, window);
          CHECK(distance(floats.weights, integers.weights) < 2e-3);
          // Values are up to 3.
          CHECK(distance(values_of(floats.context), values_of(integers.context)) < 8e-3);
          bool sums = true;
          for (std::size_t row = 0; row < length; ++row) {
            const float* weights = &integers.weights[row * length];
            const float sum = std::accumulate(weights, weights + length, 0.0f);
            sums = sums && (std::abs(sum - 1) < 1e-5f || sum == 0);
          }
          CHECK(sums);
        }
      }
    }
  }
}

TEST_CASE("scores get a bias that depends on the key's distance from the query", "[models]") {
  for (const Compute compute : {Compute::f32, Compute::int8}) {
    for (const std::size_t length : {1u, 2u, 49u, 130u}) {
      for (const std::size_t window : {std::size_t{5}, std::size_t{1000}}) {
        for (const bool masked : {false, true}) {
          INFO(to_string(compute) << ", " << length << " tokens, window " << window << ", masked "
                                  << masked);
          std::vector<std::uint32_t> visible;
          for (std::uint32_t i = 0; i < length; ++i) {
            if (!masked || i % 3 != 0) visible.push_back(i);
          }
          RandomHead head(length, 7, 2.0f);
          SplitMix64 random(length);
          for (std::size_t i = 0; i < 2 * length - 1; ++i) {
            head.bias.push_back((2 * random.uniform() - 1) * 20);
          }
          head.attend(compute, visible, window);
          double worst = 0;
          for (std::size_t query = 0; query < length; ++query) {
            const std::vector<double> expected = weights_of(head, query, visible, window);
            for (std::size_t key = 0; key < length; ++key) {
              const auto got = static_cast<double>(head.weights[query * length + key]);
              worst = std::max(worst, std::abs(got - expected[key]));
            }
          }
          CHECK(worst < (compute == Compute::f32 ? 2e-6 : 2e-3));
        }
      }
    }
  }
}

TEST_CASE("a query far from every visible key attends to no key", "[models]") {
  const Compute compute = GENERATE(Compute::f32, Compute::int8);
  RandomHead head(60, 8, 1.0f);
  head.attend(compute, std::vector<std::uint32_t>{0, 1, 2}, 4);  // the window extends past the end
  for (std::size_t query = 0; query < 60; ++query) {
    float sum = 0;
    for (std::size_t key = 0; key < 60; ++key) {
      const float weight = head.weights[query * 60 + key];
      if (key > 2 || query > key + 4) CHECK(weight == 0.0f);
      sum += weight;
    }
    if (query <= 6) {
      CHECK(std::abs(sum - 1) < 1e-5f);
    } else {
      for (std::size_t c = 0; c < 8; ++c) CHECK(head.context(query, c) == 0.0f);
    }
  }
}

TEST_CASE("sums of the largest integers in attention do not overflow", "[models]") {
  // All weights and values are at their maximum, with more keys than are summed at a time.
  RandomHead head(600, 8, 1.0f);
  for (std::size_t i = 0; i < 600; ++i) {
    for (std::size_t c = 0; c < 8; ++c) {
      head.qkv(i, c) = head.qkv(i, 8 + c) = 0;
      head.qkv(i, 16 + c) = c % 2 == 0 ? 3.0f : -3.0f;
    }
  }
  std::vector<std::uint32_t> visible(600);
  std::iota(visible.begin(), visible.end(), 0u);
  head.attend(Compute::int8, visible, 1000);
  for (std::size_t i = 0; i < 600; ++i) {
    for (std::size_t c = 0; c < 8; ++c) {
      CHECK(std::abs(head.context(i, c) - (c % 2 == 0 ? 3.0f : -3.0f)) < 1e-4f);
    }
  }
}

TEST_CASE("attention in integers accepts values of any size", "[models]") {
  std::vector<std::uint32_t> visible(70);
  std::iota(visible.begin(), visible.end(), 0u);
  for (const float spread : {1e-3f, 1e-12f, 1e-28f}) {
    RandomHead floats(70, 16, spread), integers(70, 16, spread);
    floats.attend(Compute::f32, visible, 1000);
    integers.attend(Compute::int8, visible, 1000);
    double worst = 0, most = 0;
    for (std::size_t i = 0; i < 70; ++i) {
      for (std::size_t c = 0; c < 16; ++c) {
        const auto expected = static_cast<double>(floats.context(i, c));
        worst = std::max(worst, std::abs(static_cast<double>(integers.context(i, c)) - expected));
        most = std::max(most, std::abs(expected));
      }
    }
    INFO(spread << ": " << worst << " off " << most);
    CHECK(most > 0);
    CHECK(worst < 0.003 * static_cast<double>(spread));  // half a step of the values, and rounding
  }
  RandomHead nothing(70, 16, 1e-38f);  // the inverse of their scale would overflow
  nothing.attend(Compute::int8, visible, 1000);
  for (const float value : nothing.context) CHECK(value == 0.0f);
}

TEST_CASE("attention in integers uses the weights that it returns", "[models]") {
  RandomHead head(70, 16, 2.0f);
  std::vector<std::uint32_t> visible(70);
  std::iota(visible.begin(), visible.end(), 0u);
  head.attend(Compute::int8, visible, 1000);
  double worst = 0;
  for (std::size_t i = 0; i < 70; ++i) {
    for (std::size_t c = 0; c < 16; ++c) {
      double sum = 0;
      for (std::size_t j = 0; j < 70; ++j) {
        sum += static_cast<double>(head.weights[i * 70 + j] * head.qkv(j, 2 * 16 + c));
      }
      worst = std::max(worst, std::abs(sum - static_cast<double>(head.context(i, c))));
    }
  }
  CHECK(worst < 2.0 / 1021);  // half a step of values up to 2
}

TEST_CASE("initial weights follow Xavier's distribution and depend only on the seed", "[models]") {
  const NamedParameter matrix = {"encoder.layers.0.fc1.weight", {300, 100}, {}};
  SplitMix64 one(9), same(9), other(10);
  const auto values = initial_values(matrix, one);
  CHECK(values == initial_values(matrix, same));
  CHECK(values != initial_values(matrix, other));
  const double bound = std::sqrt(6.0 / 400);
  double mean = 0, squares = 0, widest = 0;
  for (float value : values) {
    mean += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
    widest = std::max(widest, std::abs(static_cast<double>(value)));
  }
  const double count = static_cast<double>(values.size());
  CHECK(widest <= bound);
  CHECK(widest > 0.99 * bound);
  CHECK(std::abs(mean / count) < 0.01 * bound);
  CHECK(std::abs(squares / count / (bound * bound / 3) - 1) < 0.02);  // a uniform's variance
  CHECK(initial_values({"x.layer_norm.weight", {3}, {}}, one) == std::vector<float>{1, 1, 1});
  CHECK(initial_values({"x.fc1.bias", {3}, {}}, one) == std::vector<float>{0, 0, 0});
}

TEST_CASE("sinusoidal positions do not depend on how their table grows", "[models]") {
  constexpr std::size_t longest = 1000, d_model = 8;
  const SinusoidalEncoding whole(longest, d_model), grown(longest, d_model);
  Session session;  // holds a table for each
  const Run run(session);
  whole.reserve(longest, session);
  for (const std::size_t position : {0, 127, 128, 300, 999}) {
    Tensor expected({1, d_model}, 0.0f), x({1, d_model}, 0.0f);
    whole.add_to(rows(expected, 0, 1), std::span(&position, 1), run);
    grown.add_to(rows(x, 0, 1), std::span(&position, 1), run);
    CHECK(values_of(x) == values_of(expected));
    for (std::size_t i = 0; i < d_model; i += 2) {
      const double angle = static_cast<double>(position) *
                           std::pow(10000.0, -static_cast<double>(i) / double{d_model});
      CHECK(std::abs(x(0, i) - std::sin(angle)) < 1e-6);
      CHECK(std::abs(x(0, i + 1) - std::cos(angle)) < 1e-6);
    }
  }
  CHECK_THROWS_AS(grown.reserve(longest + 1, session), Error);
}

TEST_CASE("a model allocates memory for weights only when they are loaded", "[models]") {
  Architecture architecture = Golden("pre_norm_mean").config.architecture;
  StackConfig& stack = *architecture.encoder;
  LayerConfig layer = stack.layers[0];
  stack.d_model = layer.feed_forward.d_ff = stack.max_length = 1 << 14;
  layer.attention.d_head = stack.d_model / stack.n_heads();
  stack.layers.assign(100, layer);  // 600 GB of weights
  const std::size_t peak = peak_of([&] {
    EncoderModel model(architecture);
    CHECK(model.parameters().size() > 1000);
  });
  CHECK(peak < 20'000'000);
}

}  // namespace glassformer::test
