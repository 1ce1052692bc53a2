// Replacing a model's intermediate values.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "run/trace/trace_plan.hpp"
#include "support/checkpoint_golden.hpp"
#include "support/error_of.hpp"
#include "support/golden.hpp"
#include "tasks/classify/classify.hpp"
#include "tasks/load.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer::test {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr float infinity = std::numeric_limits<float>::infinity();

Patch to_patch(const TracedTensor& tensor) {
  return {.name = tensor.name, .shape = tensor.shape, .value = tensor.data};
}

// A run of any model over one text.
class PatchedModel {
 public:
  virtual ~PatchedModel() = default;

  virtual std::vector<ModelTensor> tensors() = 0;
  // Runs with these patches and returns the tensors that the model traces.
  std::vector<TracedTensor> run(std::vector<Patch> patches = {}) {
    TraceRequest request = {.patches = std::move(patches)};
    for (const ModelTensor& tensor : tensors()) request.names.push_back(tensor.name);
    return trace(std::move(request));
  }

 protected:
  virtual std::vector<TracedTensor> trace(TraceRequest request) = 0;
};

class EncoderSubject final : public PatchedModel {
 public:
  EncoderSubject(std::unique_ptr<EncoderModel> model, Batch batch)
      : model_(std::move(model)), batch_(std::move(batch)) {}

  std::vector<ModelTensor> tensors() override { return model_->tensors(session_); }

 protected:
  std::vector<TracedTensor> trace(TraceRequest request) override {
    const TracePlan plan(*model_, session_, std::move(request));
    return std::move((*model_)(batch_, plan.request(), session_).traces[0]);
  }

 private:
  std::unique_ptr<EncoderModel> model_;
  Session session_;
  Batch batch_;
};

// A translator with a forced target. The golden must outlive this.
class TranslatorSubject final : public PatchedModel {
 public:
  TranslatorSubject(const TranslationGolden& golden, Batch source, std::vector<std::int32_t> target)
      : golden_(golden), source_(std::move(source)), target_(std::move(target)) {}
  // Uses the first text.
  explicit TranslatorSubject(const TranslationGolden& golden)
      : TranslatorSubject(golden, golden.batch(0), golden.target(0)) {}

  std::vector<ModelTensor> tensors() override { return golden_.model->tensors(golden_.session); }

 protected:
  std::vector<TracedTensor> trace(TraceRequest request) override {
    const TracePlan plan(*golden_.model, golden_.session, std::move(request));
    Seq2Seq::Encoded encoded = golden_.encode(source_, plan.request());
    DecodingState state =
        golden_.begin(encoded, {.nodes = 24, .positions = 24, .rows = 24}, plan.request());
    std::vector<Extension> extensions;
    for (const std::int32_t id : target_) {
      const bool first = extensions.empty();
      const auto parent = first ? no_parent : static_cast<NodeIndex>(extensions.size() - 1);
      extensions.push_back({.parent = parent, .source = 0, .id = id});
    }
    golden_.model->project(const_view(golden_.decode(state, extensions)), state);
    std::vector<TracedTensor> tensors = std::move(encoded.traces[0]);
    std::ranges::move(state.trace(static_cast<NodeIndex>(target_.size() - 1)),
                      std::back_inserter(tensors));
    return tensors;
  }

 private:
  const TranslationGolden& golden_;
  Batch source_;
  std::vector<std::int32_t> target_;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

const TracedTensor& find(const std::vector<TracedTensor>& tensors, const std::string& name) {
  const auto found = std::ranges::find(tensors, name, &TracedTensor::name);
  INFO(name);
  REQUIRE(found != tensors.end());
  return *found;
}

void check_same(const std::vector<TracedTensor>& got, const std::vector<TracedTensor>& expected) {
  REQUIRE(got.size() == expected.size());
  for (const TracedTensor& tensor : expected) {
    INFO("at " << tensor.name);
    CHECK(same_bits(find(got, tensor.name).data, tensor.data));
  }
}

// Checks that patching any tensor with its own values changes no bit.
void check_own_values(PatchedModel& subject) {
  const std::vector<TracedTensor> plain = subject.run();
  REQUIRE(plain.size() == subject.tensors().size());
  for (const TracedTensor& tensor : plain) {
    INFO("patched: " << tensor.name);
    check_same(subject.run({to_patch(tensor)}), plain);
  }
}

// A direction with a number for each number of a row.
std::vector<float> direction_of(std::size_t size) {
  std::vector<float> direction(size);
  std::uint32_t state = 9;
  for (float& number : direction) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<float>(state >> 8) / 16777216.0f - 0.4f;
  }
  return direction;
}

