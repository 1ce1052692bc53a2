#include <array>

#include "families/marian.hpp"

// M2M100 (Fan et al. 2021) and NLLB (NLLB Team 2022): an encoder and a decoder with pre-norm and
// computed positions, for many languages. Both embeddings and the output layer share one table.

namespace glassformer {
namespace {
namespace m2m_100_parts {

constexpr std::array m2m_100_types = {Family::Type{"m2m_100", "M2M100Tokenizer"}};

template <std::size_t count>
constexpr std::array<ConfigKey, count> with_m2m_100_defaults(std::array<ConfigKey, count> keys) {
  for (ConfigKey& key : keys) {
    if (key.ours == "scale_embedding") key.absent = "true";
    if (key.ours == "activation") key.absent = "\"relu\"";
  }
  return keys;
}
constexpr auto m2m_100_encoder_keys = with_m2m_100_defaults(marian_encoder_keys("128112"));
constexpr auto m2m_100_decoder_keys = with_m2m_100_defaults(marian_decoder_keys);

// The position of a text's first token follows the padding's, which is its id.
StackConfig m2m_100_stack(Mixer mixer, std::size_t padding) {
  StackConfig stack = marian_stack(mixer);
  stack.input = TokenInput{.positions = PositionKind::sinusoidal_endpoint,
                           .position_offset = padding + 1,
                           .padding = static_cast<std::int32_t>(padding)};
  stack.layers[0].norm = NormPlacement::pre;
  stack.final_norm = true;
  return stack;
}

ModelConfig read_m2m_100(HubConfig& config) {
  config.expect_flag("tie_word_embeddings", true);
  const std::size_t padding = config.id("pad_token_id", 1);
  ModelConfig model;
  model.generation.start_id = 2;
  model.generation.end_ids = {2};
  Architecture& parts = model.architecture;
  StackConfig& encoder = parts.encoder.emplace(m2m_100_stack(Mixer::full, padding));
  config.read(encoder, {.keys = m2m_100_encoder_keys, .layer_tensors = "encoder.layers."});
  StackConfig& decoder = parts.decoder.emplace(m2m_100_stack(Mixer::causal, padding));
  decoder.tokens().vocab_size = encoder.vocab_size();
  config.read(decoder, {.keys = m2m_100_decoder_keys, .layer_tensors = "decoder.layers."});
  // The number of positions in the file does not include those before the first.
  for (StackConfig* stack : {&encoder, &decoder}) stack->max_length += padding + 1;
  parts.embeddings = EmbeddingSharing::shared;
  config.read_text_to_text(model);
  model.task = Task::translation;
  config.finish(model);
  return model;
}

}  // namespace m2m_100_parts
}  // namespace

extern const Family m2m_100 = {.model_types = m2m_100_parts::m2m_100_types,
                               .prefix = "model.",
                               .tensors = marian_tensors,
                               .heads = {},
                               .read = m2m_100_parts::read_m2m_100,
                               .writes = true};

}  // namespace glassformer
