#include <array>

#include "families/bert.hpp"

// ELECTRA (Clark et al. 2020), the discriminator and the generator: BERT's layers, with embeddings
// that may be narrower, and a dense layer with GELU before the classes.

namespace glassformer {
namespace {
namespace electra_parts {

constexpr std::array electra_types = {Family::Type{"electra", "ElectraTokenizer"}};

constexpr std::array electra_heads = {
    TensorName{"embeddings_project", "encoder.embed_projection"},
    TensorName{"classifier.dense", "head.dense"},
    TensorName{"classifier.out_proj", "classifier"},  // of texts
    TensorName{"classifier", "classifier"},           // of tokens
    TensorName{"qa_outputs", "qa_outputs"},
    TensorName{"generator_predictions.dense", "lm_head.dense"},
    TensorName{"generator_predictions.LayerNorm", "lm_head.layer_norm"},
    TensorName{"generator_lm_head", "lm_head"},
    TensorName{"generator_lm_head", "encoder.embed_tokens"},  // tied: the file may have either
};

constexpr std::array electra_keys = {
    ConfigKey{"vocab_size", "vocab_size", "30522"},
    ConfigKey{"max_position_embeddings", "max_length", "512"},
    ConfigKey{"num_hidden_layers", "layers", "12"},
    ConfigKey{"hidden_size", "d_model", "256"},
    ConfigKey{"embedding_size", "d_embedding", "128"},
    ConfigKey{"num_attention_heads", "n_heads", "4"},
    ConfigKey{"intermediate_size", "d_ff", "1024"},
    ConfigKey{"type_vocab_size", "token_types", "2"},
    ConfigKey{"layer_norm_eps", "layer_norm_eps", "1e-12"},
    ConfigKey{"hidden_act", "activation", "\"gelu\""},
};

constexpr MaskedHead electra_masked = {.layer = "generator_predictions.dense.weight",
                                       .table = "generator_lm_head.weight",
                                       .activation = Activation::gelu};

ModelConfig read_electra(HubConfig& config) {
  config.expect_embeddings(electra_masked);
  ModelConfig model;
  StackConfig& stack = model.architecture.encoder.emplace();
  read_bert_stack(config, stack, electra_keys);
  if (stack.tokens().d_embedding == stack.d_model) stack.tokens().d_embedding = 0;
  config.read_head(model, {.activation = Activation::gelu}, electra_masked);
  config.finish(model);
  return model;
}

}  // namespace electra_parts
}  // namespace

extern const Family electra = {.model_types = electra_parts::electra_types,
                               .prefix = "electra.",
                               .tensors = bert_tensors,
                               .heads = electra_parts::electra_heads,
                               .read = electra_parts::read_electra};

}  // namespace glassformer
