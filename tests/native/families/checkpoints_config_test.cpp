#include "families/config/model_config.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "families/family.hpp"
#include "support/io_fixture.hpp"

namespace glassformer {
namespace {

const char* const valid = R"({
  "format": 1,
  "model_type": "encoder_classifier",
  "task": "text-classification",
  "labels": ["negative", "positive"],
  "vocab_size": 8000,
  "d_model": 128, "d_ff": 512, "n_heads": 8, "encoder_layers": 4,
  "max_source_length": 512,
  "positions": "sinusoidal",
  "scale_embedding": true,
  "norm": "pre",
  "layer_norm": "standard",
  "layer_norm_eps": 1e-5,
  "final_norm": true,
  "attention": "full",
  "attention_bias": true,
  "activation": "relu",
  "pooling": "mean",
  "clip": "end",
  "prefix_tokens": [],
  "suffix_tokens": ["</s>"]
})";

// Returns the valid configuration with one field replaced.
std::string with(const char* key, const nlohmann::json& value) {
  nlohmann::json json = nlohmann::json::parse(valid);
  json[key] = value;
  return json.dump();
}

void check_refused(const std::string& json, std::string_view message,
                   ErrorCode code = ErrorCode::invalid_config) {
  INFO(json);
  test::check_error(code, message, [&] { parse_config(json); });
}

TEST_CASE("a configuration survives writing and reading", "[checkpoints]") {
  const ModelConfig config = parse_config(valid);
  CHECK(config.labels == std::vector<std::string>{"negative", "positive"});
  const StackConfig& stack = config.encoder();
  CHECK(stack.vocab_size() == 8000);
  CHECK(stack.d_model == 128);
  CHECK(stack.layers[0].feed_forward.d_ff == 512);
  CHECK(stack.n_heads() == 8);
  CHECK(stack.layers[0].attention.d_head == 16);
  CHECK(stack.layers.size() == 4);
  CHECK(stack.max_length == 512);
  CHECK(stack.tokens().positions == PositionKind::sinusoidal);
  CHECK(stack.tokens().scale_embedding);
  CHECK(stack.layers[0].norm == NormPlacement::pre);
  CHECK(stack.layer_norm.kind == NormKind::standard);
  CHECK(stack.layer_norm.eps == 1e-5f);
  CHECK(stack.final_norm);
  CHECK(stack.layers[0].mixer == Mixer::full);
  CHECK(stack.layers[0].attention.bias);
  CHECK(stack.layers[0].feed_forward.activation == Activation::relu);
  CHECK(config.architecture.head.kind == HeadKind::sequence_classes);
  CHECK(config.architecture.head.outputs == 2);
  CHECK(config.architecture.head.pooling == Pooling::mean);
  CHECK(config.prefix_tokens.empty());
  CHECK(config.suffix_tokens == std::vector<std::string>{"</s>"});
  CHECK(parse_config(to_json(config)) == config);
  CHECK(to_json(config).find("\"layer_norm_eps\": 1e-05") != std::string::npos);

  ModelConfig other = config;
  StackConfig& changed = *other.architecture.encoder;
  changed.tokens().positions = PositionKind::learned;
  changed.layer_norm.kind = NormKind::unbiased;
  changed.layer_norm.eps = 1e-6f;
  for (LayerConfig& layer : changed.layers) {
    layer.norm = NormPlacement::post;
    layer.mixer = Mixer::local;
    layer.attention.window = 32;
    layer.feed_forward.activation = Activation::gelu;
  }
  other.architecture.head.pooling = Pooling::first;
  other.labels = {"very bad", "bad", "neutral", "good", "very good"};
  other.architecture.head.outputs = 5;
  CHECK(parse_config(to_json(other)) == other);
  for (LayerConfig& layer : changed.layers) {
    layer.mixer = Mixer::linear;
    layer.attention.window = 0;
  }
  CHECK(parse_config(to_json(other)) == other);
}