// Checks adding a direction to, and removing it from, rows of every tensor of vectors: the run is
// that of a patch with the numbers that follow. Returns the number of these tensors.
std::size_t check_directions(PatchedModel& subject) {
  const std::vector<TracedTensor> plain = subject.run();
  std::size_t checked = 0;
  for (const ModelTensor& tensor : subject.tensors()) {
    if (tensor.keys != ModelTensor::Axis::none) continue;
    INFO("changed: " << tensor.name);
    const std::size_t size = tensor.columns * std::max<std::size_t>(tensor.heads, 1);
    const std::vector<float> direction = direction_of(size);
    double square = 0;
    for (const float number : direction) square += static_cast<double>(number * number);
    for (const PatchKind kind : {PatchKind::add, PatchKind::remove}) {
      const bool adds = kind == PatchKind::add;
      const Patch changed = {.name = tensor.name,
                             .kind = kind,
                             .scale = adds ? -0.75f : 1.0f,
                             .shape = {size},
                             .value = direction};
      Patch same = to_patch(find(plain, tensor.name));
      for (std::size_t row = 0; row < same.value.size() / size; ++row) {
        float* const x = &same.value[row * size];
        double product = 0;
        for (std::size_t i = 0; i < size; ++i) {
          product += static_cast<double>(x[i]) * static_cast<double>(direction[i]);
        }
        for (std::size_t i = 0; i < size; ++i) {
          x[i] +=
              adds ? -0.75f * direction[i] : -static_cast<float>(product / square) * direction[i];
        }
      }
      const std::vector<TracedTensor> got = subject.run({changed}), expected = subject.run({same});
      double worst = 0;
      for (const TracedTensor& each : expected) {
        worst = std::max(worst, distance(find(got, each.name).data, each.data));
      }
      CHECK(worst < 2e-5);
    }
    ++checked;
  }
  return checked;
}

// Checks patching every tensor with other values: the tensor and its other names have those values,
// earlier tensors are unchanged, and the last one is different.
void check_other_values(PatchedModel& subject) {
  const std::vector<TracedTensor> plain = subject.run();
  const std::vector<ModelTensor> order = subject.tensors();
  const std::string last = order.back().name;
  for (std::size_t i = 0; i < order.size(); ++i) {
    INFO("patched: " << order[i].name);
    Patch patch = to_patch(find(plain, order[i].name));
    for (float& value : patch.value) value *= 0.75f;
    const std::vector<TracedTensor> got = subject.run({patch});
    CHECK(!same_bits(find(got, last).data, find(plain, last).data));
    for (std::size_t j = 0; j < order.size(); ++j) {
      INFO("at " << order[j].name);
      const std::vector<float>& data = find(got, order[j].name).data;
      if (order[j].id == order[i].id) {
        CHECK(same_bits(data, patch.value));
      } else if (j < i) {
        CHECK(same_bits(data, find(plain, order[j].name).data));
      }
    }
  }
}

std::unique_ptr<EncoderSubject> classifier_subject(const std::string& name, std::size_t text) {
  Golden golden(name);
  Batch batch = golden.batch(text);
  return std::make_unique<EncoderSubject>(std::move(golden.model), std::move(batch));
}

TracedTensor number(const std::string& name, float value) { return {name, {}, {value}}; }

}  // namespace

TEST_CASE("patching a tensor with its own values changes no bit", "[patch]") {
  SECTION("classifiers") {
    const std::string name = GENERATE(from_range(golden_names()));
    INFO(name);
    check_own_values(*classifier_subject(name, 0));
  }
  SECTION("several blocks of queries, and of rows of the feed-forward layer") {
    Golden golden("pre_norm_mean");
    ModelConfig config = golden.config;
    config.architecture.encoder->max_length = 256;
    Batch batch;
    std::vector<std::int32_t> ids(109);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 7 % 80);
    batch.add(ids, std::vector<std::size_t>{0, 50, 108});
    EncoderSubject subject(load_model(golden.folder, config), batch);
    check_own_values(subject);
  }
  SECTION("published checkpoints") {
    const std::string name = GENERATE(from_range(checkpoint_names()));
    INFO(name);
    const OpenFolder opened(checkpoints / name);
    auto model = std::make_unique<EncoderModel>(opened.config.architecture);
    opened.load(model->parameters());
    Batch batch;
    batch.add(std::vector<std::int32_t>{3, 7, 9, 4, 12});
    EncoderSubject subject(std::move(model), batch);
    check_own_values(subject);
  }
  SECTION("translators") {
    const TranslationGolden golden(GENERATE(from_range(translation_golden_names())));
    INFO(golden.name);
    const bool masked = GENERATE(false, true);
    const std::vector<std::size_t> mask = masked ? std::vector<std::size_t>{1} : decltype(mask){};
    TranslatorSubject subject(golden, golden.batch(0, mask), golden.target(0));
    check_own_values(subject);
  }
}

