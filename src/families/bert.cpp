#include <array>

#include "families/bert.hpp"

// BERT (Devlin et al. 2019) and models with the same architecture: MiniLM, the sentence encoders
// bge, e5 and gte.

namespace glassformer {
namespace {
namespace bert_parts {

constexpr std::array model_types = {Family::Type{"bert", "BertTokenizer"}};

constexpr std::array heads = {
    TensorName{"pooler.dense", "head.dense"},
    TensorName{"classifier", "classifier"},
    TensorName{"qa_outputs", "qa_outputs"},
    TensorName{"cls.predictions.transform.dense", "lm_head.dense"},
    TensorName{"cls.predictions.transform.LayerNorm", "lm_head.layer_norm"},
    TensorName{"cls.predictions.decoder", "lm_head"},
    TensorName{"cls.predictions.bias", "lm_head.bias"},
    TensorName{"cls.predictions.decoder",
               "encoder.embed_tokens"},  // tied: the file may have either
};

constexpr std::array keys = bert_keys("30522");

constexpr MaskedHead masked = {.layer = "cls.predictions.transform.dense.weight",
                               .table = "cls.predictions.decoder.weight"};

ModelConfig read(HubConfig& config) {
  config.expect_embeddings(masked);
  ModelConfig model;
  read_bert_stack(config, model.architecture.encoder.emplace(), keys);
  config.read_head(model, {.activation = Activation::tanh}, masked);
  config.finish(model);
  return model;
}

}  // namespace bert_parts
}  // namespace

void read_bert_stack(HubConfig& config, StackConfig& stack, std::span<const ConfigKey> keys) {
  config.expect_text("position_embedding_type", "absolute");
  stack = post_norm_stack();
  config.read(stack, {.keys = keys, .layer_tensors = "encoder.layer."});
}

StackConfig post_norm_stack() {
  LayerConfig layer;
  layer.norm = NormPlacement::post;
  layer.attention.bias = layer.attention.out_bias = true;
  StackConfig stack;
  stack.input = TokenInput{.positions = PositionKind::learned, .norm = true};
  stack.layers = {layer};
  return stack;
}

extern const Family bert = {.model_types = bert_parts::model_types,
                            .prefix = "bert.",
                            .tensors = bert_tensors,
                            .heads = bert_parts::heads,
                            .read = bert_parts::read};

}  // namespace glassformer
