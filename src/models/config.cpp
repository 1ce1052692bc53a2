#include "models/config.hpp"

#include <algorithm>

namespace glassformer {
namespace {

constexpr SizeRule dimension = {.most = max_width, .dimension = true};
constexpr SizeRule length = {.most = max_positions};
constexpr SizeRule vocabulary = {.most = max_vocab_size, .dimension = true};
constexpr SizeRule id = {.least = 0, .most = max_vocab_size};
constexpr SizeRule layer_count = {.most = max_layers};
constexpr SizeRule picture_side = {.most = 1 << 12};
constexpr SizeRule channel_count = {.most = 3};

void layer_sizes(Fields& visitor, LayerConfig& layer, std::size_t d_model) {
  AttentionConfig& attention = layer.attention;
  visitor.size("d_ff", layer.feed_forward.d_ff, dimension);
  visitor.size("n_heads", attention.n_heads, dimension);
  visitor.size("n_kv_heads", attention.n_kv_heads, dimension, attention.n_heads);
  const bool divides = attention.n_heads > 0 && d_model % attention.n_heads == 0;
  visitor.size("d_head", attention.d_head, dimension, divides ? d_model / attention.n_heads : 0);
}

void rotary_fields(Fields& visitor, RotaryConfig& rotary, std::size_t d_head) {
  constexpr NumberRange positive = NumberRange::positive;
  visitor.number("rotary_base", rotary.base, positive);
  visitor.size("rotary_size", rotary.size, dimension, d_head);
  enum_field(visitor, "rotary_scaling", rotary.scaling, RotaryScaling::none);
  if (rotary.scaling == RotaryScaling::none) return;
  if (rotary.scaling == RotaryScaling::per_pair) {
    visitor.numbers("rotary_factors", rotary.factors, max_width);
    visitor.number("rotary_amplitude", rotary.amplitude, positive);
    return;
  }
  visitor.number("rotary_factor", rotary.factor, positive);
  if (rotary.scaling == RotaryScaling::linear) return;
  visitor.number("rotary_low_frequency", rotary.low_frequency, positive);
  visitor.number("rotary_high_frequency", rotary.high_frequency, positive);
  visitor.size("rotary_original_length", rotary.original_length, length);
}

void layer_fields(Fields& visitor, LayerConfig& layer) {
  AttentionConfig& attention = layer.attention;
  enum_field(visitor, "norm", layer.norm);
  visitor.flag("attention_norm", layer.attention_norm, AbsentFlag::on);
  visitor.flag("residual", layer.residual, AbsentFlag::on);
  visitor.flag("output_norms", layer.output_norms, AbsentFlag::off);
  visitor.flag("parallel", layer.parallel, AbsentFlag::off);
  enum_field(visitor, "attention", layer.mixer);
  if (layer.mixer == Mixer::local || layer.mixer == Mixer::causal) {
    std::optional<std::size_t> window;
    if (attention.window > 0) window = attention.window;
    optional_field(visitor, "attention_window", window,
                   [&](std::size_t& size) { visitor.size("attention_window", size, length); });
    attention.window = window.value_or(0);
  } else {
    visitor.refuse("attention_window", "only with \"attention\": \"local\" or \"causal\"");
  }
  visitor.flag("attention_bias", attention.bias);
  visitor.flag("attention_out_bias", attention.out_bias,
               attention.bias ? AbsentFlag::on : AbsentFlag::off);
  visitor.flag("qk_norm", attention.qk_norm, AbsentFlag::off);
  optional_field(visitor, "rotary_base", attention.rotary,
                 [&](RotaryConfig& rotary) { rotary_fields(visitor, rotary, attention.d_head); });
  optional_field(visitor, "score_divisor", attention.score_divisor, [&](float& divisor) {
    visitor.number("score_divisor", divisor, NumberRange::positive);
  });
  visitor.flag("divide_by_layer", attention.divide_by_layer, AbsentFlag::off);
  optional_field(visitor, "score_cap", attention.score_cap,
                 [&](float& cap) { visitor.number("score_cap", cap, NumberRange::positive); });
  FeedForwardConfig& feed_forward = layer.feed_forward;
  enum_field(visitor, "activation", feed_forward.activation);
  visitor.flag("gated", feed_forward.gated, AbsentFlag::off);
  visitor.flag("feed_forward_bias", feed_forward.bias, AbsentFlag::on);
}

template <class Visit>
void each_layer(Fields& visitor, StackConfig& stack, const Visit& visit) {
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    visitor.enter_layer(i, stack.layers.size());
    visit(stack.layers[i]);
  }
  visitor.leave_layers();
}

void disentangled_fields(Fields& visitor, DisentangledConfig& config) {
  visitor.size("disentangled_span", config.span, dimension);
  visitor.size("disentangled_distance", config.distance, length, 0);
  visitor.flag("content_to_position", config.content_to_position, AbsentFlag::on);
  visitor.flag("position_to_content", config.position_to_content, AbsentFlag::on);
  visitor.flag("disentangled_norm", config.norm, AbsentFlag::off);
}

void position_fields(Fields& visitor, StackConfig& stack) {
  TokenInput& input = stack.tokens();
  enum_field(visitor, "positions", input.positions);
  if (input.positions == PositionKind::relative ||
      visitor.has("relative_buckets", stack.has_relative_bias())) {
    visitor.size("relative_buckets", stack.relative.buckets, dimension);
    visitor.size("relative_distance", stack.relative.distance, length);
  }
  optional_field(visitor, "disentangled_span", stack.disentangled,
                 [&](DisentangledConfig& config) { disentangled_fields(visitor, config); });
  const bool learned = input.positions == PositionKind::learned;
  if (!learned && input.positions != PositionKind::sinusoidal_endpoint) {
    visitor.refuse("position_offset",
                   "only with \"positions\": \"learned\" or \"sinusoidal_endpoint\"");
  } else if (learned || visitor.has("position_offset", input.position_offset > 0)) {
    visitor.size("position_offset", input.position_offset, length, 0);
  }
  optional_field(visitor, "padding", input.padding, [&](std::int32_t& padding) {
    auto number = static_cast<std::size_t>(padding);
    visitor.size("padding", number, id);
    padding = static_cast<std::int32_t>(number);
  });
}

void layer_list(Fields& visitor, StackConfig& stack) {
  visitor.size("d_model", stack.d_model, dimension);
  std::size_t layers = stack.layers.size();
  visitor.size("layers", layers, layer_count);
  stack.layers.resize(layers, stack.layers.empty() ? LayerConfig() : stack.layers.front());
  visitor.size("layer_groups", stack.layer_groups, layer_count, 0);
  each_layer(visitor, stack,
             [&](LayerConfig& layer) { layer_sizes(visitor, layer, stack.d_model); });
}

void norm_and_layer_fields(Fields& visitor, StackConfig& stack) {
  enum_field(visitor, "layer_norm", stack.layer_norm.kind);
  visitor.flag("layer_norm_bias", stack.layer_norm.bias, AbsentFlag::on);
  visitor.number("layer_norm_eps", stack.layer_norm.eps, NumberRange::fraction);
  visitor.flag("final_norm", stack.final_norm);
  each_layer(visitor, stack, [&](LayerConfig& layer) { layer_fields(visitor, layer); });
}

// Visits the fields of a stack that reads pictures.
void picture_fields(Fields& visitor, StackConfig& stack) {
  PatchInput& input = std::get<PatchInput>(stack.input);
  visitor.size("picture_height", input.height, picture_side);
  visitor.size("picture_width", input.width, picture_side);
  visitor.size("channels", input.channels, channel_count);
  visitor.size("patch_height", input.patch_height, picture_side);
  visitor.size("patch_width", input.patch_width, picture_side);
  visitor.flag("class_token", input.class_token);
  visitor.flag("distillation_token", input.distillation_token, AbsentFlag::off);
  visitor.flag("patch_bias", input.bias, AbsentFlag::on);
  visitor.flag("embedding_norm", input.norm, AbsentFlag::off);
  stack.max_length = input.rows();
  layer_list(visitor, stack);
  norm_and_layer_fields(visitor, stack);
}

}  // namespace