TEST_CASE("fields of rare features are written only for models that use them", "[checkpoints]") {
  const ModelConfig plain = parse_config(valid);
  for (const char* field :
       {"d_head", "position_offset", "token_types", "embedding_norm", "score_divisor", "gated",
        "feed_forward_bias", "head_dense", "head_bias"}) {
    CHECK(to_json(plain).find(field) == std::string::npos);
  }
  ModelConfig rich = plain;
  StackConfig& stack = *rich.architecture.encoder;
  stack.tokens().positions = PositionKind::learned;
  stack.tokens().position_offset = 2;
  stack.tokens().padding = 1;
  stack.tokens().token_types = 2;
  stack.tokens().norm = true;
  stack.layer_norm.kind = NormKind::rms;
  for (LayerConfig& layer : stack.layers) {
    layer.attention.d_head = 24;
    layer.attention.score_divisor = 1.0f;
    layer.feed_forward = {
        .d_ff = 512, .activation = Activation::gelu_tanh, .gated = true, .bias = false};
  }
  rich.architecture.head.dense.emplace();
  rich.architecture.head.bias = false;
  CHECK(parse_config(to_json(rich)) == rich);
  for (LayerConfig& layer : stack.layers) {
    layer.norm = NormPlacement::pre;
    layer.output_norms = true;
    layer.attention.rotary = {.base = 500,
                              .size = 4,
                              .scaling = RotaryScaling::per_pair,
                              .factors = {1.5f, 2},
                              .amplitude = 1.25f};
  }
  stack.tokens().d_embedding = 10;
  stack.layer_groups = 1;
  stack.relative = {.buckets = 32, .distance = 128};
  CHECK(parse_config(to_json(rich)) == rich);
  stack.layers[0].attention.rotary->factors = {1, 3};
  stack.layer_groups = 0;
  CHECK(parse_config(to_json(rich)) == rich);
  for (LayerConfig& layer : stack.layers) {
    layer.output_norms = false;
    layer.parallel = true;
  }
  CHECK(parse_config(to_json(rich)) == rich);
  check_refused(with("layer_groups", 40), "layer_groups: expected at most ");
  check_refused(with("score_cap", 2), "score_cap: expected it only with \"attention\": \"causal\"");
  check_refused(with("gated", 1), "gated: expected true or false");
  check_refused(with("d_head", 0), "d_head: expected a whole number from 1");
  check_refused(with("score_divisor", 0), "score_divisor: expected a number above 0");
  check_refused(with("head_dense", "softmax"), "head_dense: expected one of \"relu\"");
  check_refused(with("position_offset", 1),
                "position_offset: only with \"positions\": \"learned\" or "
                "\"sinusoidal_endpoint\", got 1");
}

const char* const valid_translation = R"({
  "format": 1,
  "model_type": "encoder_decoder",
  "task": "translation",
  "source_language": "en", "target_language": "de",
  "source_vocab_size": 12000, "target_vocab_size": 9000, "embeddings": "tied",
  "d_model": 256, "d_ff": 1024, "n_heads": 8, "encoder_layers": 6, "decoder_layers": 2,
  "max_source_length": 256, "max_target_length": 200,
  "positions": "sinusoidal",
  "scale_embedding": true,
  "norm": "pre",
  "layer_norm": "standard",
  "layer_norm_eps": 1e-05,
  "final_norm": true,
  "attention": "full",
  "attention_bias": true,
  "activation": "relu",
  "lm_head_bias": true,
  "prefix_tokens": [],
  "suffix_tokens": ["</s>"],
  "start_token": "<s>",
  "end_token": "</s>"
})";

std::string translation_with(const char* key, const nlohmann::json& value) {
  nlohmann::json json = nlohmann::json::parse(valid_translation);
  json[key] = value;
  return json.dump();
}

TEST_CASE("a translation model's configuration survives writing and reading", "[checkpoints]") {
  const ModelConfig config = parse_config(valid_translation);
  CHECK(config.task == Task::translation);
  CHECK(config.source_language == "en");
  CHECK(config.target_language == "de");
  CHECK(config.encoder().vocab_size() == 12000);
  CHECK(config.decoder().vocab_size() == 9000);
  CHECK(config.architecture.embeddings == EmbeddingSharing::tied);
  CHECK(config.encoder().layers.size() == 6);
  CHECK(config.decoder().layers.size() == 2);
  CHECK(config.encoder().max_length == 256);
  CHECK(config.decoder().max_length == 200);
  CHECK(config.decoder().layers[0].mixer == Mixer::causal);
  CHECK(config.architecture.head.kind == HeadKind::next_token);
  CHECK(config.architecture.head.outputs == 9000);
  CHECK(config.architecture.head.bias);
  CHECK(config.start_token == "<s>");
  CHECK(config.end_token == "</s>");
  CHECK(config.labels.empty());
  CHECK(parse_config(to_json(config)) == config);

  ModelConfig other = config;
  other.architecture.embeddings = EmbeddingSharing::separate;
  other.architecture.head.bias = false;
  for (LayerConfig& layer : other.architecture.encoder->layers) {
    layer.mixer = Mixer::local;
    layer.attention.window = 8;
  }
  CHECK(parse_config(to_json(other)) == other);
}

