// The training of dictionaries: its gradients, compared with differences of the loss, and what
// holds for any model.

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <map>

#include "models/dictionary/dictionary_files.hpp"
#include "support/any_file.hpp"
#include "support/checkpoint_golden.hpp"
#include "support/error_of.hpp"
#include "tasks/load.hpp"
#include "tasks/train/dictionary_setup.hpp"
#include "train/dictionary/dictionary_report.hpp"
#include "train/dictionary/dictionary_trainer.hpp"

namespace glassformer::test {
namespace {

constexpr std::size_t features = 24, active = 4;

// A small model that writes, and texts of random tokens.
class Setup {
 public:
  explicit Setup(const std::string& name = "gpt2_generate") {
    OpenFolder open(checkpoints / name);
    model = make_model(open.config.architecture);
    open.load(parameters(model));
    architecture = open.config.architecture;
    SplitMix64 random(3);
    const std::size_t vocabulary = architecture.decoder->vocab_size();
    for (int i = 0; i < 40; ++i) {
      std::vector<std::int32_t> ids;
      for (int t = 0; t < 9; ++t) {
        ids.push_back(static_cast<std::int32_t>(random.next() % vocabulary));
      }
      examples.push_back({.ids = ids});
    }
  }

  std::vector<DictionaryConfig> configs(DictionaryKind kind = DictionaryKind::transcoder) const {
    TrainingOptions options;
    options.kind = kind;
    options.features = features;
    options.active = active;
    return dictionary_configs(architecture, parameters(model), options);
  }

  DictionaryTrainer trainer(const DictionaryTrainerOptions& options,
                            DictionaryKind kind = DictionaryKind::transcoder) const {
    return {model, objective, configs(kind), examples, options};
  }