void fields(Fields& visitor, StackConfig& stack) {
  if (reads_pictures(stack)) {
    return picture_fields(visitor, stack);
  }
  TokenInput& input = stack.tokens();
  visitor.size("vocab_size", input.vocab_size, vocabulary);
  layer_list(visitor, stack);
  visitor.flag("zero_start", input.zero_start, AbsentFlag::off);
  // Only learned positions have a table in the weights.
  const bool in_weights = input.positions == PositionKind::learned;
  visitor.size("max_length", stack.max_length, {.most = max_positions, .dimension = in_weights});
  position_fields(visitor, stack);
  visitor.size("token_types", input.token_types, dimension, 0);
  visitor.size("d_embedding", input.d_embedding, dimension, 0);
  visitor.flag("scale_embedding", input.scale_embedding);
  visitor.flag("embedding_norm", input.norm, AbsentFlag::off);
  norm_and_layer_fields(visitor, stack);
}

std::uint64_t cache_bytes(const StackConfig& stack) {
  std::uint64_t numbers = 0;
  for (const LayerConfig& layer : stack.layers) numbers += 2 * layer.attention.d_kv_heads();
  return sizeof(float) * numbers;
}

namespace {

// Checks one stack. Errors name the field.
class StackCheck {
 public:
  StackCheck(const StackConfig& stack, const FieldErrors& errors)
      : stack_(stack), errors_(errors) {}

