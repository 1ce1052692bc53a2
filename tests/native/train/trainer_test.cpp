// Training: losses, optimizers, and a model that learns.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "models/initialize.hpp"
#include "support/error_of.hpp"
#include "train/orthogonal.hpp"
#include "train/trainer.hpp"
#include "weights/safetensors.hpp"

namespace glassformer::test {
namespace {

constexpr std::size_t vocabulary = 30;

StackConfig small_stack(std::size_t layers, Mixer mixer) {
  const LayerConfig layer = {
      .mixer = mixer,
      .attention = {.n_heads = 2, .n_kv_heads = 2, .d_head = 8, .bias = true, .out_bias = true},
      .feed_forward = {.d_ff = 32, .activation = Activation::gelu}};
  return {.input = TokenInput{.vocab_size = vocabulary, .scale_embedding = true},
          .d_model = 16,
          .max_length = 40,
          .layers = std::vector<LayerConfig>(layers, layer),
          .relative = {},
          .layer_norm = {.kind = NormKind::standard, .eps = 1e-5f},
          .final_norm = true};
}

Model classifier(std::size_t classes, std::uint64_t seed = 3) {
  Architecture architecture;
  architecture.encoder = small_stack(2, Mixer::full);
  architecture.head = {.kind = HeadKind::sequence_classes, .outputs = classes};
  Model model = make_model(architecture);
  initialize(parameters(model), seed);
  return model;
}

Model tagger(std::uint64_t seed = 3) {
  Architecture architecture;
  architecture.encoder = small_stack(2, Mixer::full);
  architecture.head = {.kind = HeadKind::token_classes, .outputs = 5};
  Model model = make_model(architecture);
  initialize(parameters(model), seed);
  return model;
}

Model writer(std::uint64_t seed = 3) {
  Architecture architecture;
  architecture.decoder = small_stack(2, Mixer::causal);
  architecture.head = {.kind = HeadKind::next_token, .outputs = vocabulary};
  architecture.embeddings = EmbeddingSharing::tied;
  Model model = make_model(architecture);
  initialize(parameters(model), seed);
  return model;
}

Model translator(std::uint64_t seed = 3) {
  Architecture architecture;
  architecture.encoder = small_stack(1, Mixer::full);
  architecture.decoder = small_stack(1, Mixer::causal);
  architecture.head = {.kind = HeadKind::next_token, .outputs = vocabulary};
  architecture.embeddings = EmbeddingSharing::shared;
  Model model = make_model(architecture);
  initialize(parameters(model), seed);
  return model;
}

// Texts of random tokens and lengths, each with a random class.
std::vector<Example> random_texts(std::size_t count, std::size_t classes) {
  SplitMix64 random(7);
  std::vector<Example> examples(count);
  for (Example& example : examples) {
    const std::size_t length = 3 + random.next() % 9;
    for (std::size_t i = 0; i < length; ++i) {
      example.ids.push_back(static_cast<std::int32_t>(random.next() % vocabulary));
    }
    example.label = static_cast<std::int32_t>(random.next() % classes);
  }
  return examples;
}

TrainerOptions plain_options() {
  return {.batch_tokens = 60,
          .shard_tokens = 20,
          .dropout = 0,
          .averaging = 0,
          .schedule = {.rate = 3e-3f, .warm_up = 0.1f}};
}

// Trains for some steps. Returns the loss on the same examples.
LossSum train(const Model& model, const Objective& objective, const std::vector<Example>& examples,
              const TrainerOptions& options, int steps) {
  Trainer trainer(model, parameters(model), objective, examples, options);
  for (int i = 1; i <= steps; ++i) trainer.step(static_cast<double>(i) / steps);
  return trainer.evaluate(examples);
}

std::vector<float> weights_of(const Model& model) {
  std::vector<float> weights;
  for (const NamedParameter& parameter : parameters(model)) {
    for (std::size_t i = 0; i < parameter.shape[0]; ++i) {
      const std::vector<float> row = row_of(parameter, i);
      weights.insert(weights.end(), row.begin(), row.end());
    }
  }
  return weights;
}

// The class of each token that has one, from the logits of all tokens.
class AllRows final : public Objective {
 public:
  std::unique_ptr<Lesson> lesson(Examples examples, SplitMix64*) const override {
    Batch texts;
    std::vector<Target> targets;
    for (const Example* const example : examples) {
      for (std::size_t i = 0; i < example->labels.size(); ++i) {
        if (example->labels[i] < 0) continue;
        targets.push_back({.row = texts.tokens() + i, .label = example->labels[i]});
      }
      texts.add(example->ids);
    }
    return std::unique_ptr<Lesson>(new Lesson{WholePass(std::move(texts)), std::move(targets)});
  }
  float weight(const Example& example) const override {
    return TokenClassObjective().weight(example);
  }
};

// Trains a classifier for some steps, in one go. Returns its weights.
std::vector<float> trained_weights(const TrainerOptions& options, int steps) {
  const Model model = classifier(3);
  const std::vector<Example> examples = random_texts(20, 3);
  train(model, ClassObjective(0.1f), examples, options, steps);
  return weights_of(model);
}

}  // namespace

TEST_CASE("a classifier learns sixteen texts by heart", "[train]") {
  const Model model = classifier(4);
  const std::vector<Example> examples = random_texts(16, 4);
  for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::muon}) {
    INFO(name_of(kind));
    initialize(parameters(model), 3);
    TrainerOptions options = plain_options();
    options.optimizer.kind = kind;
    const LossSum sum = train(model, ClassObjective(), examples, options, 250);
    CHECK(sum.mean() < 0.01);
    CHECK(sum.accuracy() == 1);
    CHECK(sum.count == 16);
  }
}