TEST_CASE("a decoder may have a recurrent unit and start from zeros", "[checkpoints]") {
  ModelConfig config = parse_config(translation_with("decoder_attention", "recurrent"));
  CHECK(config.encoder().layers[0].mixer == Mixer::full);
  CHECK(config.decoder().layers[0].mixer == Mixer::recurrent);
  config.architecture.decoder->tokens().zero_start = true;
  config.generation.max_length_factor = 2.0f;
  CHECK(parse_config(to_json(config)) == config);
  CHECK(parse_config(translation_with("decoder_attention", "causal")) ==
        parse_config(valid_translation));
  check_refused(translation_with("decoder_attention", "local"),
                "decoder_attention: expected \"causal\" or \"recurrent\", got \"local\"");
  check_refused(translation_with("attention", "recurrent"),
                "attention: expected a kind of attention");
  check_refused(with("decoder_attention", "recurrent"), "\"decoder_attention\": unknown field");
}

TEST_CASE("a translation model's configuration is checked like a classifier's", "[checkpoints]") {
  const nlohmann::json whole = nlohmann::json::parse(valid_translation);
  for (const auto& [key, value] : whole.items()) {
    nlohmann::json without = whole;
    without.erase(key);
    check_refused(without.dump(), "config.json: " + key + ": missing");
    check_refused(translation_with(key.c_str(), nullptr), "config.json: " + key + ": expected");
  }
  for (const char* foreign : {"labels", "vocab_size", "pooling"}) {
    check_refused(translation_with(foreign, 1), std::string(foreign) + "\": unknown field");
  }
  check_refused(with("start_token", "<s>"), "\"start_token\": unknown field");
  check_refused(
      translation_with("embeddings", "one"),
      "embeddings: expected one of \"shared\", \"tied\", \"separate\", \"stacks\", got \"one\"");
  check_refused(translation_with("embeddings", "shared"),
                "target_vocab_size: expected source_vocab_size 12000 with");
  check_refused(translation_with("start_token", ""), "start_token: expected a nonempty string");
  check_refused(translation_with("decoder_layers", 0), "decoder_layers: expected a whole number");
  check_refused(translation_with("target_vocab_size", 1 << 21),
                "target_vocab_size: expected at most 268435456 elements in a matrix");
  test::check_error(ErrorCode::wrong_task, "task: expected \"text-classification\", got", [] {
    expect_task(parse_config(valid_translation), std::array{Task::text_classification});
  });
}

TEST_CASE("a field that differs between layers is an array with one value per layer",
          "[checkpoints]") {
  nlohmann::json json = nlohmann::json::parse(valid);
  json["encoder_layers"] = 2;
  json["d_ff"] = {8, 16};
  json["attention"] = {"full", "local"};
  json["attention_window"] = {nullptr, 4};
  json["norm"] = {"post", "post"};
  const ModelConfig config = parse_config(json.dump());
  const std::vector<LayerConfig>& layers = config.encoder().layers;
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].feed_forward.d_ff == 8);
  CHECK(layers[1].feed_forward.d_ff == 16);
  CHECK(layers[0].mixer == Mixer::full);
  CHECK(layers[1].mixer == Mixer::local);
  CHECK(layers[0].attention.window == 0);
  CHECK(layers[1].attention.window == 4);
  CHECK(layers[0].norm == NormPlacement::post);
  CHECK(parse_config(to_json(config)) == config);
  json["norm"] = "post";  // written as one value
  CHECK(nlohmann::json::parse(to_json(config)) == json);

  const auto refused = [&](const char* key, const nlohmann::json& value,
                           const std::string& message) {
    nlohmann::json changed = json;
    changed[key] = value;
    check_refused(changed.dump(), std::string("config.json: ") + key + ": " + message);
  };
  const std::string expected = "expected one value, or 2, one for each layer, got [";
  refused("d_ff", {8}, expected + "8]");
  refused("d_ff", {8, 16, 32}, expected + "8,16,32]");
  refused("attention", nlohmann::json::array(), expected + "]");
  refused("attention_window", {nullptr, 4, 4}, expected);
  refused("attention_window", {nullptr, nullptr}, "missing");
  refused("attention_window", {4, 4}, "only with \"attention\": \"local\" or \"causal\", got 4");
  refused("attention", {"full", "wide"}, "expected one of \"full\", \"local\"");
  refused("d_ff", {8, 0}, "expected a whole number from 1");
  refused("n_heads", {4, 8}, "expected 4 in every layer, got 8");
  refused("max_source_length", {64, 64}, "expected a whole number from 1");  // of the whole stack
}

