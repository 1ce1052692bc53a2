#include <array>

#include "families/bert.hpp"

// RoBERTa (Liu et al. 2019) and its versions for other languages: XLM-R (Conneau et al. 2020),
// CamemBERT (Martin et al. 2020). Like BERT, but positions begin after the padding's, with one
// token type and a different head.

namespace glassformer {
namespace {
namespace roberta_parts {

constexpr std::array model_types = {Family::Type{"roberta", "RobertaTokenizer"},
                                    Family::Type{"xlm-roberta", "XLMRobertaTokenizer"},
                                    Family::Type{"camembert", "CamembertTokenizer"}};

constexpr std::array heads = {
    TensorName{"classifier.dense", "head.dense"},
    TensorName{"classifier.out_proj", "classifier"},  // of texts
    TensorName{"classifier", "classifier"},           // of tokens
    TensorName{"qa_outputs", "qa_outputs"},
    TensorName{"lm_head.dense", "lm_head.dense"},
    TensorName{"lm_head.layer_norm", "lm_head.layer_norm"},
    TensorName{"lm_head.decoder", "lm_head"},
    TensorName{"lm_head.bias", "lm_head.bias"},
    TensorName{"lm_head.decoder", "encoder.embed_tokens"},  // tied: the file may have either
};

constexpr std::array keys = bert_keys("50265");

constexpr MaskedHead masked = {.layer = "lm_head.dense.weight",
                               .table = "lm_head.decoder.weight",
                               .activation = Activation::gelu};

ModelConfig read(HubConfig& config) {
  const std::size_t padding = config.id("pad_token_id", 1);
  config.expect_embeddings(masked);
  ModelConfig model;
  StackConfig& stack = model.architecture.encoder.emplace();
  read_bert_stack(config, stack, keys);
  stack.tokens().position_offset = padding + 1;
  stack.tokens().padding = static_cast<std::int32_t>(padding);
  config.read_head(model, {.activation = Activation::tanh}, masked);
  config.finish(model);
  return model;
}

}  // namespace roberta_parts
}  // namespace

extern const Family roberta = {.model_types = roberta_parts::model_types,
                               .prefix = "roberta.",
                               .tensors = bert_tensors,
                               .heads = roberta_parts::heads,
                               .read = roberta_parts::read};

}  // namespace glassformer