TEST_CASE("patching a tensor with other values shows them and changes all that follows",
          "[patch]") {
  SECTION("classifiers") {
    const std::string name = GENERATE(from_range(golden_names()));
    INFO(name);
    check_other_values(*classifier_subject(name, 0));
  }
  SECTION("translators") {
    const TranslationGolden golden(GENERATE(from_range(translation_golden_names())));
    INFO(golden.name);
    TranslatorSubject subject(golden);
    check_other_values(subject);
  }
}

TEST_CASE("patching the whole stream with another text's gives that text's answer, bit for bit",
          "[patch]") {
  const std::string name = GENERATE(from_range(golden_names()));
  INFO(name);
  Golden golden(name);
  Batch base, donor;
  base.add(std::vector<std::int32_t>{5, 9, 40, 11, 30});
  donor.add(std::vector<std::int32_t>{6, 22, 41, 12, 31});
  const auto given = golden.run(donor, {.names = anything});
  const auto plain = golden.run(base);
  const StackConfig& stack = golden.config.encoder();
  std::vector<std::string> stream = {"encoder.embeddings", "encoder.output", "pooled"};
  for (std::size_t layer = 0; layer < stack.layers.size(); ++layer) {
    for (const char* end : {".input", ".self_attn.residual", ".output"}) {
      stream.push_back("encoder.layers." + std::to_string(layer) + end);
    }
  }
  for (const std::string& tensor : stream) {
    // With norms before the sublayers, x + f(norm(x)) is computed from more than the patched
    // residual; with norms after them, it is not.
    INFO(tensor);
    const TracePlan plan(*golden.model, golden.session,
                         {.patches = {to_patch(find(given.traces[0], tensor))}});
    const auto patched = golden.run(base, plan.request());
    for (std::size_t c = 0; c < plain.logits.shape(1); ++c) {
      CHECK(patched.logits(0, c) == given.logits(0, c));
      CHECK(patched.logits(0, c) != plain.logits(0, c));
    }
  }
}

TEST_CASE("only the chosen rows, heads and keys are replaced", "[patch]") {
  const auto subject = classifier_subject("pre_norm_mean", 0);
  const std::vector<TracedTensor> plain = subject->run();
  const std::size_t length = plain[0].shape[0];
  REQUIRE(length > 5);

  const std::string output = "encoder.layers.0.output";
  const std::vector<float> two(2 * 16, 0.5f);
  std::vector<float> expected = find(plain, output).data;
  for (const std::size_t row : {4u, 1u}) std::fill_n(&expected[row * 16], 16, 0.5f);
  Patch rows = {.name = output, .tokens = {{4, 1}}, .shape = {2, 16}, .value = two};
  for (std::size_t c = 0; c < 16; ++c) rows.value[c] = expected[4 * 16 + c] = 0.25f;
  CHECK(find(subject->run({rows}), output).data == expected);

  const std::string q = "encoder.layers.1.self_attn.q";
  expected = find(plain, q).data;
  for (std::size_t row = 0; row < length; ++row) std::fill_n(&expected[row * 16 + 8], 4, 2.0f);
  CHECK(find(subject->run({{.name = q, .heads = {{2}}, .value = {2.0f}}}), q).data == expected);

  const std::string scores = "encoder.layers.0.self_attn.scores";
  expected = find(plain, scores).data;
  expected[(3 * length + 2) * length + 5] = -infinity;
  const Patch edge = {
      .name = scores, .tokens = {{2}}, .heads = {{3}}, .keys = {{5}}, .value = {-infinity}};
  const auto cut = subject->run({edge});
  CHECK(find(cut, scores).data == expected);
  const std::vector<float>& weights = find(cut, "encoder.layers.0.self_attn.weights").data;
  CHECK(weights[(3 * length + 2) * length + 5] == 0);
  double sum = 0;
  for (std::size_t key = 0; key < length; ++key) {
    sum += static_cast<double>(weights[(3 * length + 2) * length + key]);
  }
  CHECK(std::abs(sum - 1) < 1e-6);

  // If two patches replace the same value, the later one applies.
  const auto twice = subject->run(
      {{.name = output, .value = {1.0f}}, {.name = output, .tokens = {{0}}, .value = {2.0f}}});
  CHECK(find(twice, output).data[0] == 2.0f);
  CHECK(find(twice, output).data[16] == 1.0f);
}

