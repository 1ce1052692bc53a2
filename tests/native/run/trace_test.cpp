// The intermediate tensors of a model, and requesting them through the pipelines.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <map>
#include <numeric>

#include "run/trace/trace_plan.hpp"
#include "support/checkpoint_golden.hpp"
#include "support/error_of.hpp"
#include "support/golden.hpp"
#include "tasks/classify/classify.hpp"
#include "tasks/limits.hpp"
#include "tasks/load.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer::test {
namespace {

using Catch::Matchers::ContainsSubstring;

template <class Model>
std::vector<std::string> everything(const Model& model, Session& session) {
  std::vector<std::string> names;
  for (const ModelTensor& tensor : model.tensors(session)) names.push_back(tensor.name);
  return names;
}

bool are_different(std::vector<std::string> names) {
  std::ranges::sort(names);
  return !names.empty() && std::ranges::adjacent_find(names) == names.end();
}

using Tensors = std::map<std::string, TracedTensor>;

Tensors by_name(const std::vector<TracedTensor>& list) {
  Tensors tensors;
  for (const TracedTensor& tensor : list) {
    INFO(tensor.name);
    CHECK(tensors.emplace(tensor.name, tensor).second);
  }
  return tensors;
}

// Checks that a run traced exactly the tensors that the model has.
template <class Model>
void check_all_shown(const Model& model, Session& session, const TextLengths& lengths,
                     const std::vector<TracedTensor>& shown) {
  const Tensors tensors = by_name(shown);
  const std::vector<ModelTensor> expected = model.tensors(session);
  CHECK(tensors.size() == expected.size());
  std::uint64_t numbers = 0;
  for (const ModelTensor& tensor : expected) {
    INFO(tensor.name);
    REQUIRE(tensors.contains(tensor.name));
    CHECK(tensors.at(tensor.name).shape == tensor.shape(lengths));
    numbers += tensors.at(tensor.name).data.size();
    for (const ModelTensor& other : expected) {
      if (other.id != tensor.id) continue;
      CHECK(tensors.at(tensor.name).data == tensors.at(other.name).data);
    }
  }
  const TracePlan plan(model, session, {.names = everything(model, session)});
  CHECK(plan.numbers(lengths) == numbers);
}

template <class Map>
std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& entry : map) keys.push_back(entry.first);
  return keys;
}

// Checks that a run traced exactly PyTorch's tensors, with their values.
void check_against_pytorch(const GoldenTrace& golden, const std::vector<TracedTensor>& shown) {
  const Tensors tensors = by_name(shown);
  CHECK(keys_of(tensors) == keys_of(golden.tensors));
  for (const auto& [name, expected] : golden.tensors) {
    INFO(name);
    REQUIRE(tensors.contains(name));
    CHECK(tensors.at(name).shape == expected.shape);
    double largest = 0;
    for (const float value : expected.values) {
      if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
    CHECK(distance(tensors.at(name).data, expected.values) <= 1e-5 * largest);
  }
}

std::vector<Extension> chain(const std::vector<std::int32_t>& ids) {
  std::vector<Extension> extensions;
  for (const std::int32_t id : ids) {
    const bool first = extensions.empty();
    const auto parent = first ? no_parent : static_cast<NodeIndex>(extensions.size() - 1);
    extensions.push_back({.parent = parent, .source = 0, .id = id});
  }
  return extensions;
}

// Returns every tensor that a translator can trace for a source and a target, which begins with the
// start token.
std::vector<TracedTensor> forced(const TranslationGolden& golden, const Batch& source,
                                 const std::vector<std::int32_t>& target) {
  const TraceRequest request = {.names = anything};
  auto encoded = golden.encode(source, request);
  DecodingState state = golden.begin(encoded, {.nodes = 24, .positions = 24, .rows = 24}, request);
  golden.model->project(const_view(golden.decode(state, chain(target))), state);
  std::vector<TracedTensor> shown = std::move(encoded.traces[0]);
  std::ranges::move(state.trace(static_cast<NodeIndex>(target.size() - 1)),
                    std::back_inserter(shown));
  return shown;
}

}  // namespace

