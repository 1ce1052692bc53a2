#include "explain/readings/stream_ledger.hpp"

#include <initializer_list>

namespace glassformer {
namespace {

using Kind = LogitColumn::Kind;

bool is_recurrent(const StackConfig& config) { return config.recurrent(); }
Kind embeddings_of(const StackConfig& config) {
  return reads_pictures(config) ? Kind::embed_patches : Kind::embed_tokens;
}
bool has_positions(const StackConfig& config) {
  if (reads_pictures(config)) return true;
  const PositionKind positions = config.tokens().positions;
  return positions != PositionKind::relative && positions != PositionKind::none;
}
bool has_types(const StackConfig& config) {
  return !reads_pictures(config) && config.tokens().token_types > 0;
}
bool attends(const Stack& stack) { return stack.block(0).attends(); }

std::vector<LogitColumn> columns_of(const Stack& stack, Compute compute) {
  const StackConfig& config = stack.config();
  std::vector<LogitColumn> columns = {{.kind = embeddings_of(config)}};
  if (has_positions(config)) columns.push_back({.kind = Kind::embed_positions});
  if (has_types(config)) columns.push_back({.kind = Kind::embed_types});
  for (std::size_t layer = 0; layer < config.layers.size(); ++layer) {
    const auto add_heads = [&](Kind kind) {
      for (std::size_t head = 0; head < config.n_heads(); ++head) {
        columns.push_back({.kind = kind, .layer = layer, .head = head});
      }
    };
    if (is_recurrent(config)) {
      columns.push_back({.kind = Kind::recurrent, .layer = layer});
    } else {
      add_heads(Kind::head);
    }
    if (attends(stack)) add_heads(Kind::cross_head);
    columns.push_back({.kind = Kind::feed_forward, .layer = layer});
  }
  columns.push_back({.kind = Kind::bias});
  if (compute != Compute::f32) columns.push_back({.kind = Kind::rounding});
  return columns;
}

// Returns the stream after an addition.
std::vector<float> sum_of(const TracedTensor& stream, const TracedTensor& added) {
  std::vector<float> sum = stream.data;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += added.data[i];
  return sum;
}

}  // namespace

StreamLedger::StreamLedger(const ExplainedStack& of, Compute compute,
                           std::span<const TracedTensor> trace)
    : stack_(of.stack), input_(of.input), config_(stack_.config()), name_(of.name), trace_(trace) {
  parts_.columns = columns_of(stack_, compute);
  own_tokens_ = parts_.tokens = traced(0, "input").shape[0];
  width_ = config_.d_model;
  gradient_.resize(own_tokens_ * width_);
  if (attends(stack_)) parts_.tokens += traced(0, "encoder_attn.v").shape[0];
  parts_.written.resize(parts_.tokens * parts_.columns.size());
  parts_.read = parts_.written;
}

void StreamLedger::read_row(std::size_t row, std::span<const float> gradient) {
  rows_.push_back(row);
  std::ranges::copy(gradient, this->gradient(row));
}

void StreamLedger::enter(std::size_t row, Kind kind, double amount) {
  enter_at(row, column({.kind = kind}), amount);
}

void StreamLedger::lead_back_norm(const Norm& norm, const std::vector<float>& input) {
  const std::size_t width = width_;
  for (const std::size_t i : rows_) {
    float* const a = gradient(i);
    if (norm.bias()) enter(i, Kind::bias, dot(a, norm.bias(), width));
    frozen_norm_backward(norm, input.data() + i * width, {a, width});
  }
}

void StreamLedger::enter_rows(const LogitColumn& writer, const TracedTensor& rows,
                              std::span<const float> bias) {
  const std::size_t width = width_;
  for (const std::size_t i : rows_) {
    const double of_bias = bias.empty() ? 0.0 : dot(gradient(i), bias.data(), width);
    enter_at(i, column(writer), dot(gradient(i), rows.data.data() + i * width, width) - of_bias);
    enter(i, Kind::bias, of_bias);
  }
}

void StreamLedger::enter_attention(std::size_t layer, const Site& site) {
  const Linear& out_proj = site.out_proj;
  const std::vector<float> weights = dense_weights(out_proj);  // [D, E]
  const TracedTensor &context = traced(layer, site.name + ".context"),
                     &v = traced(layer, site.name + ".v"),
                     &attention = traced(layer, site.name + ".weights"),
                     &output = traced(layer, site.name + ".output");
  const std::size_t keys = v.shape[0], kv_heads = v.shape[1], d_head = v.shape[2];
  const std::size_t d_heads = out_proj.in(), shared = config_.n_heads() / kv_heads;
  const std::size_t first = column({.kind = site.kind, .layer = layer});
  std::vector<float> all_led_back(rows_.size() * d_heads);  // W_Oᵀ a
  float* led_back = all_led_back.data();
  for (const std::size_t i : rows_) {
    const float* a = gradient(i);
    for (std::size_t c = 0; c < config_.d_model; ++c) {
      const float* row = weights.data() + c * d_heads;
      for (std::size_t e = 0; e < d_heads; ++e) led_back[e] += a[c] * row[e];
    }
    const double of_bias =
        out_proj.bias().empty() ? 0.0 : dot(a, out_proj.bias().data(), config_.d_model);
    enter(i, Kind::bias, of_bias);
    double rounding = dot(a, output.data.data() + i * config_.d_model, config_.d_model) - of_bias;
    double read_rounding = rounding;
    for (std::size_t head = 0; head < config_.n_heads(); ++head) {
      const float* back = led_back + head * d_head;
      const double part = dot(context.data.data() + i * d_heads + head * d_head, back, d_head);
      parts_.written[i * parts_.columns.size() + first + head] = static_cast<float>(part);
      rounding -= part;
      const float* shares = attention.data.data() + (head * own_tokens_ + i) * keys;
      for (std::size_t j = 0; j < keys; ++j) {
        if (shares[j] == 0.0f) continue;
        const double read =
            static_cast<double>(shares[j]) *
            dot(v.data.data() + (j * kv_heads + head / shared) * d_head, back, d_head);
        enter_read(site.first_key + j, first + head, read);
        read_rounding -= read;
      }
    }
    led_back += d_heads;
    if (!rounds()) continue;
    const std::size_t last = parts_.columns.size() - 1;
    parts_.written[i * parts_.columns.size() + last] += static_cast<float>(rounding);
    enter_read(i, last, read_rounding);
  }
  if (observer_) observer_({site.kind, layer, rows_, all_led_back});
}

void StreamLedger::enter_recurrent_unit(std::size_t layer) {
  const TracedTensor &candidate = traced(layer, "self_attn.candidate"),
                     &gate = traced(layer, "self_attn.gate"),
                     &state = traced(layer, "self_attn.state");
  const LogitColumn writer = {.kind = Kind::recurrent, .layer = layer};
  const std::size_t width = config_.d_model, unit = column(writer);
  std::vector<double> kept(width);  // gradient times share of a token's candidate in the state
  for (const std::size_t i : rows_) {
    double written = 0;
    for (std::size_t c = 0; c < width; ++c) {
      kept[c] = state.data[i * width + c] > 0 ? static_cast<double>(gradient(i)[c]) : 0;
      written += kept[c] * static_cast<double>(state.data[i * width + c]);
    }
    parts_.written[i * parts_.columns.size() + unit] += static_cast<float>(written);
    for (std::size_t j = i + 1; j-- > 0;) {
      double read = 0;
      for (std::size_t c = 0; c < width; ++c) {
        const double stays = static_cast<double>(gate.data[j * width + c]);
        read += kept[c] * (1 - stays) * static_cast<double>(candidate.data[j * width + c]);
        kept[c] *= stays;
      }
      enter_read(j, unit, read);
    }
  }
}

// Replaces the gradient of the projected embeddings by that of the embeddings.
void StreamLedger::lead_back_projection(const Linear& projection) {
  const std::vector<float> weights = dense_weights(projection);  // [D, E]
  const std::size_t inputs = projection.in();
  std::vector<float> of_inputs(own_tokens_ * inputs);
  for (const std::size_t i : rows_) {
    const float* const a = gradient(i);
    enter(i, Kind::bias, dot(a, projection.bias().data(), width_));
    for (std::size_t e = 0; e < inputs; ++e) {
      double sum = 0;
      for (std::size_t c = 0; c < width_; ++c) {
        sum += static_cast<double>(a[c]) * static_cast<double>(weights[c * inputs + e]);
      }
      of_inputs[i * inputs + e] = static_cast<float>(sum);
    }
  }
  gradient_ = std::move(of_inputs);
  width_ = inputs;
}

void StreamLedger::enter_embeddings() {
  if (const Linear* projection = input_.projection()) lead_back_projection(*projection);
  struct Part {
    LogitColumn column;
    const TracedTensor& rows;
  };
  std::vector<Part> parts = {{{.kind = embeddings_of(config_)},
                              traced(reads_pictures(config_) ? "embed_patches" : "embed_tokens")}};
  if (has_positions(config_)) {
    parts.push_back({{.kind = Kind::embed_positions}, traced("embed_positions")});
  }
  if (has_types(config_)) {
    parts.push_back({{.kind = Kind::embed_types}, traced("embed_types")});
  }
  if (const Norm* norm = input_.layer_norm()) {
    std::vector<float> sum = parts[0].rows.data;
    for (std::size_t p = 1; p < parts.size(); ++p) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += parts[p].rows.data[i];
    }
    lead_back_norm(*norm, sum);
  }
  for (const Part& part : parts) enter_rows(part.column, part.rows, {});
}