TEST_CASE("a flat list of values covers as many tokens, queries or keys as it has values for",
          "[patch]") {
  const auto subject = classifier_subject("pre_norm_mean", 0);
  const std::vector<TracedTensor> plain = subject->run();
  const std::size_t length = plain[0].shape[0];
  const auto check = [&](Patch patch) {
    INFO(patch.name);
    Patch flat = patch;
    flat.shape = {patch.value.size()};
    const auto got = subject->run({flat}), expected = subject->run({patch});
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i].data, expected[i].data));
    CHECK(!same_bits(got.back().data, plain.back().data));
  };
  const auto values = [](std::size_t count) {
    std::vector<float> list(count);
    for (std::size_t i = 0; i < count; ++i) list[i] = 0.01f * static_cast<float>(i % 50);
    return list;
  };
  const std::string layer = "encoder.layers.0.", q = layer + "self_attn.q",
                    scores = layer + "self_attn.scores";
  check({.name = layer + "output", .shape = {length, 16}, .value = values(length * 16)});
  check({.name = layer + "output", .tokens = {{3, 1}}, .shape = {2, 16}, .value = values(32)});
  check({.name = q, .shape = {length, 4, 4}, .value = values(length * 16)});
  check({.name = q, .heads = {{2}}, .shape = {length, 1, 4}, .value = values(length * 4)});
  check({.name = scores, .tokens = {{2, 5}}, .shape = {4, 2, length}, .value = values(8 * length)});
  check({.name = scores, .keys = {{0}}, .shape = {4, length, 1}, .value = values(4 * length)});
  check({.name = "pooled", .shape = {16}, .value = values(16)});

  const TranslationGolden golden("translate_pre_norm_shared");
  TranslatorSubject translator(golden);
  const auto shorter =
      translator.run({{.name = "decoder.output", .shape = {32}, .value = values(32)}});
  CHECK(std::ranges::equal(std::span(find(shorter, "decoder.output").data).first(32), values(32)));
}

TEST_CASE("a key that is hidden from every query's scores is a masked token", "[patch]") {
  const std::string name =
      GENERATE(as<std::string>{}, "pre_norm_unbiased_first", "post_norm_gelu_learned_first");
  Golden golden(name);
  const auto masked = golden.run(golden.batch(0, {2}));
  std::vector<Patch> patches;
  for (const char* layer : {"0", "1"}) {
    patches.push_back({.name = "encoder.layers." + std::string(layer) + ".self_attn.scores",
                       .keys = {{2}},
                       .value = {-infinity}});
  }
  const auto cut = golden.run(golden.batch(0), {.patches = patches});
  const auto plain = golden.run(golden.batch(0));
  for (std::size_t c = 0; c < plain.logits.shape(1); ++c) {
    CHECK(std::abs(cut.logits(0, c) - masked.logits(0, c)) < 1e-5f);
    CHECK(std::abs(cut.logits(0, c) - plain.logits(0, c)) > 1e-4f);
  }
}

TEST_CASE("a query that sees no key has zero weights and a zero context", "[patch]") {
  const auto check = [](PatchedModel& subject, const std::string& site) {
    const std::vector<TracedTensor> cut =
        subject.run({to_patch(number(site + ".scores", -infinity))});
    for (const char* made : {".weights", ".context"}) {
      for (const float value : find(cut, site + made).data) CHECK(value == 0.0f);
    }
    for (const float logit : cut.back().data) CHECK(!std::isnan(logit));
  };
  check(*classifier_subject("pre_norm_mean", 0), "encoder.layers.0.self_attn");
  const TranslationGolden golden("translate_pre_norm_shared");
  TranslatorSubject translator(golden);
  check(translator, "decoder.layers.1.self_attn");
  check(translator, "decoder.layers.1.encoder_attn");
}

TEST_CASE("replaced weights are used to mix the values", "[patch]") {
  // Every query reads only the first token that it may see.
  const auto check = [](PatchedModel& subject, const std::string& site) {
    const std::vector<TracedTensor> plain = subject.run();
    Patch first = to_patch(find(plain, site + ".weights"));
    const std::size_t heads = first.shape[0], queries = first.shape[1], keys = first.shape[2];
    for (std::size_t row = 0; row < heads * queries; ++row) {
      for (std::size_t key = 0; key < keys; ++key) first.value[row * keys + key] = key == 0;
    }
    const std::vector<TracedTensor> got = subject.run({first});
    CHECK(same_bits(find(got, site + ".weights").data, first.value));
    const std::vector<float>& values = find(plain, site + ".v").data;
    const std::vector<float>& context = find(got, site + ".context").data;
    const std::size_t row = context.size() / queries;
    for (std::size_t i = 0; i < context.size(); ++i) CHECK(context[i] == values[i % row]);
  };
  check(*classifier_subject("pre_norm_mean", 0), "encoder.layers.1.self_attn");
  check(*classifier_subject("linear_attention", 0), "encoder.layers.1.self_attn");
  const TranslationGolden golden("translate_post_norm_tied");
  TranslatorSubject translator(golden);
  check(translator, "decoder.layers.0.self_attn");
  check(translator, "decoder.layers.0.encoder_attn");
}