  Model model;
  Architecture architecture;
  NextTokenObjective objective;
  std::vector<Example> examples;
};

// The tensors of a checkpoint, as doubles.
std::map<std::string, std::vector<double>> tensors_of(DictionaryTrainer& trainer) {
  const std::vector<std::byte> bytes = trainer.checkpoint();
  const SafetensorsFile file = SafetensorsFile::parse(bytes);
  std::map<std::string, std::vector<double>> tensors;
  for (const TensorInfo& info : file.header().tensors()) {
    if (info.dtype != DType::f32) continue;
    std::vector<float> values(element_count(info.shape));
    std::memcpy(values.data(), file.bytes(info).data(), 4 * values.size());
    tensors[info.name] = {values.begin(), values.end()};
  }
  return tensors;
}

// The loss of one dictionary, by the formula: Σ ‖ŷ - y‖² / (N D), of scaled numbers.
double loss(const std::map<std::string, std::vector<double>>& tensors, const std::string& name,
            const std::vector<float>& x, const std::vector<float>& y, std::size_t width) {
  const auto& encoder = tensors.at("value/" + name + ".encoder.weight");
  const auto& encoder_bias = tensors.at("value/" + name + ".encoder.bias");
  const auto& decoder = tensors.at("value/" + name + ".decoder.weight");
  const auto& bias = tensors.at("value/" + name + ".decoder.bias");
  const auto &mean_x = tensors.at("mean/" + name + ".x"),
             &mean_y = tensors.at("mean/" + name + ".y");
  const auto& scales = tensors.at("scales/" + name);
  double sum = 0;
  for (std::size_t row = 0; row < x.size() / width; ++row) {
    std::vector<std::pair<double, std::size_t>> pre;
    for (std::size_t f = 0; f < features; ++f) {
      double z = encoder_bias[f];
      for (std::size_t c = 0; c < width; ++c) {
        z += encoder[f * width + c] * (static_cast<double>(x[row * width + c]) - mean_x[c]) /
             scales[0];
      }
      pre.push_back({z, f});
    }
    std::sort(pre.begin(), pre.end(), std::greater());
    for (std::size_t c = 0; c < width; ++c) {
      double guess = bias[c];
      for (std::size_t k = 0; k < active; ++k) {
        if (pre[k].first > 0) guess += pre[k].first * decoder[pre[k].second * width + c];
      }
      const double left = guess - (static_cast<double>(y[row * width + c]) - mean_y[c]) / scales[1];
      sum += left * left;
    }
  }
  return sum / static_cast<double>(x.size());
}

}  // namespace

TEST_CASE("the gradients of dictionaries are those of the loss", "[train][dictionary]") {
  Setup setup;
  setup.examples.resize(15);
  DictionaryTrainerOptions options = {.batch_tokens = 1'000'000};
  options.schedule.rate = 0;  // a step changes nothing
  DictionaryTrainer trainer = setup.trainer(options);
  const StepResult step = trainer.step(0.5);
  auto tensors = tensors_of(trainer);
  const std::vector<DictionaryConfig> configs = setup.configs();
  const std::size_t width = configs[0].d_model;
  const DictionarySet dictionaries(configs);
  Pool pool;
  DictionaryRuns runs(setup.model, setup.objective, dictionaries, 1'000'000, pool);
  std::vector<const Example*> all;
  for (const Example& example : setup.examples) all.push_back(&example);
  runs(all, {}, [&](const DictionaryRuns::Shard& shard) {
    for (std::size_t i = 0; i < configs.size(); ++i) {
      const std::string& name = configs[i].writes;
      INFO(name);
      const auto &x = shard.seen.read(i), &y = shard.seen.written(i);
      const double before = loss(tensors, name, x, y, width);
      CHECK(before > 0.01);
      // Adam's first moment is a tenth of the gradient, which is clipped to the norm 1.
      double squares = 0;
      for (const char* const part :
           {".encoder.weight", ".encoder.bias", ".decoder.weight", ".decoder.bias"}) {
        for (const double each : tensors.at("state/" + name + part + ".mean")) {
          squares += 100 * each * each;
        }
      }
      CHECK(squares < 0.999);  // it was not clipped
      SplitMix64 random(5);
      for (const char* const part :
           {".encoder.weight", ".encoder.bias", ".decoder.weight", ".decoder.bias"}) {
        INFO(part);
        std::vector<double>& values = tensors.at("value/" + name + part);
        const std::vector<double>& moment = tensors.at("state/" + name + part + ".mean");
        const bool columns = std::string_view(part) == ".decoder.weight";
        const std::size_t row = columns ? width : 1;
        for (int times = 0; times < 3; ++times) {
          const std::size_t at = random.next() % values.size(), first = at - at % row;
          std::vector<double> slopes;
          for (std::size_t c = first; c < first + row; ++c) {
            const double value = values[c], little = 1e-5;
            values[c] = value + little;
            const double above = loss(tensors, name, x, y, width);
            values[c] = value - little;
            slopes.push_back((above - loss(tensors, name, x, y, width)) / (2 * little));
            values[c] = value;
          }
          double expected = slopes[at - first];
          if (columns) {  // without what would only make the column longer
            double along = 0;
            for (std::size_t c = 0; c < row; ++c) along += slopes[c] * values[first + c];
            expected -= along * values[at];
          }
          CHECK(std::abs(10 * moment[at] - expected) < 1e-4);
        }
      }
    }
  });
  CHECK(std::isfinite(step.gradient_norm));
}

TEST_CASE("dictionaries explain more as they learn, whatever the threads", "[train][dictionary]") {
  Setup setup;
  const auto learn = [&](std::size_t threads, DictionaryKind kind) {
    DictionaryTrainerOptions options = {.batch_tokens = 128, .threads = threads};
    options.schedule.rate = 0.01f;
    DictionaryTrainer trainer = setup.trainer(options, kind);
    trainer.step(0.01);
    const double first = trainer.evaluate(setup.examples).mean();
    for (int step = 1; step < 60; ++step) trainer.step(step / 60.0);
    CHECK(trainer.evaluate(setup.examples).mean() < 0.8 * first);
    return tensors_of(trainer);
  };
  for (const DictionaryKind kind : {DictionaryKind::transcoder, DictionaryKind::sae}) {
    const auto one = learn(1, kind);
    CHECK(one == learn(3, kind));
    for (const DictionaryConfig& config : setup.configs(kind)) {
      const auto& decoder = one.at("value/" + config.writes + ".decoder.weight");
      for (std::size_t f = 0; f < features; ++f) {
        double squares = 0;
        for (std::size_t c = 0; c < config.d_model; ++c) {
          squares += decoder[f * config.d_model + c] * decoder[f * config.d_model + c];
        }
        CHECK(std::abs(squares - 1) < 1e-5);
      }
    }
  }
}

TEST_CASE("a training of dictionaries goes on from a checkpoint", "[train][dictionary]") {
  Setup setup;
  DictionaryTrainerOptions options = {.batch_tokens = 128, .dead_after = 300};
  DictionaryTrainer whole = setup.trainer(options), first = setup.trainer(options),
                    second = setup.trainer(options);
  for (int step = 0; step < 12; ++step) whole.step(0.1);
  for (int step = 0; step < 5; ++step) first.step(0.1);
  second.restore(first.checkpoint());
  for (int step = 5; step < 12; ++step) second.step(0.1);
  CHECK(tensors_of(whole) == tensors_of(second));
}

TEST_CASE("features that no token excites learn from the others' errors", "[train][dictionary]") {
  Setup setup;
  setup.examples.resize(15);
  std::vector<DictionaryConfig> configs = setup.configs();
  configs.resize(1);
  configs[0].features = 160;
  configs[0].active = 1;
  const std::string name = configs[0].writes;
  const std::size_t width = configs[0].d_model;
  DictionaryTrainerOptions options = {.batch_tokens = 1'000'000, .dead_after = 0};
  options.schedule.rate = 0;
  DictionaryTrainer trainer(setup.model, setup.objective, configs, setup.examples, options);
  const LossSum plain = trainer.step(0.5).loss;  // from here on, those not active in it are dead
  const auto first = tensors_of(trainer);
  trainer.step(0.5);
  auto tensors = tensors_of(trainer);
  std::vector<std::size_t> dead;
  for (std::size_t f = 0; f < configs[0].features; ++f) {
    if (tensors.at("silent/" + name)[f] > 0) dead.push_back(f);
  }
  REQUIRE(dead.size() > width / 2);

  const DictionarySet dictionaries(configs);
  Pool pool;
  DictionaryRuns runs(setup.model, setup.objective, dictionaries, 1'000'000, pool);
  std::vector<const Example*> all;
  for (const Example& example : setup.examples) all.push_back(&example);
  std::vector<float> x, y;
  runs(all, {}, [&](const DictionaryRuns::Shard& shard) {
    x = shard.seen.read(0);
    y = shard.seen.written(0);
  });
  // Σ ‖ê - e‖² / (32 N D left), where dead features predict what the others left.
  const auto& encoder = tensors.at("value/" + name + ".encoder.weight");
  const auto& decoder = tensors.at("value/" + name + ".decoder.weight");
  const auto& scales = tensors.at("scales/" + name);
  const auto scaled = [&](const std::vector<float>& rows, std::size_t row, const char* part,
                          double scale) {
    const auto& mean = tensors.at("mean/" + name + part);
    std::vector<double> values;
    for (std::size_t c = 0; c < width; ++c) {
      values.push_back((static_cast<double>(rows[row * width + c]) - mean[c]) / scale);
    }
    return values;
  };
  const std::size_t rows = x.size() / width;
  std::vector<std::vector<double>> left;
  const auto pre = [&](std::size_t row, std::size_t f) {
    const std::vector<double> from = scaled(x, row, ".x", scales[0]);
    double z = 0;
    for (std::size_t c = 0; c < width; ++c) z += encoder[f * width + c] * from[c];
    return z;
  };
  for (std::size_t row = 0; row < rows; ++row) {
    left.push_back(scaled(y, row, ".y", scales[1]));
    std::pair<double, std::size_t> best = {0, 0};
    for (std::size_t f = 0; f < configs[0].features; ++f) best = std::max(best, {pre(row, f), f});
    for (std::size_t c = 0; c < width; ++c) {
      left[row][c] -= best.first * decoder[best.second * width + c];
    }
  }
  const auto loss_of_dead = [&] {
    double sum = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      std::vector<std::pair<double, std::size_t>> excited;
      for (const std::size_t f : dead) excited.push_back({pre(row, f), f});
      std::sort(excited.begin(), excited.end(), std::greater());
      std::vector<double> error = left[row];
      for (std::size_t k = 0; k < width / 2 && excited[k].first > 0; ++k) {
        for (std::size_t c = 0; c < width; ++c) {
          error[c] -= excited[k].first * decoder[excited[k].second * width + c];
        }
      }
      for (const double each : error) sum += each * each;
    }
    return sum / (32 * static_cast<double>(x.size()) * plain.mean());
  };
  const auto& now = tensors.at("state/" + name + ".encoder.weight.mean");
  const auto& before = first.at("state/" + name + ".encoder.weight.mean");
  std::vector<double>& values = tensors.at("value/" + name + ".encoder.weight");
  for (std::size_t i = 0; i < 8; ++i) {
    const std::size_t at = dead[i % dead.size()] * width + i;
    const double value = values[at], little = 1e-5;
    values[at] = value + little;
    const double above = loss_of_dead();
    values[at] = value - little;
    const double slope = (above - loss_of_dead()) / (2 * little);
    values[at] = value;
    CHECK(std::abs(10 * (now[at] - 0.9 * before[at]) - slope) < 1e-4);
    CHECK(before[at] == 0);
  }
}