  void run() const {
    check_sizes();
    check_positions();
    for (const LayerConfig& layer : stack_.layers) check(layer);
    check_groups();
  }

 private:
  [[noreturn]] void fail(const char* field, const Message& problem) const {
    errors_.fail(&stack_, field, problem);
    __builtin_unreachable();
  }

  void check_matrix(const char* field, std::uint64_t rows, std::uint64_t columns,
                    const char* other = "d_model") const {
    if (rows * columns <= max_matrix_elements) return;
    fail(field, {"expected at most {} elements in a matrix with {}, got {}",
                 {max_matrix_elements, other, rows * columns}});
  }

  void check_sizes() const {
    const std::size_t d_model = stack_.d_model;
    check_matrix("d_model", d_model, d_model);
    if (reads_pictures(stack_)) return check(std::get<PatchInput>(stack_.input));
    const TokenInput& input = stack_.tokens();
    const std::size_t width = stack_.embedding_width();
    check_matrix("d_embedding", width, d_model);
    check_matrix("vocab_size", input.vocab_size, width);
    if (input.positions != PositionKind::none) {
      check_matrix("max_length", stack_.max_length + input.position_offset, width);
    }
    check_matrix("relative_buckets", stack_.relative.buckets, stack_.n_heads(), "n_heads");
  }

  void check(const PatchInput& input) const {
    if (input.channels != 1 && input.channels != 3) {
      fail("channels", {"expected 1 or 3, got {}", {input.channels}});
    }
    const auto check_side = [&](const char* field, std::size_t patch, std::size_t picture) {
      if (patch <= picture) return;
      fail(field, {"expected at most the size of the picture, {}, got {}", {picture, patch}});
    };
    check_side("patch_height", input.patch_height, input.height);
    check_side("patch_width", input.patch_width, input.width);
    check_matrix("patch_height", input.patch_values(), stack_.d_model);
    if (input.rows() > max_positions) {
      fail("picture_height",
           {"expected at most {} patches, got {}", {max_positions, input.rows()}});
    }
    check_matrix("picture_height", input.rows(), stack_.d_model);
    if (input.distillation_token && !input.class_token) {
      fail("distillation_token", "expected it only with a class_token");
    }
  }

  void check_positions() const {
    if (reads_pictures(stack_)) return;
    const TokenInput& input = stack_.tokens();
    const bool sinusoidal = input.positions == PositionKind::sinusoidal ||
                            input.positions == PositionKind::sinusoidal_halves ||
                            input.positions == PositionKind::sinusoidal_endpoint;
    if (sinusoidal && stack_.embedding_width() % 2 != 0) {
      fail("d_model", {"expected an even number for sinusoidal positions, got {}",
                       {stack_.embedding_width()}});
    }
    if (input.padding && input.position_offset == 0) {
      fail("padding", {"only with a \"position_offset\", got {}", {*input.padding}});
    }
    if (stack_.disentangled) check(*stack_.disentangled);
    if (!stack_.has_relative_bias()) return;
    const auto& [buckets, distance] = stack_.relative;
    if (buckets < 4 || buckets % 2 != 0) {
      fail("relative_buckets", {"expected an even number above 2, got {}", {buckets}});
    }
    if (distance <= buckets / 2) {
      fail("relative_distance",
           {"expected more than {}, half of the buckets, got {}", {buckets / 2, distance}});
    }
  }

  void check(const DisentangledConfig& config) const {
    check_matrix("disentangled_span", 2 * std::uint64_t{config.span}, stack_.d_model);
    if (config.distance > 0 && (config.span < 2 || config.distance <= config.span / 2 + 1)) {
      fail("disentangled_distance",
           {"expected more than {}, half of a span of 2 or more, and 1, got {}",
            {config.span / 2 + 1, config.distance}});
    }
    if (config.terms() == 1) {
      fail("disentangled_span", "expected content_to_position or position_to_content with it");
    }
    if (stack_.has_relative_bias()) {
      fail("disentangled_span", "expected it only without relative_buckets");
    }
  }