TEST_CASE("gradients have a norm for each layer and for each part outside the layers", "[train]") {
  const Model model = classifier(4);
  const std::vector<Example> examples = random_texts(16, 4);
  const ClassObjective objective;
  Trainer trainer(model, parameters(model), objective, examples, plain_options());
  const float whole = trainer.step(0.1).gradient_norm;
  const std::vector<GradientNorm> norms = trainer.gradient_norms();
  std::vector<std::string> names;
  float squares = 0;
  for (const GradientNorm& each : norms) {
    names.push_back(each.name);
    CHECK(each.norm > 0);
    squares += each.norm * each.norm;
  }
  CHECK(names == std::vector<std::string>{"encoder.embed_tokens", "encoder.layers.0",
                                          "encoder.layers.1", "encoder.layer_norm", "classifier"});
  CHECK(std::abs(std::sqrt(squares) - whole) < 1e-5f * whole);
}

TEST_CASE("a classifier learns soft targets", "[train]") {
  const Model model = classifier(2);
  std::vector<Example> examples = random_texts(16, 2);
  for (Example& example : examples) example.shares = {0.25f, 0.75f};
  const LossSum sum = train(model, ClassObjective(), examples, plain_options(), 100);
  const double least = -0.25 * std::log(0.25) - 0.75 * std::log(0.75);  // the entropy
  CHECK(sum.mean() < least + 1e-3);
  CHECK(sum.mean() >= least - 1e-6);
}

TEST_CASE("a writer and a translator learn sixteen texts by heart", "[train]") {
  std::vector<Example> examples = random_texts(16, 2);
  SECTION("writer") {
    // Texts that begin differently, so that each next token can be known.
    for (std::size_t i = 0; i < examples.size(); ++i) {
      examples[i].ids[0] = static_cast<std::int32_t>(i);
      examples[i].ids[1] = static_cast<std::int32_t>(i);
    }
    const LossSum sum = train(writer(), NextTokenObjective(), examples, plain_options(), 1200);
    // Nothing tells the second token of a text from those of others but the first.
    CHECK(sum.mean() < 0.01);
  }
  SECTION("translator") {
    for (std::size_t i = 0; i < examples.size(); ++i) {
      examples[i].target = {1, static_cast<std::int32_t>(i + 2), 5, examples[i].ids[0], 2};
    }
    const LossSum sum = train(translator(), TranslationObjective(), examples, plain_options(), 700);
    CHECK(sum.mean() < 0.01);
    CHECK(sum.count == 16 * 4);
  }
}