TEST_CASE("a run traces exactly the tensors that its model lists", "[trace]") {
  SECTION("classifiers") {
    const Golden golden(GENERATE(from_range(golden_names())));
    INFO(golden.name);
    const Batch batch = golden.batch();
    const auto output = golden.run(batch, {.names = anything});
    for (std::size_t s = 0; s < batch.size(); ++s) {
      check_all_shown(*golden.model, golden.session, {.source = batch.length(s)}, output.traces[s]);
    }
  }
  SECTION("published checkpoints") {
    const std::string name = GENERATE(from_range(checkpoint_names()));
    INFO(name);
    const OpenFolder opened(checkpoints / name);
    EncoderModel model(opened.config.architecture);
    opened.load(model.parameters());
    Session session;
    Batch batch;
    batch.add(std::vector<std::int32_t>{3, 7, 9, 4});
    const auto output = model(batch, {.names = anything}, session);
    check_all_shown(model, session, {.source = 4}, output.traces[0]);
  }
  SECTION("translators") {
    const TranslationGolden golden(GENERATE(from_range(translation_golden_names())));
    INFO(golden.name);
    const Batch source = golden.batch(2);
    const std::vector<std::int32_t> target = golden.target(2);
    check_all_shown(*golden.model, golden.session,
                    {.source = source.length(0), .target = target.size()},
                    forced(golden, source, target));
  }
}

TEST_CASE("a model lists each of its tensors once, in the order of a run", "[trace]") {
  SECTION("classifiers") {
    const Golden golden(GENERATE(from_range(golden_names())));
    INFO(golden.name);
    CHECK(are_different(everything(*golden.model, golden.session)));
  }
  SECTION("translators") {
    const TranslationGolden golden(GENERATE(from_range(translation_golden_names())));
    INFO(golden.name);
    CHECK(are_different(everything(*golden.model, golden.session)));
  }
  SECTION("by name") {
    std::vector<std::string> expected = {"encoder.embed_tokens", "encoder.embed_positions",
                                         "encoder.embeddings"};
    for (const std::string layer : {"encoder.layers.0.", "encoder.layers.1."}) {
      for (const char* name :
           {"input", "self_attn_layer_norm", "self_attn.q", "self_attn.k", "self_attn.v",
            "self_attn.scores", "self_attn.weights", "self_attn.context", "self_attn.output",
            "self_attn.residual", "final_layer_norm", "fc1", "fc2", "output"}) {
        expected.push_back(layer + name);
      }
    }
    for (const char* name : {"encoder.layer_norm", "encoder.output", "pooled", "logits"}) {
      expected.push_back(name);
    }
    const Golden golden("pre_norm_mean");
    CHECK(everything(*golden.model, golden.session) == expected);
  }
}

TEST_CASE("every traced tensor of a golden model matches PyTorch", "[trace]") {
  SECTION("classifiers") {
    const Golden golden(GENERATE(from_range(golden_names())));
    INFO(golden.name);
    const GoldenTrace expected = golden.traced();
    const auto output = golden.run(golden.batch(expected.text), {.names = anything});
    check_against_pytorch(expected, output.traces[0]);
  }
  SECTION("translators") {
    const TranslationGolden golden(GENERATE(from_range(translation_golden_names())));
    INFO(golden.name);
    const GoldenTrace expected = golden.traced();
    std::vector<std::int32_t> target = golden.target(expected.text);
    target.resize(expected.tensors.at("decoder.embeddings").shape[0]);
    check_against_pytorch(expected, forced(golden, golden.batch(expected.text), target));
  }
}

TEST_CASE("only the requested layers keep their attention weights", "[trace]") {
  const Golden golden("pre_norm_mean");
  const auto output = golden.run(golden.batch(0), {.names = {"encoder.layers.1.self_attn.scores"}});
  REQUIRE(output.traces[0].size() == 1);
  CHECK(output.traces[0][0].name == "encoder.layers.1.self_attn.scores");
  CHECK(output.attention.empty());
}

TEST_CASE("unknown names are refused with a list of the model's names", "[trace]") {
  const auto pipeline = load_pipeline<ClassifyPipeline>(Golden("pre_norm_mean").folder);
  const auto refused = [&](const std::string& name) {
    const Error error = error_of([&] {
      pipeline->classify("a film", {.encoder = {.trace = {"logits", name}}});
    });
    CHECK(error.code() == ErrorCode::invalid_option);
    CHECK_THAT(error.what(),
               ContainsSubstring("trace: expected tensors of this model, got \"" + name + "\""));
    CHECK_THAT(error.what(),
               ContainsSubstring("it has encoder.embed_tokens, encoder.embed_positions, "
                                 "encoder.embeddings, encoder.layers.0-1.input, ") &&
                   ContainsSubstring(", encoder.layer_norm, encoder.output, pooled, logits"));
  };
  refused("encoder.layers.2.output");
  refused("encoder.layers.*.encoder_attn.q");
  refused("decoder.output");
  refused("head.dense");
  refused("encoder.*.output");  // a star ends at a dot
  refused("Logits");

  const auto linear = load_pipeline<ClassifyPipeline>(Golden("linear_attention").folder);
  CHECK(linear->classify("a film", {.encoder = {.trace = {"encoder.layers.*.self_attn.weights"}}})
            .trace.size() == 2);
  CHECK_THAT(error_of([&] {
               linear->classify("a film",
                                {.encoder = {.trace = {"encoder.layers.*.self_attn.scores"}}});
             }).what(),
             !ContainsSubstring("-1.self_attn.scores"));

  const auto translator =
      load_pipeline<TranslatePipeline>(TranslationGolden("translate_odd_local").folder);
  const Error error = error_of([&] { translator->translate("a", {.trace = {"pooled"}}); });
  CHECK(error.code() == ErrorCode::invalid_option);
  CHECK_THAT(error.what(), ContainsSubstring("encoder.layers.0.input") &&
                               ContainsSubstring("decoder.layers.0-2.encoder_attn.scores"));
}