TEST_CASE("a decoder's own fields are read, written and checked", "[checkpoints]") {
  nlohmann::json json = nlohmann::json::parse(valid_translation);
  json["gated"] = true;
  json["score_divisor"] = 2;
  json["decoder_d_ff"] = {512, 256};
  json["decoder_gated"] = false;
  json["decoder_score_divisor"] = nullptr;
  json["decoder_norm"] = "post";
  json["decoder_attention_window"] = 16;
  json["decoder_positions"] = "none";
  const ModelConfig config = parse_config(json.dump());
  CHECK(config.encoder().layers[0].attention.score_divisor == 2.0f);
  CHECK(config.encoder().tokens().positions == PositionKind::sinusoidal);
  CHECK(config.decoder().tokens().positions == PositionKind::none);
  CHECK(config.decoder().layers[0].feed_forward.d_ff == 512);
  CHECK(config.decoder().layers[1].feed_forward.d_ff == 256);
  for (const LayerConfig& layer : config.encoder().layers) {
    CHECK(layer.feed_forward.d_ff == 1024);
    CHECK(layer.feed_forward.gated);
    CHECK(layer.norm == NormPlacement::pre);
    CHECK(layer.attention.window == 0);
  }
  for (const LayerConfig& layer : config.decoder().layers) {
    CHECK(!layer.feed_forward.gated);
    CHECK(!layer.attention.score_divisor);
    CHECK(layer.norm == NormPlacement::post);
    CHECK(layer.attention.window == 16);
  }
  CHECK(parse_config(to_json(config)) == config);
  CHECK(nlohmann::json::parse(to_json(config)) == json);

  // An array with the encoder's number of layers does not fit a smaller decoder.
  nlohmann::json narrow = nlohmann::json::parse(valid_translation);
  narrow["d_ff"] = {8, 16, 24, 32, 40, 48};
  check_refused(narrow.dump(), "d_ff: expected one value, or 2, one for each layer");
  narrow["decoder_d_ff"] = 8;
  const ModelConfig different = parse_config(narrow.dump());
  CHECK(different.encoder().layers[5].feed_forward.d_ff == 48);
  CHECK(different.decoder().layers[1].feed_forward.d_ff == 8);
  CHECK(nlohmann::json::parse(to_json(different)) == narrow);

  check_refused(translation_with("decoder_n_heads", 7),
                "config.json: decoder_n_heads: expected a divisor of d_model 256, got 7");
  check_refused(translation_with("decoder_d_model", 128),
                "config.json: decoder_d_model: expected that of the encoder, 256, got 128");
  check_refused(translation_with("decoder_d_ff", {1, 2, 3}),
                "config.json: decoder_d_ff: expected one value, or 2, one for each layer");
  check_refused(translation_with("decoder_norm", "after"), "config.json: decoder_norm: expected");
  check_refused(with("decoder_d_ff", 8), "\"decoder_d_ff\": unknown field");
}

const char* const valid_text_to_text = R"({
  "format": 1,
  "model_type": "encoder_decoder",
  "task": "text2text-generation",
  "vocab_size": 32128, "embeddings": "stacks",
  "d_model": 512, "d_ff": 1024, "n_heads": 6, "d_head": 64,
  "encoder_layers": 8, "decoder_layers": 2,
  "max_source_length": 512, "max_positions": 1024, "max_target_length": 600,
  "positions": "relative", "relative_buckets": 32, "relative_distance": 128,
  "scale_embedding": false,
  "norm": "pre",
  "layer_norm": "rms",
  "layer_norm_eps": 1e-06,
  "final_norm": true,
  "attention": "full",
  "attention_bias": false,
  "score_divisor": 1,
  "activation": "gelu_tanh", "gated": true, "feed_forward_bias": false,
  "lm_head_bias": false,
  "tokenizer_template": true,
  "start_id": 0,
  "end_ids": [1]
})";

