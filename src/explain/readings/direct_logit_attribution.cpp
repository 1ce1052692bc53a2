#include "explain/readings/direct_logit_attribution.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "explain/interventions/row_edits.hpp"
#include "explain/readings/rollout.hpp"
#include "explain/traced.hpp"

namespace glassformer {
namespace {

using Kind = LogitColumn::Kind;

const SequenceHead& head_of(const EncoderModel& model) {
  if (model.head_config().kind != HeadKind::sequence_classes) {
    throw_error(ErrorCode::unsupported,
                "direct_logit_attribution: expected a model that classifies texts");
  }
  if (model.head_config().distilled) {
    throw_error(ErrorCode::unsupported,
                "direct_logit_attribution: expected a model with one classifier, got one with a "
                "distillation "
                "classifier, too");
  }
  return static_cast<const SequenceHead&>(model.head());
}

// How the explained number is computed from a stack's last states.
struct Readout {
  std::vector<float> weights;  // [D] for a row whose share is 1
  std::vector<float> shares;   // [T] per row
  double bias = 0;             // added whatever the states are
  double rounding = 0;         // the rest of the number
};

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

// Returns the patch that removes a column of this stack from a run: zeros in the tensor that it
// writes. Returns nothing for columns that have no tensor of their own.
std::optional<Patch> without(const LogitColumn& column, std::string_view stack) {
  Patch zeros = {.name = {}, .value = {0.0f}};
  switch (column.kind) {
    case Kind::embed_tokens:
    case Kind::embed_patches:
    case Kind::embed_positions:
    case Kind::embed_types:
      zeros.name = std::string(stack) + "." + to_string(column);
      return zeros;
    case Kind::head:
    case Kind::cross_head: {
      const bool cross = column.kind == Kind::cross_head;
      zeros.name =
          layer_name(stack, column.layer, cross ? "encoder_attn.context" : "self_attn.context");
      zeros.heads = {column.head};
      return zeros;
    }
    case Kind::recurrent:
      zeros.name = layer_name(stack, column.layer, "self_attn.output");
      return zeros;
    case Kind::feed_forward:
      zeros.name = layer_name(stack, column.layer, "fc2");
      return zeros;
    case Kind::bias:
    case Kind::rounding:
      break;
  }
  return std::nullopt;
}

// Propagates the answer's gradient back along the residual stream, and enters what each part adds.
class Bookkeeper {
 public:
  Bookkeeper(const ExplainedStack& of, Compute compute, std::span<const TracedTensor> trace)
      : stack_(of.stack),
        input_(of.input),
        config_(stack_.config()),
        name_(of.name),
        trace_(trace) {
    attribution_.columns = columns_of(stack_, compute);
    own_tokens_ = attribution_.tokens = traced(0, "input").shape[0];
    width_ = config_.d_model;
    gradient_.resize(own_tokens_ * width_);
    if (attends(stack_)) attribution_.tokens += traced(0, "encoder_attn.v").shape[0];
    attribution_.written.resize(attribution_.tokens * attribution_.columns.size());
    attribution_.read = attribution_.written;
  }

  void lead_back(const Readout& readout);
  void lead_back_stack();
  LogitAttribution take() { return std::move(attribution_); }

 private:
  const TracedTensor& traced(std::string_view name) const {
    return find_traced(trace_, std::string(name_) + "." + std::string(name));
  }
  const TracedTensor& traced(std::size_t layer, std::string_view name) const {
    return find_traced(trace_, layer_name(name_, layer, name));
  }
  float* gradient(std::size_t row) { return gradient_.data() + row * width_; }

  std::size_t column(const LogitColumn& column) const {
    const auto found = std::ranges::find(attribution_.columns, column);
    return static_cast<std::size_t>(found - attribution_.columns.begin());
  }
  void enter_read(std::size_t token, std::size_t column, double amount) {
    attribution_.read[token * attribution_.columns.size() + column] += static_cast<float>(amount);
  }
  void enter(std::size_t token, std::size_t column, double amount) {
    attribution_.written[token * attribution_.columns.size() + column] +=
        static_cast<float>(amount);
    enter_read(token, column, amount);
  }
  bool rounds() const { return attribution_.columns.back().kind == Kind::rounding; }