TEST_CASE("a translation traces the same tensors as its own tokens when forced", "[trace]") {
  const TranslationGolden golden(GENERATE(from_range(translation_golden_names())));
  INFO(golden.name);
  const auto pipeline = load_pipeline<TranslatePipeline>(golden.folder);
  const std::size_t beams = GENERATE(1u, 3u);
  const bool attention = GENERATE(false, true), stream = GENERATE(false, true);
  TranslateOptions options = {.beams = beams, .max_length = 7, .attention = attention};
  options.stream = stream;
  const std::string text = "the old film. a quiet heart.";
  const Translation plain = pipeline->translate(text, options);
  CHECK(plain.sentences[0].trace.empty());
  options.trace = everything(*golden.model, golden.session);
  const Translation shown = pipeline->translate(text, options);
  CHECK(shown.text == plain.text);
  CHECK(shown.score == plain.score);
  REQUIRE(shown.sentences.size() == 2);
  for (const SentenceTranslation& sentence : shown.sentences) {
    std::vector<std::int32_t> source, target = {golden.target(0)[0]};
    for (const InputToken& token : sentence.source_tokens) source.push_back(token.id);
    for (const OutputToken& token : sentence.output.tokens) target.push_back(token.id);
    target.pop_back();
    check_all_shown(*golden.model, golden.session,
                    {.source = source.size(), .target = target.size()}, sentence.trace);

    Batch batch;
    batch.add(source);
    const Tensors got = by_name(sentence.trace);
    for (const TracedTensor& tensor : forced(golden, batch, target)) {
      INFO(tensor.name);
      CHECK(got.at(tensor.name).data == tensor.data);  // bit for bit
    }
    CHECK(sentence.cross.has_value() == attention);
    if (attention) {
      const auto weights = sentence.cross->at(1 % sentence.cross->layers, 0);
      const std::string layer = std::to_string(1 % sentence.cross->layers);
      const TracedTensor& traced = got.at("decoder.layers." + layer + ".encoder_attn.weights");
      CHECK(std::equal(weights.begin(), weights.end(), traced.data.begin()));
    }
  }
}

TEST_CASE("a trace too large for memory is refused before the run", "[trace]") {
  const auto pipeline = load_pipeline<ClassifyPipeline>(Golden("pre_norm_mean").folder);
  ModelConfig config = pipeline->config();
  config.architecture.encoder->max_length = 16'384;
  ClassifyPipeline wide(config, load_tokenizer(Golden("pre_norm_mean").folder));
  load_weights(Golden("pre_norm_mean").folder, wide.parameters());
  std::string text;
  for (int i = 0; i < 6000; ++i) text += "a ";
  const ClassifyOptions scores = {.encoder = {.trace = {"encoder.layers.0.self_attn.scores"}}};
  const std::size_t tokens = wide.classify(text).tokens.size();
  REQUIRE(tokens >= 6000);
  const Error error = error_of([&] { wide.classify(text, scores); });
  CHECK(error.code() == ErrorCode::too_large);
  const std::uint64_t bytes = 4 * tokens * tokens * sizeof(float);  // 4 heads
  CHECK_THAT(error.what(), ContainsSubstring("the requested tensors may take " + mebibytes(bytes) +
                                             ", expected at most 512 MiB in one call"));
  CHECK(
      wide.classify(text, {.encoder = {.trace = {"encoder.layers.0.self_attn.q"}}}).trace.size() ==
      1);
  CHECK(wide.classify("a film", scores).trace.size() == 1);

  const TranslationGolden golden("translate_pre_norm_shared");
  ModelConfig long_winded = golden.config;
  long_winded.architecture.decoder->max_length = 20'000;
  TranslatePipeline translator(long_winded, load_tokenizer(golden.folder));
  load_weights(golden.folder, translator.parameters());
  TranslateOptions options = {.beams = 1, .max_length = 20'000};
  options.trace = {"decoder.layers.0.self_attn.weights"};
  CHECK(error_of([&] { translator.translate("a", options); }).code() == ErrorCode::too_large);
  options.max_length = 20;
  CHECK(translator.translate("a", options).sentences[0].trace.size() == 1);
}

}  // namespace glassformer::test
