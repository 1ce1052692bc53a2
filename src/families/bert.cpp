#include <array>

#include "families/bert.hpp"

// BERT (Devlin et al. 2019), and what is trained in its form: MiniLM, the sentence encoders of
// bge, e5 and gte.

namespace glassformer {
namespace {

constexpr std::array model_types = {Family::Type{"bert", "BertTokenizer"}};

constexpr std::array heads = {
    TensorName{"pooler.dense", "head.dense"},
    TensorName{"classifier", "classifier"},
    TensorName{"qa_outputs", "qa_outputs"},
};

ModelConfig read(HubConfig& config) {
  config.expect_embeddings("cls.predictions.decoder.weight");
  ModelConfig model;
  model.architecture.encoder = read_bert_stack(config, 30522);
  config.read_head(model, Activation::tanh);
  config.finish(model);
  return model;
}

}  // namespace

StackConfig read_bert_stack(HubConfig& config, std::size_t vocab_size) {
  config.expect_text("position_embedding_type", "absolute");
  return {
      .vocab_size = config.size("vocab_size", vocab_size),
      .max_length = config.size("max_position_embeddings", 512),
      .layers = config.layers("num_hidden_layers", 12, "encoder.layer."),
      .d_model = config.size("hidden_size", 768),
      .n_heads = config.size("num_attention_heads", 12),
      .d_ff = config.size("intermediate_size", 3072),
      .positions = PositionKind::learned,
      .token_types = config.size("type_vocab_size", 2),
      .embedding_norm = true,
      .norm = NormPlacement::post,
      .layer_norm_eps = config.epsilon("layer_norm_eps", 1e-12f),
      .attention_bias = true,
      .activation = config.activation("hidden_act", "gelu"),
  };
}

extern const Family bert = {.model_types = model_types,
                            .prefix = "bert.",
                            .tensors = bert_tensors,
                            .heads = heads,
                            .read = read};

}  // namespace glassformer