TEST_CASE("a configuration of a model that answers texts is read, written and checked",
          "[checkpoints]") {
  const ModelConfig config = parse_config(valid_text_to_text);
  CHECK(config.task == Task::text2text_generation);
  CHECK(config.architecture.embeddings == EmbeddingSharing::stacks);
  CHECK(config.encoder().tokens().positions == PositionKind::relative);
  CHECK(config.encoder().relative.buckets == 32);
  CHECK(config.encoder().relative.distance == 128);
  CHECK(config.encoder().max_length == 1024);
  CHECK(config.max_source_length() == 512);
  CHECK(config.decoder().layers.size() == 2);
  CHECK(config.decoder().layers[0].attention.d_head == 64);
  CHECK(config.decoder().max_length == 600);
  CHECK(config.decoder().layers[0].mixer == Mixer::causal);
  CHECK(config.architecture.head.outputs == 32128);
  CHECK_FALSE(config.architecture.head.scale_states);
  CHECK(config.generation.start_id == 0);
  CHECK(config.generation.end_ids == std::vector<std::int32_t>{1});
  CHECK(parse_config(to_json(config)) == config);
  ModelConfig other = config;
  other.architecture.embeddings = EmbeddingSharing::shared;
  other.architecture.head.scale_states = true;
  other.max_tokens = 0;
  CHECK(parse_config(to_json(other)) == other);

  const nlohmann::json whole = nlohmann::json::parse(valid_text_to_text);
  const auto changed = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json json = whole;
    json[key] = value;
    return json.dump();
  };
  for (const char* key : {"vocab_size", "relative_buckets", "relative_distance", "start_id",
                          "end_ids", "decoder_layers", "max_target_length", "embeddings"}) {
    nlohmann::json without = whole;
    without.erase(key);
    check_refused(without.dump(), std::string("config.json: ") + key + ": missing");
    check_refused(changed(key, nullptr), std::string("config.json: ") + key + ": expected");
  }
  check_refused(changed("relative_buckets", 7), "relative_buckets: expected an even number");
  check_refused(changed("relative_distance", 16),
                "relative_distance: expected more than 16, half of the buckets, got 16");
  check_refused(changed("attention", "linear"), "attention: expected one that has scores");
  check_refused(changed("start_id", 32128), "start_id: expected ids below 32128, got 32128");
  check_refused(changed("end_ids", {40000}), "end_ids: expected ids below 32128, got 40000");
  check_refused(with("positions", "relative"), "relative_buckets: missing");
  nlohmann::json classifier = nlohmann::json::parse(valid);
  classifier["positions"] = "relative";
  classifier["relative_buckets"] = 32;
  classifier["relative_distance"] = 128;
  CHECK(parse_config(classifier.dump()).encoder().tokens().positions == PositionKind::relative);
}

const char* const valid_generation = R"({
  "format": 1,
  "model_type": "decoder",
  "task": "text-generation",
  "vocab_size": 4096, "embeddings": "tied",
  "d_model": 256, "d_ff": 896, "n_heads": 4, "decoder_layers": 5,
  "max_target_length": 512,
  "positions": "learned",
  "scale_embedding": false,
  "norm": "pre",
  "layer_norm": "standard",
  "layer_norm_eps": 1e-05,
  "final_norm": true,
  "attention": "causal",
  "attention_bias": true,
  "activation": "gelu_tanh",
  "lm_head_bias": false,
  "tokenizer_template": true,
  "end_ids": [4095]
})";