void StreamLedger::lead_back_layer(std::size_t layer) {
  const bool post = config_.layers[layer].norm == NormPlacement::post;
  const Block& block = stack_.block(layer);
  const TracedTensor& fc2 = traced(layer, "fc2");
  const char* const before = block.attends() ? "encoder_attn_layer_norm" : "self_attn_layer_norm";
  if (post) lead_back_norm(*block.final_layer_norm(), sum_of(traced(layer, before), fc2));
  enter_output(block.fc2_output_norm(), fc2, [&] {
    enter_rows({.kind = Kind::feed_forward, .layer = layer}, fc2,
               block.feed_forward().fc2().bias());
  });
  if (block.attends()) {
    if (post) {
      lead_back_norm(
          *block.encoder_attn_layer_norm(),
          sum_of(traced(layer, "self_attn_layer_norm"), traced(layer, "encoder_attn.output")));
    }
    enter_attention(
        layer, {"encoder_attn", Kind::cross_head, block.encoder_attn().out_proj(), own_tokens_});
  }
  lead_back_self_attention(layer);
}

void StreamLedger::lead_back_self_attention(std::size_t layer) {
  const Block& block = stack_.block(layer);
  if (config_.layers[layer].norm == NormPlacement::post) {
    lead_back_norm(*block.self_attn_layer_norm(),
                   sum_of(traced(layer, "input"), traced(layer, "self_attn.output")));
  }
  if (is_recurrent(config_)) return enter_recurrent_unit(layer);
  enter_output(block.self_attn_output_norm(), traced(layer, "self_attn.output"), [&] {
    enter_attention(layer, {"self_attn", Kind::head, block.self_attn().out_proj(), 0});
  });
}