TEST_CASE("a patch cannot make masked keys visible to a query", "[patch]") {
  const auto check = [](PatchedModel& subject, const std::string& tensor) {
    const std::vector<float> plain = find(subject.run(), tensor).data;
    const float unseen = tensor.ends_with("scores") ? -infinity : 0.0f;
    const std::vector<float> got = find(subject.run({to_patch(number(tensor, 0.5f))}), tensor).data;
    std::size_t hidden = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool seen = plain[i] != unseen;
      CHECK(got[i] == (seen ? 0.5f : unseen));
      hidden += !seen;
    }
    CHECK(hidden > 0);
  };
  check(*classifier_subject("local_window", 0), "encoder.layers.1.self_attn.scores");
  check(*classifier_subject("local_window", 0), "encoder.layers.0.self_attn.weights");
  for (const char* name : {"pre_norm_mean", "linear_attention"}) {
    Golden golden(name);
    EncoderSubject masked(std::move(golden.model), golden.batch(0, {1, 4}));
    check(masked, "encoder.layers.0.self_attn.weights");
  }
  const TranslationGolden golden("translate_odd_local");
  TranslatorSubject translator(golden);
  check(translator, "decoder.layers.2.self_attn.scores");

  // A decoder whose queries see two tokens before their own.
  TranslationGolden near("translate_pre_norm_shared");
  for (LayerConfig& layer : near.config.architecture.decoder->layers) layer.attention.window = 2;
  near.model = std::make_unique<Seq2Seq>(near.config.architecture);
  load_weights(near.folder, near.model->parameters());
  TranslatorSubject windowed(near);
  check(windowed, "decoder.layers.1.self_attn.scores");
  check(windowed, "decoder.layers.0.self_attn.weights");
  const std::vector<float> weights =
      find(windowed.run(), "decoder.layers.0.self_attn.weights").data;
  const std::size_t length = near.target(0).size();
  REQUIRE(length > 4);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t query = i / length % length, key = i % length;
    CHECK((weights[i] != 0) == (key <= query && query <= key + 2));
  }
}

TEST_CASE("a patch of a decoder applies to every hypothesis, at its positions", "[patch]") {
  const TranslationGolden golden("translate_pre_norm_shared");
  const Patch patch = {.name = "decoder.layers.0.output",
                       .tokens = {{1}},
                       .shape = {1, 16},
                       .value = std::vector<float>(16, 0.125f)};
  const TraceRequest request = {.names = {"decoder.layers.0.output"}, .patches = {patch}};
  const auto encoded = golden.encode(golden.batch(0), request);
  DecodingState state = golden.begin(encoded, {.nodes = 24, .positions = 24, .rows = 6}, request);
  DecodingState plain = golden.begin(encoded, {.nodes = 24, .positions = 24, .rows = 6},
                                     {.names = {"decoder.layers.0.output"}});
  const std::vector<std::vector<Extension>> steps = {
      {{.id = 1}},
      {{.parent = 0, .id = 9}, {.parent = 0, .id = 40}},
      {{.parent = 2, .id = 7}, {.parent = 1, .id = 30}}};
  for (const auto& step : steps) {
    golden.decode(state, step);
    golden.decode(plain, step);
  }
  for (const NodeIndex node : {3u, 4u}) {
    const std::vector<float> got = state.trace(node)[0].data, before = plain.trace(node)[0].data;
    for (std::size_t c = 0; c < 16; ++c) {
      CHECK(got[c] == before[c]);
      CHECK(got[16 + c] == 0.125f);
      CHECK(got[32 + c] == before[32 + c]);  // layer 0 reads unpatched values
    }
  }
}

TEST_CASE("pipelines apply patches, and a translation's own values give the same translation",
          "[patch]") {
  const TranslationGolden golden(GENERATE(from_range(translation_golden_names())));
  INFO(golden.name);
  const auto pipeline = load_pipeline<TranslatePipeline>(golden.folder);
  TranslateOptions options = {.beams = 1, .max_length = 8};
  const std::string text = "the old film";
  for (const ModelTensor& tensor : golden.model->tensors(golden.session)) {
    options.trace.push_back(tensor.name);
  }
  const Translation plain = pipeline->translate(text, options);
  for (const TracedTensor& tensor : plain.sentences[0].trace) {
    INFO(tensor.name);
    options.patch = {to_patch(tensor)};
    const Translation patched = pipeline->translate(text, options);
    CHECK(patched.text == plain.text);
    CHECK(patched.score == plain.score);
    check_same(patched.sentences[0].trace, plain.sentences[0].trace);
  }

  // The first token follows from its logits.
  const std::int32_t id = plain.sentences[0].output.tokens[0].id;
  Patch logits = to_patch(find(plain.sentences[0].trace, "logits"));
  const std::size_t vocabulary = logits.shape[1];
  logits.shape[0] = 1;
  logits.value.resize(vocabulary);
  std::size_t other = 20;
  while (static_cast<std::int32_t>(other) == id) ++other;
  logits.value[other] = 100;
  options.patch = {logits};
  options.trace.clear();
  for (const std::size_t beams : {1u, 3u}) {
    options.beams = beams;
    const auto token = pipeline->translate(text, options).sentences[0].output.tokens[0];
    CHECK(token.id == static_cast<std::int32_t>(other));
    CHECK(token.logprob > -1e-3f);
  }
}