TEST_CASE("weights do not depend on the number of threads", "[train]") {
  TrainerOptions options = plain_options();
  options.dropout = 0.2f;
  const std::vector<float> one = trained_weights(options, 7);
  options.threads = 3;
  CHECK(trained_weights(options, 7) == one);
  options.seed = 2;
  CHECK(trained_weights(options, 7) != one);
}

TEST_CASE("a training that goes on from a checkpoint gives the same weights", "[train]") {
  TrainerOptions options = plain_options();
  options.dropout = 0.1f;
  options.averaging = 0.9f;
  options.fingerprint = 11;
  options.optimizer.kind = OptimizerKind::muon;
  const ClassObjective objective(0.1f);
  const std::vector<Example> examples = random_texts(20, 3);
  const Model whole = classifier(3), first = classifier(3), second = classifier(3, 99);
  Trainer all(whole, parameters(whole), objective, examples, options);
  for (int i = 1; i <= 9; ++i) all.step(i / 9.0);

  Trainer before(first, parameters(first), objective, examples, options);
  for (int i = 1; i <= 4; ++i) before.step(i / 9.0);
  const std::vector<std::byte> checkpoint = before.checkpoint();
  Trainer after(second, parameters(second), objective, examples, options);
  after.restore(checkpoint);
  CHECK(after.progress().step == 4);
  for (int i = 5; i <= 9; ++i) after.step(i / 9.0);
  CHECK(weights_of(second) == weights_of(whole));
  CHECK(after.evaluate(examples).loss == all.evaluate(examples).loss);
  CHECK(after.checkpoint() == all.checkpoint());

  SECTION("another model or other data are refused, and nothing changes") {
    const std::vector<float> unchanged = weights_of(second);
    const Model other = classifier(4);
    Trainer of_other(other, parameters(other), objective, examples, options);
    CHECK(error_of([&] { of_other.restore(checkpoint); }).code() == ErrorCode::shape_mismatch);
    options.fingerprint = 12;
    Trainer of_others(second, parameters(second), objective, examples, options);
    CHECK(error_of([&] { of_others.restore(checkpoint); }).code() == ErrorCode::invalid_option);
    const std::vector<std::byte> half(checkpoint.begin(), checkpoint.begin() + 1000);
    CHECK(error_of([&] { of_others.restore(half); }).code() == ErrorCode::invalid_safetensors);
    CHECK(weights_of(second) == unchanged);
  }

  SECTION("a position behind the examples is refused") {
    Trainer again(second, parameters(second), objective, examples, options);
    std::vector<std::byte> edited = checkpoint;
    const SafetensorsFile file = SafetensorsFile::parse(checkpoint);
    const auto progress = std::ranges::find(file.header().tensors(), "progress", &TensorInfo::name);
    const std::size_t at =
        static_cast<std::size_t>(file.bytes(*progress).data() - checkpoint.data()) +
        offsetof(TrainingProgress, position);
    for (const std::uint64_t position : {std::uint64_t{21}, ~std::uint64_t{0}}) {
      std::memcpy(edited.data() + at, &position, sizeof position);
      const Error error = error_of([&] { again.restore(edited); });
      CHECK(error.code() == ErrorCode::invalid_data);
      CHECK(std::string(error.what()).find("at most 20 examples") != std::string::npos);
    }
    const std::uint64_t end = 20;
    std::memcpy(edited.data() + at, &end, sizeof end);
    again.restore(edited);
    CHECK(std::isfinite(again.step(0.5).loss.loss));
  }
}

