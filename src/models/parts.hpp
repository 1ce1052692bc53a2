#pragma once

#include <memory>

#include "io/config.hpp"
#include "layers/embedding.hpp"
#include "layers/feed_forward.hpp"
#include "layers/layer_norm.hpp"
#include "layers/positional_encoding.hpp"

namespace glassformer {

/// The parts that encoder and decoder have in common, of the classes that a configuration names.
std::unique_ptr<LayerNorm> make_layer_norm(const ModelConfig& config);
std::unique_ptr<PositionalEncoding> make_positions(const ModelConfig& config, std::size_t longest);
std::unique_ptr<FeedForward> make_feed_forward(const ModelConfig& config, Compute compute);
std::unique_ptr<Embedding> make_embedding(const ModelConfig& config, std::size_t vocab_size,
                                          Compute compute);
/// The embedding whose table is lm_head's weight.
std::unique_ptr<Embedding> make_embedding(const ModelConfig& config, const Linear& lm_head);

}  // namespace glassformer