TEST_CASE("the texts of a call are patched separately", "[patch]") {
  const Golden golden("pre_norm_mean");
  const auto pipeline = load_pipeline<ClassifyPipeline>(golden.folder);
  const std::string first = "the plot makes no sense", second = "a great cast";
  const auto given = pipeline->classify("great cast , dreadful script",
                                        {.encoder = {.trace = {"encoder.layers.0.output"}}});
  ClassifyOptions options;
  options.encoder.patch = {{.name = "encoder.layers.0.output",
                            .tokens = {{1}},
                            .shape = {1, 16},
                            .value = {&given.trace[0].data[16], &given.trace[0].data[32]}}};
  const std::vector<TextInput> texts = {first, second};
  const auto together = pipeline->classify_batch(texts, options);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto alone = pipeline->classify(texts[i], options);
    CHECK(std::get<Classification>(together[i]).logits == alone.logits);
    CHECK(alone.logits != pipeline->classify(texts[i]).logits);
  }
  // The second text is too short for this patch.
  const std::size_t tokens = pipeline->classify(first).tokens.size();
  options.encoder.patch = {
      {.name = "encoder.layers.0.output", .tokens = {{tokens - 1}}, .value = {0.0f}}};
  const auto some = pipeline->classify_batch(texts, options);
  CHECK(std::holds_alternative<Classification>(some[0]));
  CHECK(std::get<Error>(some[1]).code() == ErrorCode::invalid_option);
}

TEST_CASE(
    "8-bit models keep every bit with their own stream and contexts, and refuse patched "
    "attention",
    "[patch]") {
  const std::string name = GENERATE(from_range(golden_names()));
  INFO(name);
  Golden golden(name);
  EncoderSubject subject(load_model(golden.folder, golden.config, Compute::int8), golden.batch(2));
  const std::vector<TracedTensor> plain = subject.run();
  for (const TracedTensor& tensor : plain) {
    INFO("patched: " << tensor.name);
    const bool inside = tensor.shape.size() == 3 && !tensor.name.ends_with("context");
    if (inside) {
      const Error error = error_of([&] { subject.run({to_patch(tensor)}); });
      CHECK(error.code() == ErrorCode::unsupported);
      CHECK_THAT(error.what(), ContainsSubstring(tensor.name + ": expected compute f32"));
    } else {
      check_same(subject.run({to_patch(tensor)}), plain);
    }
  }
}

TEST_CASE("directions are added to rows, and removed from them", "[patch]") {
  const std::string name = GENERATE("pre_norm_mean", "post_norm_gelu_learned_first");
  INFO(name);
  Golden golden(name);
  Batch batch;
  batch.add(golden.json.at("ids")[2].get<std::vector<std::int32_t>>());
  EncoderSubject encoder(std::move(golden.model), std::move(batch));
  CHECK(check_directions(encoder) > 20);
}

TEST_CASE("directions are added to a translator's rows, and removed from them", "[patch]") {
  const TranslationGolden translation("translate_pre_norm_shared");
  TranslatorSubject translator(translation);
  CHECK(check_directions(translator) > 40);
}

TEST_CASE("a direction is added to chosen rows and heads only", "[patch]") {
  Golden golden("pre_norm_mean");
  Batch batch;
  batch.add(golden.json.at("ids")[2].get<std::vector<std::int32_t>>());
  EncoderSubject subject(std::move(golden.model), std::move(batch));
  const std::vector<TracedTensor> plain = subject.run();
  const std::string stream = "encoder.layers.1.input",
                    context = "encoder.layers.0.self_attn.context";
  const auto changed_rows = [&](Patch patch) {
    const TracedTensor &before = find(plain, patch.name),
                       after = find(subject.run({patch}), patch.name);
    const std::size_t rows = before.shape[0], size = before.data.size() / rows;
    std::vector<std::size_t> changed;
    for (std::size_t i = 0; i < before.data.size(); ++i) {
      const bool new_row = changed.empty() || changed.back() != i / size;
      if (before.data[i] != after.data[i] && new_row) changed.push_back(i / size);
    }
    return changed;
  };
  Patch patch = {.name = stream, .kind = PatchKind::add, .shape = {16}, .value = direction_of(16)};
  patch.tokens = {{1, 3}};
  CHECK(changed_rows(patch) == std::vector<std::size_t>{1, 3});
  patch.from = 2;
  CHECK(changed_rows(patch) == std::vector<std::size_t>{3});
  patch.tokens.reset();
  CHECK(changed_rows(patch).front() == 2);
  patch.scale = 0;
  CHECK(changed_rows(patch).empty());

  // One head of four: 4 numbers of each row.
  const Patch of_head = {
      .name = context, .heads = {{2}}, .kind = PatchKind::add, .shape = {4}, .value = {1, 1, 1, 1}};
  const TracedTensor &before = find(plain, context), after = find(subject.run({of_head}), context);
  std::vector<float> expected = before.data;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (i / 4 % 4 == 2) expected[i] += 1;
  }
  CHECK(after.data == expected);
}

