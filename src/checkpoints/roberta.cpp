#include <array>

#include "checkpoints/bert_tensors.hpp"

// RoBERTa (Liu et al. 2019), and the same for other languages: XLM-R (Conneau et al. 2020),
// CamemBERT (Martin et al. 2020). BERT with positions that begin behind the padding's, one token
// type and a head of its own.

namespace glassformer {
namespace {

using namespace std::string_view_literals;

constexpr std::array model_types = {"roberta"sv, "xlm-roberta"sv, "camembert"sv};

constexpr std::array heads = {
    TensorName{"classifier.dense", "head.dense"},
    TensorName{"classifier.out_proj", "classifier"},  // of texts
    TensorName{"classifier", "classifier"},           // of tokens
    TensorName{"qa_outputs", "qa_outputs"},
};

constexpr std::array ignored = {"*position_ids"sv, "*token_type_ids"sv, "pooler.*"sv,
                                "lm_head.*"sv};

ModelConfig read(HubConfig& config) {
  config.expect_text("position_embedding_type", "absolute");
  const std::size_t padding = config.id("pad_token_id", 1);
  ModelConfig model;
  model.architecture.encoder = StackConfig{
      .vocab_size = config.size("vocab_size", 50265),
      .max_length = config.size("max_position_embeddings", 512),
      .layers = config.size("num_hidden_layers", 12),
      .d_model = config.size("hidden_size", 768),
      .n_heads = config.size("num_attention_heads", 12),
      .d_ff = config.size("intermediate_size", 3072),
      .positions = PositionKind::learned,
      .position_offset = padding + 1,
      .padding = static_cast<std::int32_t>(padding),
      .token_types = config.size("type_vocab_size", 2),
      .embedding_norm = true,
      .norm = NormPlacement::post,
      .layer_norm_eps = config.epsilon("layer_norm_eps", 1e-12f),
      .attention_bias = true,
      .activation = config.activation("hidden_act", "gelu"),
  };
  config.read_head(model, Activation::tanh);
  config.finish(model);
  return model;
}

}  // namespace

const Family roberta = {.model_types = model_types,
                        .prefix = "roberta.",
                        .tensors = bert_tensors,
                        .heads = heads,
                        .ignored = ignored,
                        .read = read};

}  // namespace glassformer