TEST_CASE("a configuration of a decoder-only model is read, written and checked", "[checkpoints]") {
  const ModelConfig config = parse_config(valid_generation);
  CHECK(config.task == Task::text_generation);
  CHECK(!config.architecture.encoder);
  CHECK(config.decoder().layers.size() == 5);
  CHECK(config.decoder().max_length == 512);
  CHECK(config.max_source_length() == 512);
  CHECK(config.architecture.head.outputs == 4096);
  CHECK(config.generation.end_ids == std::vector<std::int32_t>{4095});
  CHECK(parse_config(to_json(config)) == config);
  ModelConfig other = config;
  other.architecture.embeddings = EmbeddingSharing::separate;
  for (LayerConfig& layer : other.architecture.decoder->layers) {
    layer.attention.divide_by_layer = true;
    layer.attention.score_divisor = 1.0f;
  }
  other.generation.end_ids = {};
  CHECK(parse_config(to_json(other)) == other);
  other.architecture.decoder->layers[3].attention.window = 16;
  CHECK(parse_config(to_json(other)) == other);

  const nlohmann::json whole = nlohmann::json::parse(valid_generation);
  const auto changed = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json json = whole;
    json[key] = value;
    return json.dump();
  };
  for (const auto& [key, value] : whole.items()) {
    if (key == "tokenizer_template") continue;
    nlohmann::json without = whole;
    without.erase(key);
    check_refused(without.dump(), "config.json: " + key + ": missing");
    check_refused(changed(key.c_str(), nullptr), "config.json: " + key + ": expected");
  }
  check_refused(changed("attention", "full"), "attention: expected \"causal\" for this task");
  check_refused(changed("attention", "local"), "attention: expected \"causal\" for this task");
  check_refused(changed("embeddings", "shared"), "embeddings: expected \"tied\" or \"separate\"");
  check_refused(changed("end_ids", {4096}), "end_ids: expected ids below 4096, got 4096");
  check_refused(changed("end_ids", {"a"}), "end_ids: expected a whole number from 0 to");
  check_refused(changed("encoder_layers", 2), "\"encoder_layers\": unknown field");
}

TEST_CASE("the fields that every model has are required, and unknown fields are refused",
          "[checkpoints]") {
  const nlohmann::json whole = nlohmann::json::parse(valid);
  for (const auto& [key, value] : whole.items()) {
    nlohmann::json without = whole;
    without.erase(key);
    check_refused(without.dump(), "config.json: " + key + ": missing");
    check_refused(with(key.c_str(), nullptr), "config.json: " + key + ": expected");
    check_refused(with(key.c_str(), nlohmann::json::object()),
                  "config.json: " + key + ": expected");
  }
  check_refused(with("dropout", 0.1), "config.json: \"dropout\": unknown field");
  check_refused("[]", "config.json: expected an object, got []");
  check_refused("{", "config.json: not valid JSON at byte 2");
  const std::string twice = std::string("{\"d_ff\": 1, ") + (valid + 1);
  check_refused(twice, "\"d_ff\" appears twice");
}

TEST_CASE("sizes must be whole numbers in range", "[checkpoints]") {
  for (const char* key :
       {"vocab_size", "d_model", "d_ff", "n_heads", "encoder_layers", "max_source_length"}) {
    const std::string expected = std::string(key) + ": expected a whole number from 1 to ";
    for (const nlohmann::json& value :
         {nlohmann::json(0), nlohmann::json(-1), nlohmann::json(1.5), nlohmann::json(128.0),
          nlohmann::json("128"), nlohmann::json(true), nlohmann::json(std::uint64_t{1} << 63)}) {
      check_refused(with(key, value), expected);
    }
  }
  check_refused(with("d_model", nlohmann::json::array({1})), ", got [1]");
  // Each size fits, but a matrix with both has more than 2^28 elements.
  nlohmann::json large = nlohmann::json::parse(valid);
  large["vocab_size"] = 1 << 22;
  check_refused(large.dump(),
                "vocab_size: expected at most 268435456 elements in a matrix with "
                "d_model, got 536870912");
  large["d_model"] = 1 << 15;
  check_refused(large.dump(), "d_model: expected at most 268435456 elements");
}

TEST_CASE("a configuration over its size limit is refused without being parsed", "[checkpoints]") {
  std::string json = valid;
  json.resize(1 << 20, ' ');
  CHECK_NOTHROW(parse_config(json));
  check_refused(json + ' ', "config.json: expected at most 1048576 bytes, got 1048577");
}

TEST_CASE("enumerated fields accept only the known names", "[checkpoints]") {
  check_refused(with("positions", "rotary"),
                "positions: expected one of \"sinusoidal\", \"learned\", \"sinusoidal_halves\", "
                "\"relative\", \"sinusoidal_endpoint\", \"none\", got \"rotary\"");
  check_refused(with("norm", "PRE"), "norm: expected one of \"pre\", \"post\", got \"PRE\"");
  check_refused(with("layer_norm", 1), "layer_norm: expected one of \"standard\", \"unbiased\"");
  check_refused(with("attention", ""),
                "attention: expected one of \"full\", \"local\", \"linear\"");
  check_refused(with("activation", "swish"), "activation: expected one of \"relu\", \"gelu\"");
  check_refused(with("pooling", "max"), "pooling: expected one of \"mean\", \"first\"");
}