TEST_CASE("patches that do not fit are refused by name", "[patch]") {
  const auto pipeline = load_pipeline<ClassifyPipeline>(Golden("pre_norm_mean").folder);
  const std::string text = "the plot makes no sense";
  const std::size_t tokens = pipeline->classify(text).tokens.size();
  const auto refused = [&](std::vector<Patch> patches, const std::string& message) {
    ClassifyOptions options;
    options.encoder.patch = std::move(patches);
    const Error error = error_of([&] { pipeline->classify(text, options); });
    CHECK(error.code() == ErrorCode::invalid_option);
    CHECK_THAT(error.what(), ContainsSubstring(message));
  };
  const std::string output = "encoder.layers.0.output", q = "encoder.layers.0.self_attn.q",
                    scores = "encoder.layers.0.self_attn.scores";
  const std::string n = std::to_string(tokens);
  refused({{.name = "encoder.layers.*.output", .value = {0}}},
          "patch[0].name: expected tensors of this model, got \"encoder.layers.*.output\"; it has");
  refused({{.name = output, .value = {0}}, {.name = "encoder.layers.2.output", .value = {0}}},
          "patch[1].name: expected tensors of this model");
  refused(
      {{.name = output, .shape = {tokens, 15}, .value = std::vector<float>(15 * tokens)}},
      "patch[0].value: expected the shape [" + n + ", 16] for " + output + ", got [" + n + ", 15]");
  refused({{.name = output, .shape = {1, 16}, .value = std::vector<float>(16)}},
          "expected the shape [" + n + ", 16]");
  refused({{.name = output, .shape = {16}, .value = std::vector<float>(16)}}, "got [1, 16]");
  refused({{.name = output, .shape = {17}, .value = std::vector<float>(17)}}, "got [17]");
  refused({{.name = "pooled", .shape = {32}, .value = std::vector<float>(32)}},
          "expected the shape [16] for pooled, got [32]");
  refused({{.name = output, .tokens = {{1}}, .shape = {32}, .value = std::vector<float>(32)}},
          "expected the shape [1, 16] for " + output + ", got [32]");
  refused({{.name = scores,
            .shape = {4 * tokens * tokens},
            .value = std::vector<float>(4 * tokens * tokens)}},
          "expected the shape [4, " + n + ", " + n + "]");
  refused({{.name = output, .tokens = {{0, 1}}, .shape = {1, 16}, .value = std::vector<float>(16)}},
          "expected the shape [2, 16]");
  refused({{.name = q,
            .heads = {{1}},
            .shape = {tokens, 4, 4},
            .value = std::vector<float>(16 * tokens)}},
          "expected the shape [" + n + ", 1, 4]");
  refused({{.name = scores,
            .keys = {{0}},
            .shape = {4, tokens, 2},
            .value = std::vector<float>(8 * tokens)}},
          "expected the shape [4, " + n + ", 1]");
  refused({{.name = output, .shape = {2, 16}, .value = {1.0f}}},
          "patch[0].value: expected 32 numbers, got 1");
  refused({{.name = output}}, "patch[0].value: expected 1 numbers, got 0");
  refused({{.name = output, .tokens = {{tokens}}, .value = {0}}},
          "patch[0].tokens: expected numbers below " + n + ", got " + n);
  refused({{.name = q, .heads = {{4}}, .value = {0}}},
          "patch[0].heads: expected numbers below 4, got 4");
  refused({{.name = scores, .keys = {{99}}, .value = {0}}},
          "patch[0].keys: expected numbers below " + n + ", got 99");
  refused({{.name = output, .heads = {{0}}, .value = {0}}}, "patch[0]: expected no heads");
  refused({{.name = q, .keys = {{0}}, .value = {0}}}, "patch[0]: expected no keys");
  refused({{.name = "pooled", .tokens = {{0}}, .value = {0}}}, "patch[0]: expected no tokens");
  refused({{.name = q, .value = {-infinity}}}, "patch[0].value: expected finite numbers, got");
  refused({{.name = scores, .value = {infinity}}}, "expected finite numbers or -infinity, got");
  refused({{.name = scores, .value = {std::nanf("")}}}, "expected finite numbers or -infinity");
  refused({{.name = output, .value = {0}}, {.name = "encoder.layers.1.input", .value = {0}}},
          "patch[1].name: expected encoder.layers.0.output again or another tensor, got "
          "encoder.layers.1.input, a second name of the same tensor");

  const auto direction = [](const std::string& name, std::size_t size, PatchKind kind) {
    return Patch{.name = name, .kind = kind, .shape = {size}, .value = std::vector<float>(size)};
  };
  refused({direction("encoder.layers.1.input", 15, PatchKind::add)},
          "patch[0].add: expected the 16 numbers of a row, got 15");
  refused({direction("encoder.layers.1.input", 16, PatchKind::remove)},
          "patch[0].remove: expected a direction, got zeros");
  refused({direction("encoder.layers.0.self_attn.scores", 16, PatchKind::add)},
          "patch[0].add: expected a tensor with vectors, got encoder.layers.0.self_attn.scores");

  const TranslationGolden golden("translate_pre_norm_shared");
  const auto translator = load_pipeline<TranslatePipeline>(golden.folder);
  TranslateOptions options = {.beams = 1, .max_length = 6};
  const auto refused_here = [&](const Patch& patch, const std::string& message) {
    options.patch = {patch};
    const Error error = error_of([&] { translator->translate("a film", options); });
    CHECK(error.code() == ErrorCode::invalid_option);
    CHECK_THAT(error.what(), ContainsSubstring(message));
  };
  refused_here({.name = "decoder.output", .shape = {7, 16}, .value = std::vector<float>(7 * 16)},
               "expected the shape [up to 6, 16] for decoder.output, got [7, 16]");
  refused_here({.name = "decoder.layers.0.encoder_attn.k", .tokens = {{30}}, .value = {0}},
               "patch[0].tokens: expected numbers below ");
  refused_here({.name = "pooled", .value = {0}}, "it has encoder.embed_tokens");
}