  void enter_rows(const LogitColumn& column, const TracedTensor& rows, std::span<const float> bias);
  void lead_back_norm(const Norm& norm, const std::vector<float>& input);
  // Calls enter_parts() with the gradient of a sublayer's output, which may have a norm of its own,
  // before it is added to the stream.
  template <class Enter>
  void enter_output(const Norm* norm, const TracedTensor& output, const Enter& enter_parts) {
    if (!norm) return enter_parts();
    const std::vector<float> stream = gradient_;
    lead_back_norm(*norm, output.data);
    enter_parts();
    gradient_ = stream;
  }
  // An attention of a layer, over the stack's own tokens or over the source's.
  struct Site {
    std::string name;
    Kind kind;
    const Linear& out_proj;
    std::size_t first_key;  // index in the attribution's tokens
  };
  void enter_attention(std::size_t layer, const Site& site);
  void enter_recurrent_unit(std::size_t layer);
  void lead_back_layer(std::size_t layer);
  void lead_back_projection(const Linear& projection);
  void enter_embeddings();

  const Stack& stack_;
  const StackInput& input_;
  const StackConfig& config_;
  std::string_view name_;
  std::span<const TracedTensor> trace_;
  LogitAttribution attribution_;
  std::size_t own_tokens_;         // T; those of a source follow
  std::vector<std::size_t> rows_;  // rows that the answer is read from: others have no gradient
  std::vector<float> gradient_;    // [T, D] of the answer with respect to the stream's rows
  std::size_t width_;              // D, or the width of embeddings that are projected to it
};

// Returns the stream after an addition.
std::vector<float> sum_of(const TracedTensor& stream, const TracedTensor& added) {
  std::vector<float> sum = stream.data;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += added.data[i];
  return sum;
}

// Returns act(u) / u, the effect of a dense layer's activation here, as a multiplier.
double multiplier(Activation activation, double before, double after) {
  if (before != 0) return after / before;
  if (activation == Activation::tanh || activation == Activation::linear) return 1;
  return activation == Activation::relu ? 0.0 : 0.5;
}

// Adds a layer's output to a readout.
void add_output(const Linear& layer, std::size_t output, double scale, Readout& readout) {
  std::vector<float> row(layer.in());
  layer.copy_output(output, row);
  readout.weights.resize(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    readout.weights[i] += static_cast<float>(scale) * row[i];
  }
  if (!layer.bias().empty()) readout.bias += scale * static_cast<double>(layer.bias()[output]);
}

void add_outputs(const Linear& layer, const Contrast& contrast, Readout& readout) {
  for (std::size_t c = 0; c < contrast.weights.size(); ++c) {
    if (contrast.weights[c] == 0.0f) continue;
    add_output(layer, c, static_cast<double>(contrast.weights[c]), readout);
  }
}

// A cap's effect on each output here is a multiplier, like an activation's.
void add_capped_outputs(const LanguageModel& model, const Contrast& contrast, const float* input,
                        const float* capped, Readout& readout) {
  const Linear& layer = model.lm_head();
  const auto scale = static_cast<double>(model.scale_of_states());
  std::vector<float> row(layer.in());
  for (std::size_t c = 0; c < contrast.weights.size(); ++c) {
    if (contrast.weights[c] == 0.0f) continue;
    layer.copy_output(c, row);
    const double bias = layer.bias().empty() ? 0.0 : static_cast<double>(layer.bias()[c]);
    const double before = scale * dot(row.data(), input, row.size()) + bias;
    const double factor = multiplier(Activation::tanh, before, static_cast<double>(capped[c]));
    add_output(layer, c, static_cast<double>(contrast.weights[c]) * factor, readout);
  }
}

Readout readout_of(const EncoderModel& model, std::span<const TracedTensor> trace,
                   const Contrast& contrast) {
  const SequenceHead& head = head_of(model);
  Readout readout;
  add_outputs(head.classifier(), contrast, readout);
  if (const DenseLayer* dense = head.dense()) {
    const std::vector<float>&pooled = find_traced(trace, "pooled").data,
          &after = find_traced(trace, "head.dense").data;
    if (const Norm* norm = dense->norm()) {
      if (norm->bias()) readout.bias += dot(readout.weights.data(), norm->bias(), after.size());
      frozen_norm_backward(*norm, after.data(), readout.weights);
    }
    const std::vector<float> outer = std::exchange(readout.weights, {});
    const Linear& linear = dense->linear();
    std::vector<float> row(linear.in());
    for (std::size_t k = 0; k < outer.size(); ++k) {
      linear.copy_output(k, row);
      const double bias = linear.bias().empty() ? 0.0 : static_cast<double>(linear.bias()[k]);
      const double before = dot(row.data(), pooled.data(), row.size()) + bias;
      const double factor = multiplier(dense->activation(), before, static_cast<double>(after[k]));
      add_output(linear, k, static_cast<double>(outer[k]) * factor, readout);
    }
  }
  Sequences text;
  text.add(find_traced(trace, layer_name(last_stack(model).name, 0, "input")).shape[0]);
  readout.shares.resize(text.tokens());
  head.pooling().weigh(text, 0, readout.shares);
  return readout;
}

Readout readout_of(const LanguageModel& model, const NextTokenRun& run, const Contrast& contrast) {
  const TracedTensor& states = find_traced(run.trace, "decoder.output");
  const std::size_t tokens = states.shape[0], width = states.shape[1];
  const float* last = states.data.data() + (tokens - 1) * width;
  const float scale = model.scale_of_states();
  Readout readout;
  if (model.caps_logits()) {
    add_capped_outputs(model, contrast, last, run.logits.data(), readout);
  } else {
    add_outputs(model.lm_head(), contrast, readout);
  }
  for (float& weight : readout.weights) weight *= scale;
  readout.shares.resize(tokens);
  readout.shares.back() = 1;
  readout.rounding =
      contrast.of(run.logits.data()) - dot(readout.weights.data(), last, width) - readout.bias;
  return readout;
}

void Bookkeeper::lead_back(const Readout& readout) {
  for (std::size_t i = 0; i < own_tokens_; ++i) {
    if (readout.shares[i] == 0.0f) continue;
    rows_.push_back(i);
    for (std::size_t c = 0; c < config_.d_model; ++c) {
      gradient(i)[c] = readout.shares[i] * readout.weights[c];
    }
    const double share = static_cast<double>(readout.shares[i]);
    enter(i, column({.kind = Kind::bias}), share * readout.bias);
    if (rounds()) enter(i, column({.kind = Kind::rounding}), share * readout.rounding);
  }
}

void Bookkeeper::lead_back_norm(const Norm& norm, const std::vector<float>& input) {
  const std::size_t width = width_;
  for (const std::size_t i : rows_) {
    float* const a = gradient(i);
    if (norm.bias()) enter(i, column({.kind = Kind::bias}), dot(a, norm.bias(), width));
    frozen_norm_backward(norm, input.data() + i * width, {a, width});
  }
}

void Bookkeeper::enter_rows(const LogitColumn& writer, const TracedTensor& rows,
                            std::span<const float> bias) {
  const std::size_t width = width_;
  for (const std::size_t i : rows_) {
    const double of_bias = bias.empty() ? 0.0 : dot(gradient(i), bias.data(), width);
    enter(i, column(writer), dot(gradient(i), rows.data.data() + i * width, width) - of_bias);
    enter(i, column({.kind = Kind::bias}), of_bias);
  }
}

void Bookkeeper::enter_attention(std::size_t layer, const Site& site) {
  const Linear& out_proj = site.out_proj;
  const std::vector<float> weights = dense_weights(out_proj);  // [D, E]
  const TracedTensor &context = traced(layer, site.name + ".context"),
                     &v = traced(layer, site.name + ".v"),
                     &attention = traced(layer, site.name + ".weights"),
                     &output = traced(layer, site.name + ".output");
  const std::size_t keys = v.shape[0], kv_heads = v.shape[1], d_head = v.shape[2];
  const std::size_t d_heads = out_proj.in(), shared = config_.n_heads() / kv_heads;
  const std::size_t first = column({.kind = site.kind, .layer = layer});
  std::vector<float> led_back(d_heads);  // W_Oᵀ a
  for (const std::size_t i : rows_) {
    const float* a = gradient(i);
    std::ranges::fill(led_back, 0.0f);
    for (std::size_t c = 0; c < config_.d_model; ++c) {
      const float* row = weights.data() + c * d_heads;
      for (std::size_t e = 0; e < d_heads; ++e) led_back[e] += a[c] * row[e];
    }
    const double of_bias =
        out_proj.bias().empty() ? 0.0 : dot(a, out_proj.bias().data(), config_.d_model);
    enter(i, column({.kind = Kind::bias}), of_bias);
    double rounding = dot(a, output.data.data() + i * config_.d_model, config_.d_model) - of_bias;
    double read_rounding = rounding;
    for (std::size_t head = 0; head < config_.n_heads(); ++head) {
      const float* back = led_back.data() + head * d_head;
      const double part = dot(context.data.data() + i * d_heads + head * d_head, back, d_head);
      attribution_.written[i * attribution_.columns.size() + first + head] =
          static_cast<float>(part);
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
    if (!rounds()) continue;
    const std::size_t last = attribution_.columns.size() - 1;
    attribution_.written[i * attribution_.columns.size() + last] += static_cast<float>(rounding);
    enter_read(i, last, read_rounding);
  }
}

void Bookkeeper::enter_recurrent_unit(std::size_t layer) {
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
    attribution_.written[i * attribution_.columns.size() + unit] += static_cast<float>(written);
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
void Bookkeeper::lead_back_projection(const Linear& projection) {
  const std::vector<float> weights = dense_weights(projection);  // [D, E]
  const std::size_t inputs = projection.in();
  std::vector<float> of_inputs(own_tokens_ * inputs);
  for (const std::size_t i : rows_) {
    const float* const a = gradient(i);
    enter(i, column({.kind = Kind::bias}), dot(a, projection.bias().data(), width_));
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

void Bookkeeper::enter_embeddings() {
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

void Bookkeeper::lead_back_layer(std::size_t layer) {
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
  if (post) {
    lead_back_norm(*block.self_attn_layer_norm(),
                   sum_of(traced(layer, "input"), traced(layer, "self_attn.output")));
  }
  if (is_recurrent(config_)) return enter_recurrent_unit(layer);
  enter_output(block.self_attn_output_norm(), traced(layer, "self_attn.output"), [&] {
    enter_attention(layer, {"self_attn", Kind::head, block.self_attn().out_proj(), 0});
  });
}

void Bookkeeper::lead_back_stack() {
  if (const Norm* norm = stack_.layer_norm()) {
    lead_back_norm(*norm, traced(config_.layers.size() - 1, "output").data);
  }
  for (std::size_t layer = config_.layers.size(); layer-- > 0;) lead_back_layer(layer);
  enter_embeddings();
}

}  // namespace

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

double LogitAttribution::sum(const std::vector<float>& view) const {
  double sum = 0;
  for (const float part : view) sum += static_cast<double>(part);
  return sum;
}

namespace {

std::vector<std::string> tensors_of(const Stack& stack, const std::string& name) {
  const StackConfig& config = stack.config();
  expect_residuals(config, "direct_logit_attribution");
  std::vector<std::string> names = stream_tensors(config.layers.size(), name);
  names.push_back(name + (reads_pictures(config) ? ".embed_patches" : ".embed_tokens"));
  if (has_positions(config)) names.push_back(name + ".embed_positions");
  if (has_types(config)) names.push_back(name + ".embed_types");
  const std::string layers = name + ".layers.*.";
  const auto add = [&](const std::string& sublayer, std::initializer_list<const char*> parts) {
    for (const char* part : parts) names.push_back(layers + sublayer + part);
    if (config.layers[0].norm == NormPlacement::post)
      names.push_back(layers + sublayer + "_layer_norm");
  };
  const auto attention = {".v", ".weights", ".context", ".output"};
  if (is_recurrent(config)) {
    add("self_attn", {".candidate", ".gate", ".state", ".output"});
  } else {
    add("self_attn", attention);
  }
  if (attends(stack)) add("encoder_attn", attention);
  names.push_back(layers + "fc2");
  return names;
}

LogitAttribution attribution_of(const ExplainedStack& of, Compute compute,
                                std::span<const TracedTensor> trace, const Readout& readout) {
  Bookkeeper bookkeeper(of, compute, trace);
  bookkeeper.lead_back(readout);
  bookkeeper.lead_back_stack();
  return bookkeeper.take();
}

}  // namespace

std::vector<std::string> attribution_tensors(const EncoderModel& model) {
  const ExplainedStack of = last_stack(model);
  std::vector<std::string> names = tensors_of(of.stack, std::string(of.name));
  names.emplace_back("pooled");
  names.emplace_back("logits");
  if (model.head_config().dense) names.emplace_back("head.dense");
  return names;
}

std::vector<std::string> attribution_tensors(const LanguageModel& model) {
  std::vector<std::string> names = tensors_of(model.decoder().stack(), "decoder");
  names.emplace_back("decoder.output");
  return names;
}

LogitAttribution direct_logit_attribution(const EncoderModel& model,
                                          std::span<const TracedTensor> trace,
                                          const Contrast& contrast) {
  const Readout readout = readout_of(model, trace, contrast);
  LogitAttribution attribution = attribution_of(last_stack(model), model.compute(), trace, readout);
  attribution.value = contrast.of(find_traced(trace, "logits").data.data());
  return attribution;
}

LogitAttribution direct_logit_attribution(const LanguageModel& model, const NextTokenRun& run,
                                          const Contrast& contrast) {
  const Readout readout = readout_of(model, run, contrast);
  LogitAttribution attribution = attribution_of(explained_stack(model.decoder(), "decoder"),
                                                model.compute(), run.trace, readout);
  attribution.value = contrast.of(run.logits.data());
  return attribution;
}

void measure_effects(const EncoderRunner& model, const ExplainedText& text, const Stream& stream,
                     const Contrast& contrast, LogitAttribution& attribution) {
  attribution.effects.assign(attribution.columns.size(), 0.0f);
  for (std::size_t c = 0; c < attribution.columns.size(); ++c) {
    const LogitColumn& column = attribution.columns[c];
    const std::optional<Patch> zero = without(column, last_stack(model.model).name);
    if (!zero) continue;
    double left = 0;
    if (model->decoder()) {
      left = contrast.of(run_input(model, text, {.patches = {*zero}}).logits.data());
    } else if (column.kind == Kind::head || column.kind == Kind::feed_forward) {
      Sequences one;
      one.add(stream.tokens);
      RowEdit zeros = {.sequence = 0};
      if (column.kind == Kind::head) zeros.head = column.head;
      RowEditor editor(zero->name, one, std::span(&zeros, 1));
      const ConstView states =
          const_view(stream.row(column.layer, 0).data(), {stream.tokens, stream.d_model});
      left = contrast.of(model.resume(one, column.layer, states, &editor).data());
    } else {
      left = contrast.of(run_input(model, text, {.patches = {*zero}}).logits.data());
    }
    attribution.effects[c] = static_cast<float>(attribution.value - left);
  }
}

float effect_of(const WriterRunner& model, const DecodedText& text, const Contrast& contrast,
                double value, const LogitColumn& column) {
  const std::optional<Patch> zero = without(column, "decoder");
  if (!zero) return 0;
  const NextTokenRun run = run_to_next_token(model, text, {.patches = {*zero}});
  return static_cast<float>(value - contrast.of(run.logits.data()));
}

}  // namespace glassformer