TEST_CASE("fields that depend on each other must agree", "[checkpoints]") {
  check_refused(with("n_heads", 7), "n_heads: expected a divisor of d_model 128, got 7");
  nlohmann::json odd = nlohmann::json::parse(valid);
  odd["d_model"] = 9;
  odd["n_heads"] = 3;
  check_refused(odd.dump(), "d_model: expected an even number for sinusoidal positions, got 9");
  odd["positions"] = "learned";
  CHECK(parse_config(odd.dump()).encoder().d_model == 9);

  check_refused(with("attention", "local"), "attention_window: missing");
  check_refused(with("attention_window", 32), "attention_window: only with");
  nlohmann::json local = nlohmann::json::parse(valid);
  local["attention"] = "local";
  local["attention_window"] = 0;
  check_refused(local.dump(), "attention_window: expected a whole number from 1");
  check_refused(with("max_source_length", 1), "expected more than the 1 prefix and suffix tokens");
}

TEST_CASE("labels, tokens and epsilon are checked", "[checkpoints]") {
  check_refused(with("labels", nlohmann::json::array()), "labels: expected at least one label");
  check_refused(with("labels", {"a", ""}), "labels: expected an array of nonempty strings");
  check_refused(with("labels", {"a", 1}), "labels: expected an array of nonempty strings");
  check_refused(with("labels", {"a", "b", "a"}), "expected different labels, got \"a\" twice");
  check_refused(with("labels", "ab"), "labels: expected an array of at most 65536 strings");
  CHECK(parse_config(with("labels", {"only"})).labels.size() == 1);
  for (const char* label : {"a\nb", "\t", "a\x7F", "\u0085", "a\u009B", "\u2028", "\u2029b"}) {
    check_refused(with("labels", {label}), "labels: expected no control characters, got \"");
  }
  CHECK(parse_config(with("labels", {"très bien \u00A0\u2027\u202A"})).labels.size() == 1);
  check_refused(with("prefix_tokens", {""}), "prefix_tokens: expected");
  check_refused(with("suffix_tokens", "</s>"), "suffix_tokens: expected");
  for (const double eps : {0.0, -1e-5, 1.5, 1e-60}) {
    check_refused(with("layer_norm_eps", eps), "layer_norm_eps: expected a number above 0");
  }
}

TEST_CASE("other formats, tasks and architectures have error codes of their own", "[checkpoints]") {
  check_refused(with("format", 2), "format: expected 1, got 2", ErrorCode::unsupported);
  check_refused(with("task", "translation"), "task: expected \"text-classification\"",
                ErrorCode::wrong_task);
  check_refused(with("task", "text"), "task: expected \"text-classification\"",
                ErrorCode::wrong_task);
  check_refused(with("model_type", "encoder_decoder"), "task: expected \"translation\"",
                ErrorCode::wrong_task);
  check_refused(with("model_type", "decoder"), "task: expected \"text-generation\"",
                ErrorCode::wrong_task);
  check_refused(with("model_type", "diffusion"),
                "model_type: expected one of \"encoder_classifier\", "
                "\"encoder_decoder_classifier\", \"encoder_decoder\", "
                "\"encoder\", \"decoder\", \"dual_encoder\", got",
                ErrorCode::unsupported);
  test::check_error(ErrorCode::wrong_task, "task: expected \"translation\", got",
                    [] { expect_task(parse_config(valid), std::array{Task::translation}); });
}

TEST_CASE("each model_type has a usual tokenizer class", "[checkpoints]") {
  const auto of = [](const std::string& type) {
    return usual_tokenizer_class(R"({"model_type": ")" + type + "\"}");
  };
  CHECK(of("gpt2") == "GPT2Tokenizer");
  CHECK(of("camembert") == "CamembertTokenizer");
  CHECK(of("xlm-roberta") == "XLMRobertaTokenizer");
  CHECK(of("mt5") == "T5Tokenizer");
  CHECK(of("mpnet") == "MPNetTokenizer");
  CHECK(of("bart") == "BartTokenizer");
  CHECK(of("m2m_100") == "M2M100Tokenizer");
  CHECK(of("other").empty());
  CHECK(usual_tokenizer_class(R"({"format": 1})").empty());
}

}  // namespace
}  // namespace glassformer