TEST_CASE("patches are read from JSON and a separate array of values", "[patch]") {
  const std::vector<float> numbers = {1, 2, 3, 4, 5, 6, -infinity};
  const ClassifyOptions options = read_options<ClassifyOptions>(
      {R"({"patch": [{"name": "a.b", "tokens": [2, 0], "value": {"shape": [2, 2], "offset": 1}},
           {"name": "c", "heads": [1], "keys": [], "value": {"shape": [], "offset": 6}}]})",
       numbers});
  REQUIRE(options.encoder.patch.size() == 2);
  const Patch &first = options.encoder.patch[0], &second = options.encoder.patch[1];
  CHECK(first.name == "a.b");
  CHECK(first.tokens == std::vector<std::size_t>{2, 0});
  CHECK(!first.heads);
  CHECK(first.shape == std::vector<std::size_t>{2, 2});
  CHECK(first.value == std::vector<float>{2, 3, 4, 5});
  CHECK(second.heads == std::vector<std::size_t>{1});
  CHECK(second.keys == std::vector<std::size_t>{});
  CHECK(second.value == std::vector<float>{-infinity});

  const auto refused = [&](const std::string& patch, const std::string& message) {
    const Error error = error_of([&] {
      read_options<TranslateOptions>({R"({"patch": [)" + patch + "]}", numbers});
    });
    CHECK(error.code() == ErrorCode::invalid_option);
    CHECK_THAT(error.what(), ContainsSubstring(message));
  };
  refused("3", "patch[0]");
  refused("{}", "patch[0]: name: missing");
  refused(R"({"name": "a"})", "patch[0]: value: missing");
  refused(R"({"name": "a", "value": 3})", "patch[0].value: expected an object");
  refused(R"({"name": "a", "value": {"shape": []}})", "patch[0].value: offset: missing");
  refused(R"({"name": "a", "value": {"shape": [8], "offset": 0}})",
          "patch[0].value: expected a range of the given numbers");
  refused(R"({"name": "a", "value": {"shape": [], "offset": 7}})",
          "patch[0].value: expected a range of the given numbers");
  refused(R"({"name": "a", "value": {"shape": [4294967295, 4294967295, 4294967295], "offset": 1}})",
          "patch[0].value: expected a range of the given numbers");
  refused(R"({"name": "a", "add": 3})", "patch[0].add: expected an object");
  refused(
      R"({"name": "a", "add": {"shape": [], "offset": 0}, "value": {"shape": [], "offset": 0}})",
      "patch[0]: \"value\": unknown field");
  refused(R"({"name": "a", "scale": 2, "value": {"shape": [], "offset": 0}})",
          "patch[0]: \"scale\": unknown field");
  refused(R"({"name": "a", "rows": [1], "value": {"shape": [], "offset": 0}})",
          "patch[0]: \"rows\": unknown field");
  refused(R"({"name": "a", "tokens": [-1], "value": {"shape": [], "offset": 0}})",
          "patch[0]: tokens: expected whole numbers");
}

}  // namespace glassformer::test