  // Layers that share their weights must be the same.
  void check_groups() const {
    const std::size_t layers = stack_.layers.size();
    if (stack_.layer_groups > layers) {
      fail("layer_groups", {"expected at most {}, got {}", {layers, stack_.layer_groups}});
    }
    for (std::size_t i = 1; i < layers; ++i) {
      if (stack_.group_of(i) == stack_.group_of(i - 1) &&
          stack_.layers[i] != stack_.layers[i - 1]) {
        fail("layer_groups", "expected layers of one group to be the same");
      }
    }
  }

  void check(const LayerConfig& layer) const {
    const AttentionConfig& attention = layer.attention;
    const std::size_t d_model = stack_.d_model;
    if (attention.n_heads != stack_.n_heads()) {
      fail("n_heads",
           {"expected {} in every layer, got {}", {stack_.n_heads(), attention.n_heads}});
    }
    if (attention.d_head == 0) {
      fail("n_heads", {"expected a divisor of d_model {}, got {}", {d_model, attention.n_heads}});
    }
    if (attention.n_kv_heads == 0 || attention.n_heads % attention.n_kv_heads != 0) {
      fail("n_kv_heads",
           {"expected a divisor of n_heads {}, got {}", {attention.n_heads, attention.n_kv_heads}});
    }
    check_matrix("d_ff", layer.feed_forward.d_ff, d_model);
    check_matrix("n_heads", std::uint64_t{attention.n_heads} * attention.d_head, d_model);
    if (layer.mixer == Mixer::local && attention.window == 0) fail("attention_window", "missing");
    if (stack_.disentangled && (attention.rotary || attention.qk_norm)) {
      fail("disentangled_span", "expected it only without rotary positions and a qk_norm");
    }
    const bool scores = layer.mixer != Mixer::linear;
    if (!scores && (stack_.has_relative_bias() || stack_.disentangled || attention.score_cap)) {
      fail("attention",
           "expected one that has scores, with relative_buckets, disentangled_span or a score_cap");
    }
    if (attention.score_cap && layer.mixer != Mixer::causal) {
      fail("score_cap", "expected it only with \"attention\": \"causal\"");
    }
    const bool pre = layer.norm == NormPlacement::pre && layer.attention_norm && layer.residual;
    if (layer.parallel && !pre) {
      fail("parallel", "expected it only with a norm before each sublayer");
    }
    if (layer.output_norms && (!pre || layer.parallel)) {
      fail("output_norms",
           "expected them only with a norm before each sublayer, one after another");
    }
    if (layer.norm == NormPlacement::post && !layer.attention_norm) {
      fail("attention_norm", "expected true with \"norm\": \"post\", got false");
    }
    if (attention.rotary) check(*attention.rotary, attention.d_head);
  }

  void check(const RotaryConfig& rotary, std::size_t d_head) const {
    if (rotary.size == d_head && d_head % 2 != 0) {
      fail("d_head", {"expected an even number for rotary positions, got {}", {d_head}});
    }
    if (rotary.size == 0 || rotary.size % 2 != 0 || rotary.size > d_head) {
      fail("rotary_size",
           {"expected an even number up to d_head {}, got {}", {d_head, rotary.size}});
    }
    if (rotary.scaling == RotaryScaling::per_pair && 2 * rotary.factors.size() != rotary.size) {
      fail("rotary_factors", {"expected {} numbers, one for each pair, got {}",
                              {rotary.size / 2, rotary.factors.size()}});
    }
    for (const float factor : rotary.factors) {
      if (!(factor > 0)) fail("rotary_factors", "expected numbers above 0");
    }
    if (rotary.scaling != RotaryScaling::by_wavelength) return;
    if (rotary.high_frequency <= rotary.low_frequency) {
      fail("rotary_high_frequency", "expected more than rotary_low_frequency, got less");
    }
    if (rotary.original_length == 0) fail("rotary_original_length", "expected a number, got none");
  }

