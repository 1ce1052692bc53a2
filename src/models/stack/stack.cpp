#include "models/stack/stack.hpp"

#include <cmath>

#include "layers/attention/attention_kind.hpp"
#include "layers/attention/linked_mixers.hpp"

namespace glassformer {
namespace {

float divisor_of(const StackConfig& config, std::size_t layer) {
  const AttentionConfig& attention = config.layers[layer].attention;
  const std::size_t terms = config.disentangled ? config.disentangled->terms() : 1;
  const float root = std::sqrt(static_cast<float>(attention.d_head * terms));
  const float deepening = attention.divide_by_layer ? static_cast<float>(layer + 1) : 1.0f;
  return attention.score_divisor.value_or(root) * deepening;
}

std::unique_ptr<const AttentionKind> make_kind(Mixer mixer, std::size_t window) {
  const std::size_t reach = window > 0 ? window : Reach::all;
  switch (mixer) {
    case Mixer::linear:
      return std::make_unique<LinearAttention>();
    case Mixer::causal:
      return std::make_unique<SoftmaxAttention>(Reach{.before = reach, .behind = 0});
    case Mixer::local:
      return std::make_unique<SoftmaxAttention>(Reach{.before = reach, .behind = reach});
    case Mixer::full:
    case Mixer::recurrent:
      break;
  }
  return std::make_unique<SoftmaxAttention>(Reach{});
}

std::unique_ptr<RelativeBias> make_relative_bias(const StackConfig& config) {
  if (!config.has_relative_bias()) return nullptr;
  const bool causal = config.layers.front().mixer == Mixer::causal;
  return std::make_unique<RelativeBias>(
      RelativeBiasShape{.n_heads = config.n_heads(),
                        .buckets = config.relative.buckets,
                        .distance = config.relative.distance,
                        .distances = causal ? Distances::before : Distances::both_ways});
}

std::unique_ptr<RelativeEmbeddings> make_relative_embeddings(const StackConfig& config) {
  if (!config.disentangled) return nullptr;
  return std::make_unique<RelativeEmbeddings>(*config.disentangled, config.d_model,
                                              config.max_length, config.layer_norm);
}

// The tables that the layers of a stack share. Both may be null.
struct Shared {
  const RelativeBias* relative;
  const RelativeEmbeddings* distances;
};

// Creates the blocks of a stack.
class BlockMaker {
 public:
  BlockMaker(Stack::Kind kind, const StackConfig& config, Compute compute, const Shared& shared)
      : kind_(kind), config_(config), compute_(compute), shared_(shared) {}

  std::unique_ptr<Block> make(std::size_t index) const {
    const LayerConfig& layer = config_.layers[index];
    std::optional<Block::Sublayer<Attention>> encoder_attn;
    if (kind_ == Stack::Kind::decoder_with_encoder) {
      encoder_attn = {make_cross_attention(layer, index),
                      residual("encoder_attn_layer_norm", layer)};
    }
    return std::make_unique<Block>(
        Block::Sublayer<TokenMixer>{
            make_mixer(layer, index),
            residual("self_attn_layer_norm", layer, layer.attention_norm, "self_attn_output_norm")},
        std::move(encoder_attn),
        Block::Sublayer<FeedForward>{
            make_feed_forward(layer.feed_forward, config_.d_model, compute_),
            residual("final_layer_norm", layer, true, "fc2_output_norm")},
        layer.parallel ? Block::Order::parallel : Block::Order::in_turn);
  }

 private:
  // `output_name`: of the norm on the sublayer's output; null: there is none.
  Residual residual(const char* name, const LayerConfig& layer, bool has_norm = true,
                    const char* output_name = nullptr) const {
    Residual::NamedNorm norm = {name}, output_norm = {output_name ? output_name : ""};
    if (has_norm) norm.norm = make_norm(config_.layer_norm, config_.d_model);
    if (output_name && layer.output_norms) {
      output_norm.norm = make_norm(config_.layer_norm, config_.d_model);
    }
    return Residual(std::move(norm), std::move(output_norm), layer.norm, layer.residual);
  }

  std::unique_ptr<TokenMixer> make_mixer(const LayerConfig& layer, std::size_t index) const {
    if (layer.mixer == Mixer::recurrent) return make_recurrent_mixer(config_.d_model, compute_);
    // Decoder attention is computed in floats: it works row by row, where integers are not faster.
    const Compute scores = kind_ == Stack::Kind::encoder ? compute_ : Compute::f32;
    return std::make_unique<Attention>(
        layer.attention, config_.d_model,
        Attention::Parts{.kind = make_kind(layer.mixer, layer.attention.window),
                         .relative = shared_.relative,
                         .distances = shared_.distances,
                         .norm = config_.layer_norm,
                         .divisor = divisor_of(config_, index),
                         .scores = scores},
        compute_);
  }

  // Cross-attention has no rotary positions: there is no distance between an encoder's row and a
  // decoder's.
  std::unique_ptr<Attention> make_cross_attention(const LayerConfig& layer,
                                                  std::size_t index) const {
    AttentionConfig attention = layer.attention;
    attention.rotary.reset();
    attention.qk_norm = false;
    attention.window = 0;
    return std::make_unique<Attention>(attention, config_.d_model,
                                       Attention::Parts{.source = Attention::Source::encoder,
                                                        .kind = make_kind(Mixer::full, 0),
                                                        .norm = {},
                                                        .divisor = divisor_of(config_, index)},
                                       compute_);
  }

  Stack::Kind kind_;
  const StackConfig& config_;
  Compute compute_;
  Shared shared_;
};

}  // namespace

Stack::Stack(Kind kind, const StackConfig& config, Compute compute)
    : config_(config),
      relative_bias_(make_relative_bias(config)),
      relative_embeddings_(make_relative_embeddings(config)) {
  const BlockMaker maker(kind, config_, compute,
                         {relative_bias_.get(), relative_embeddings_.get()});
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    if (config.group_of(i) == blocks_.size()) blocks_.push_back(maker.make(i));
  }
  if (config.final_norm) layer_norm_ = make_norm(config.layer_norm, config.d_model);
}

void Stack::declare(const ParameterScope& scope) {
  if (relative_bias_) relative_bias_->declare(scope.scope("relative_bias"));
  if (relative_embeddings_) relative_embeddings_->declare(scope.scope("relative_embeddings"));
  const char* const blocks = config_.layer_groups > 0 ? "layer_groups" : "layers";
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i]->declare(scope.scope(blocks).scope(i));
  }
  if (layer_norm_) layer_norm_->declare(scope.scope("layer_norm"));
}

void Stack::block(std::size_t layer, View x, const Run& run) const {
  const Run::Scope layers = run.scope("layers"), index = run.scope(layer);
  block(layer)(x, run);
}

void Stack::begin(std::size_t rows, Run& run) const {
  if (relative_embeddings_) relative_embeddings_->begin(rows, run);
}

void Stack::run_from(std::size_t first, View x, const Run& run) const {
  for (std::size_t layer = first; layer < config_.layers.size(); ++layer) block(layer, x, run);
  finish(x, run);
}

void Stack::finish(View x, const Run& run) const {
  if (layer_norm_) {
    (*layer_norm_)(const_view(x), x, run);
    run.done("layer_norm", x);
  }
  run.rename("output", x);
}

}  // namespace glassformer