TEST_CASE("a report says what dictionaries are worth", "[train][dictionary]") {
  Setup setup;
  DictionaryTrainerOptions options = {.batch_tokens = 128};
  options.schedule.rate = 0.01f;
  DictionaryTrainer trainer = setup.trainer(options);
  for (int step = 0; step < 40; ++step) trainer.step(step / 40.0);
  const double left = trainer.evaluate(setup.examples).mean();
  const auto dictionaries = trainer.dictionaries();
  Pool pool;
  const DictionaryReport report =
      report_on(setup.model, setup.objective, *dictionaries, setup.examples, setup.examples, pool);
  CHECK(report.tokens == 8 * setup.examples.size());  // the last one is only predicted
  double explained = 0;
  for (const DictionaryFacts& facts : report.dictionaries) {
    explained += facts.explained_variance / static_cast<double>(report.dictionaries.size());
    CHECK(facts.features_per_token <= active);
    CHECK(facts.features.size() == features);
    double sum = 0;
    std::size_t dead = 0;
    for (const FeatureFacts& feature : facts.features) {
      sum += feature.density;
      dead += feature.density == 0;
      for (const FeaturePlace& place : feature.places) {
        CHECK(place.token < report.texts.at(place.text).size());
        CHECK(place.activation <= feature.largest);
      }
      if (!feature.places.empty()) CHECK(feature.places[0].activation == feature.largest);
    }
    CHECK(std::abs(sum - facts.features_per_token) < 1e-6);
    CHECK(std::abs(facts.dead - static_cast<double>(dead) / features) < 1e-9);
    CHECK(std::abs(facts.loss_recovered - (facts.loss_ablated - facts.loss_replaced) /
                                              (facts.loss_ablated - report.loss)) < 1e-6);
  }
  CHECK(std::abs(explained - (1 - left)) < 0.02);  // shards have means of their own
}