  const StackConfig& stack_;
  const FieldErrors& errors_;
};

void check_mixers(const StackConfig& encoder, const FieldErrors& errors) {
  for (const LayerConfig& layer : encoder.layers) {
    if (layer.mixer != Mixer::recurrent) continue;
    errors.fail(&encoder, "attention",
                "expected a kind of attention, got \"recurrent\"; only a decoder can have that");
  }
}

// Checks that a decoder's mixers are causal self-attention or recurrent units.
void check_decoder(const Architecture& architecture, const FieldErrors& errors) {
  const StackConfig& decoder = *architecture.decoder;
  const bool alone = !architecture.encoder, whole = alone || architecture.decodes_to_classify();
  const bool relative = decoder.has_relative_bias();
  for (const LayerConfig& layer : decoder.layers) {
    const bool recurrent = layer.mixer == Mixer::recurrent;
    if (layer.mixer != decoder.layers[0].mixer || (!recurrent && layer.mixer != Mixer::causal) ||
        (recurrent && whole)) {
      errors.fail(&decoder, "attention",
                  {"expected {}, got \"{}\"",
                   {whole ? "\"causal\" for this task" : "\"causal\" or \"recurrent\"",
                    name_of(layer.mixer)}});
    }
    if (decoder.tokens().d_embedding > 0 || decoder.layer_groups > 0 || decoder.disentangled) {
      errors.fail(&decoder,
                  decoder.disentangled       ? "disentangled_span"
                  : decoder.layer_groups > 0 ? "layer_groups"
                                             : "d_embedding",
                  "expected it only in an encoder");
    }
    if (!alone && (layer.parallel || layer.output_norms)) {
      errors.fail(&decoder, layer.parallel ? "parallel" : "output_norms",
                  "expected it only in models without cross-attention");
    }
    if (recurrent && (layer.attention.d_heads() != decoder.d_model || relative)) {
      errors.fail(&decoder, "attention",
                  "expected \"causal\" if heads are not as wide as d_model or positions are "
                  "relative, got \"recurrent\"");
    }
  }
}

}  // namespace

void validate(const StackConfig& stack, const FieldErrors& errors) {
  StackCheck(stack, errors).run();
}

void validate(const Architecture& architecture, const FieldErrors& errors) {
  for (const std::optional<StackConfig>* encoder :
       {&architecture.encoder, &architecture.text_encoder}) {
    if (!*encoder) continue;
    validate(**encoder, errors);
    check_mixers(**encoder, errors);
  }
  if (architecture.head.distilled) {
    const auto* pictures = std::get_if<PatchInput>(&architecture.encoder->input);
    if (!pictures || !pictures->distillation_token) {
      errors.fail(nullptr, "distilled", "expected it only with a distillation_token");
    }
  }
  if (architecture.decoder) {
    check_decoder(architecture, errors);
    const std::size_t rows = architecture.decoder->vocab_size();
    if (static_cast<std::size_t>(architecture.start_id) >= rows) {
      errors.fail(nullptr, "start_id",
                  {"expected an id below {}, got {}", {rows, architecture.start_id}});
    }
    validate(*architecture.decoder, errors);
  }
  const StackConfig& last = architecture.decoder ? *architecture.decoder : *architecture.encoder;
  const std::uint64_t outputs = architecture.head.outputs;
  if (architecture.text_encoder) {
    const std::size_t widest = std::max(last.d_model, architecture.text_encoder->d_model);
    if (outputs * widest <= max_matrix_elements) return;
    errors.fail(nullptr, "projection",
                {"expected at most {} elements in a matrix with d_model, got {}",
                 {max_matrix_elements, outputs * widest}});
  }
  if (outputs * last.d_model > max_matrix_elements) {
    errors.fail(nullptr, "labels",
                {"expected at most {} elements in a matrix with d_model, got {}",
                 {max_matrix_elements, outputs * last.d_model}});
  }
  if (!architecture.encoder || !architecture.decoder) return;
  if (architecture.encoder->d_model != last.d_model) {
    errors.fail(&last, "d_model",
                {"expected that of the encoder, {}, got {}",
                 {architecture.encoder->d_model, last.d_model}});
  }
  const bool one_table = architecture.embeddings == EmbeddingSharing::shared ||
                         architecture.embeddings == EmbeddingSharing::stacks;
  if (one_table && last.vocab_size() != architecture.encoder->vocab_size()) {
    errors.fail(&last, "vocab_size",
                {"expected source_vocab_size {} with \"embeddings\": \"{}\", got {}",
                 {architecture.encoder->vocab_size(), name_of(architecture.embeddings),
                  last.vocab_size()}});
  }
}

}  // namespace glassformer