TEST_CASE("a loss that is not finite ends the step without a change", "[train]") {
  const Model model = classifier(2);
  const std::vector<Example> examples = random_texts(8, 2);
  const ClassObjective objective;
  Trainer trainer(model, parameters(model), objective, examples, plain_options());
  trainer.step(0.5);
  for (const NamedParameter& parameter : parameters(model)) {
    if (parameter.name != "classifier.bias") continue;
    parameter.set(std::vector<float>{0, std::numeric_limits<float>::infinity()}, 0);
  }
  const std::vector<float> before = weights_of(model);
  const Error error = error_of([&] { trainer.step(0.6); });
  CHECK(error.code() == ErrorCode::non_finite);
  CHECK(std::string(error.what()).find("step 2") != std::string::npos);
  CHECK(weights_of(model) == before);
  CHECK(trainer.progress().step == 1);
}

TEST_CASE("the averaged weights are used to measure, and only then", "[train]") {
  TrainerOptions options = plain_options();
  options.averaging = 0.5f;
  const Model model = classifier(2);
  const std::vector<Example> examples = random_texts(12, 2);
  const ClassObjective objective;
  Trainer trainer(model, parameters(model), objective, examples, options);
  std::vector<float> average = weights_of(model);
  for (int step = 1; step <= 5; ++step) {
    trainer.step(0.5);
    const std::vector<float> now = weights_of(model);
    const float kept = std::min(0.5f, static_cast<float>(step) / static_cast<float>(step + 10));
    for (std::size_t i = 0; i < now.size(); ++i) {
      average[i] = kept * average[i] + (1 - kept) * now[i];
    }
  }
  const std::vector<float> now = weights_of(model);
  double worst = 0;
  trainer.with_average([&] {
    const std::vector<float> used = weights_of(model);
    for (std::size_t i = 0; i < used.size(); ++i) {
      worst = std::max(worst, std::abs(double{used[i]} - double{average[i]}));
    }
  });
  CHECK(worst < 1e-6);
  CHECK(weights_of(model) == now);
}

TEST_CASE("objectives hide and leave out what they should", "[train]") {
  const std::vector<Example> examples = random_texts(300, 2);
  std::vector<const Example*> all;
  for (const Example& example : examples) all.push_back(&example);
  SplitMix64 random(5);

  SECTION("masked") {
    std::vector<bool> special(vocabulary);
    std::fill_n(special.begin(), 5, true);
    const MaskedObjective objective({.share = 0.15f, .mask = 4, .special = special});
    const auto lesson = objective.lesson(all, &random);
    const auto ids = lesson->pass.sources().ids();
    const auto rows = lesson->pass.rows();
    REQUIRE(rows.size() == lesson->targets.size());
    std::size_t masked = 0, same = 0, ordinary = 0;
    for (const Target& target : lesson->targets) {
      masked += ids[rows[target.row]] == 4;
      same += ids[rows[target.row]] == target.label;
      CHECK(target.label >= 5);
    }
    for (const Example& example : examples) {
      CHECK(std::abs(objective.weight(example) - 0.15f * static_cast<float>(example.ids.size())) <
            1e-5f);
      ordinary += static_cast<std::size_t>(
          std::ranges::count_if(example.ids, [](std::int32_t id) { return id >= 5; }));
    }
    const auto hidden = static_cast<double>(lesson->targets.size());
    CHECK(std::abs(hidden / static_cast<double>(ordinary) - 0.15) < 0.03);
    CHECK(std::abs(static_cast<double>(masked) / hidden - 0.8) < 0.08);
    CHECK(std::abs(static_cast<double>(same) / hidden - 0.1) < 0.08);
    CHECK(objective.lesson(all, nullptr)->targets.size() ==
          objective.lesson(all, nullptr)->targets.size());
  }
  SECTION("classes, with tokens left out") {
    const std::vector<std::int32_t> special = {1, 2};
    const auto count = [&](std::span<const std::int32_t> ids) {
      return std::ranges::count_if(
          ids, [&](std::int32_t id) { return std::ranges::find(special, id) != special.end(); });
    };
    std::vector<Example> pairs = random_texts(300, 2);
    all.clear();
    for (Example& example : pairs) {  // [CLS] text [SEP] text [SEP]
      std::erase_if(example.ids, [](std::int32_t id) { return id < 3; });
      example.ids.push_back(5);
      example.ids.insert(example.ids.begin() + 1, 2);
      example.ids.insert(example.ids.begin(), 1);
      example.ids.push_back(2);
      all.push_back(&example);
    }
    const ClassObjective objective(0.5f, special);
    const auto lesson = objective.lesson(all, &random);
    const Batch& texts = lesson->pass.sources();
    std::size_t before = 0, after = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      CHECK(count(texts.ids(i)) == 3);
      CHECK(texts.ids(i).front() == 1);
      CHECK(texts.ids(i).back() == 2);
      CHECK(texts.length(i) >= 4);  // one besides the special ones
      before += pairs[i].ids.size();
      after += texts.length(i);
    }
    CHECK(after < before * 3 / 4);
    CHECK(objective.lesson(all, nullptr)->pass.sources().tokens() == before);
  }
  SECTION("token classes") {
    Example example;
    example.ids = examples[0].ids;
    example.labels.assign(example.ids.size(), -1);
    example.labels[1] = 3;
    const Example* const one = &example;
    const TokenClassObjective objective;
    const auto lesson = objective.lesson({&one, 1}, nullptr);
    REQUIRE(lesson->targets.size() == 1);
    CHECK(lesson->targets[0].row == 0);
    REQUIRE(lesson->pass.rows().size() == 1);
    CHECK(lesson->pass.rows()[0] == 1);
    CHECK(lesson->targets[0].label == 3);
    CHECK(objective.weight(example) == 1);
  }
}