TEST_CASE("dictionaries are stored with the model that they belong to", "[train][dictionary]") {
  Setup setup;
  DictionaryTrainer trainer = setup.trainer({.batch_tokens = 128});
  trainer.step(0.1);
  const auto dictionaries = trainer.dictionaries();
  const std::vector<NamedParameter> model = parameters(setup.model);
  for (std::size_t i = 0; i < dictionaries->size(); ++i) {
    const std::vector<float> marks = marks_of(model, (*dictionaries)[i].config().writes);
    REQUIRE(!marks.empty());
    set_values((*dictionaries)[i].parameters().back(), marks, 0);
  }
  const std::string config = dictionary_config(*dictionaries);
  const std::vector<std::byte> weights = dictionary_weights(*dictionaries);
  const auto read = read_dictionaries(config, weights, model);
  REQUIRE(read->size() == dictionaries->size());
  CHECK((*read)[1].config() == (*dictionaries)[1].config());
  for (std::size_t f = 0; f < features; ++f) {
    const auto a = (*read)[0].direction(f), b = (*dictionaries)[0].direction(f);
    for (std::size_t c = 0; c < a.size(); ++c) CHECK(std::abs(a[c] - b[c]) < 0.01f);
  }
  const Setup other("gpt2_scaled");
  const Error error =
      error_of([&] { read_dictionaries(config, weights, parameters(other.model)); });
  CHECK(error.code() == ErrorCode::invalid_weights);
  for (const auto& [from, to] :
       {std::pair("\"transcoder\"", "\"coder\""), {"\"format\":1", "\"format\":2"}}) {
    std::string wrong = config;
    std::erase_if(wrong, [](char c) { return c == ' ' || c == '\n'; });
    REQUIRE(wrong.find(from) != std::string::npos);
    wrong.replace(wrong.find(from), std::strlen(from), to);
    CHECK(error_of([&] { read_dictionaries(wrong, weights, model); }).code() ==
          ErrorCode::invalid_config);
  }
}

}  // namespace glassformer::test