void StreamLedger::lead_back_stack() {
  if (const Norm* norm = stack_.layer_norm()) {
    lead_back_norm(*norm, traced(config_.layers.size() - 1, "output").data);
  }
  lead_back_layers(config_.layers.size());
}

void StreamLedger::lead_back_layers(std::size_t end) {
  while (end-- > 0) lead_back_layer(end);
  enter_embeddings();
}

std::string to_string(const LogitColumn& column) {
  const std::string layer = "layers." + std::to_string(column.layer) + ".";
  switch (column.kind) {
    case Kind::embed_tokens:
      return "embed_tokens";
    case Kind::embed_patches:
      return "embed_patches";
    case Kind::embed_positions:
      return "embed_positions";
    case Kind::embed_types:
      return "embed_types";
    case Kind::head:
      return layer + "self_attn.head." + std::to_string(column.head);
    case Kind::recurrent:
      return layer + "self_attn";
    case Kind::cross_head:
      return layer + "encoder_attn.head." + std::to_string(column.head);
    case Kind::feed_forward:
      return layer + "fc2";
    case Kind::bias:
      return "bias";
    case Kind::rounding:
      break;
  }
  return "rounding";
}

std::vector<std::string> ledger_tensors(const Stack& stack, std::string_view name,
                                        std::size_t layers) {
  const StackConfig& config = stack.config();
  const std::string prefix = std::string(name) + ".";
  std::vector<std::string> names = {prefix +
                                    (reads_pictures(config) ? "embed_patches" : "embed_tokens")};
  if (has_positions(config)) names.push_back(prefix + "embed_positions");
  if (has_types(config)) names.push_back(prefix + "embed_types");
  if (layers == 0) names.push_back(layer_name(name, 0, "input"));
  if (layers == 0 && attends(stack)) names.push_back(layer_name(name, 0, "encoder_attn.v"));
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const auto add = [&](const std::string& part) {
      names.push_back(layer_name(name, layer, part));
    };
    const auto add_mixer = [&](const std::string& mixer, std::initializer_list<const char*> parts) {
      for (const char* part : parts) add(mixer + part);
      if (config.layers[layer].norm == NormPlacement::post) add(mixer + "_layer_norm");
    };
    const auto attention = {".v", ".weights", ".context", ".output"};
    add("input");
    if (is_recurrent(config)) {
      add_mixer("self_attn", {".candidate", ".gate", ".state", ".output"});
    } else {
      add_mixer("self_attn", attention);
    }
    if (attends(stack)) add_mixer("encoder_attn", attention);
    add("fc2");
  }
  return names;
}

}  // namespace glassformer