TEST_CASE("logits of the rows that have targets teach the same as those of all", "[train]") {
  std::vector<Example> examples = random_texts(30, 5);
  SplitMix64 random(3);
  for (Example& example : examples) {
    for (std::size_t i = 0; i < example.ids.size(); ++i) {
      example.labels.push_back(random.uniform() < 0.3f ? example.label : -1);
    }
  }
  examples[0].labels.assign(examples[0].ids.size(), -1);  // no target
  TrainerOptions options = plain_options();
  options.shard_tokens = 10;
  const Model some = tagger(), all = tagger();
  const LossSum of_some = train(some, TokenClassObjective(), examples, options, 20);
  const LossSum of_all = train(all, AllRows(), examples, options, 20);
  CHECK(of_some.count == of_all.count);
  CHECK(of_some.mean() < std::log(5.0));
  CHECK(std::abs(of_some.mean() - of_all.mean()) < 1e-4);
  const std::vector<float> a = weights_of(some), b = weights_of(all);
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(double{a[i]} - double{b[i]}));
  }
  CHECK(worst < 1e-3);
}

TEST_CASE("orthogonalized matrices have singular values near 1", "[train]") {
  for (const auto& [rows, columns] : {std::pair{6u, 20u}, std::pair{20u, 6u}, std::pair{7u, 7u}}) {
    SplitMix64 random(rows);
    std::vector<float> matrix(rows * columns);
    for (float& value : matrix) value = random.uniform() - 0.5f;
    const std::vector<float> before = matrix;
    orthogonalize(matrix, rows, columns);
    // The trace of A Aᵀ is the sum of the squares of the singular values.
    double squares = 0, along = 0;
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      squares += double{matrix[i]} * double{matrix[i]};
      along += double{matrix[i]} * double{before[i]};
    }
    const double rank = std::min(rows, columns);
    CHECK(squares / rank > 0.4);
    CHECK(squares / rank < 1.45);
    CHECK(along > 0);
  }
}

TEST_CASE("the rate rises, then falls", "[train]") {
  Schedule schedule = {.rate = 2, .warm_up = 0.2f};
  CHECK(schedule.at(0.1) == 1);
  CHECK(schedule.at(0.2) == 2);
  CHECK(std::abs(schedule.at(0.6) - 1) < 1e-6f);
  CHECK(schedule.at(1) == 0);
  schedule.decay = Decay::cosine;
  CHECK(std::abs(schedule.at(0.6) - 1) < 1e-6f);
  CHECK(schedule.at(0.3) > 1.75f);
  CHECK(std::abs(schedule.at(1)) < 1e-6f);
  schedule.decay = Decay::none;
  CHECK(schedule.at(0.9) == 2);
}

}  // namespace glassformer::test
