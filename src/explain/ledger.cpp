#include "explain/ledger.hpp"

#include <algorithm>
#include <cmath>

#include "error.hpp"
#include "explain/row_edits.hpp"
#include "explain/traced.hpp"

namespace glassformer {
namespace {

using Kind = LedgerColumn::Kind;

const SequenceHead& head_of(const EncoderModel& model) {
  if (model.head_config().kind != HeadKind::sequence_classes) {
    throw_error(ErrorCode::unsupported, "ledger: expected a model that classifies texts");
  }
  return static_cast<const SequenceHead&>(model.head());
}

std::vector<LedgerColumn> columns_of(const EncoderModel& model) {
  const StackConfig& config = model.encoder().stack().config();
  std::vector<LedgerColumn> columns = {{.kind = Kind::embed_tokens},
                                       {.kind = Kind::embed_positions}};
  if (config.token_types > 0) columns.push_back({.kind = Kind::embed_types});
  for (std::size_t layer = 0; layer < config.layers; ++layer) {
    for (std::size_t head = 0; head < config.n_heads; ++head) {
      columns.push_back({.kind = Kind::head, .layer = layer, .head = head});
    }
    columns.push_back({.kind = Kind::feed_forward, .layer = layer});
  }
  columns.push_back({.kind = Kind::bias});
  if (model.compute() == Compute::int8) columns.push_back({.kind = Kind::rounding});
  return columns;
}

// The trace's name of what a column writes.
std::string tensor_of(const LedgerColumn& column) {
  switch (column.kind) {
    case Kind::embed_tokens:
      return "encoder.embed_tokens";
    case Kind::embed_positions:
      return "encoder.embed_positions";
    case Kind::embed_types:
      return "encoder.embed_types";
    case Kind::head:
      return encoder_layer_name(column.layer, "self_attn.context");
    case Kind::feed_forward:
      return encoder_layer_name(column.layer, "fc2");
    case Kind::bias:
    case Kind::rounding:
      break;
  }
  return {};
}

// Leads the answer's gradient back along the residual stream, and enters what each writer adds.
class Bookkeeper {
 public:
  Bookkeeper(const EncoderModel& model, std::span<const TracedTensor> trace)
      : stack_(model.encoder().stack()), config_(stack_.config()), trace_(trace) {
    ledger_.columns = columns_of(model);
    ledger_.tokens = traced("encoder.embed_tokens").shape[0];
    ledger_.written.resize(ledger_.tokens * ledger_.columns.size());
    ledger_.read = ledger_.written;
    gradient_.resize(ledger_.tokens * config_.d_model);
  }

  void lead_back_head(const SequenceHead& head, const HeadConfig& config, const Contrast& contrast);
  void lead_back_stack();
  Ledger take() { return std::move(ledger_); }

 private:
  const TracedTensor& traced(std::string_view name) const { return find_traced(trace_, name); }
  const TracedTensor& traced(std::size_t layer, std::string_view name) const {
    return traced(encoder_layer_name(layer, name));
  }
  float* gradient(std::size_t row) { return gradient_.data() + row * config_.d_model; }

  std::size_t column(const LedgerColumn& column) const {
    const auto found = std::ranges::find(ledger_.columns, column);
    return static_cast<std::size_t>(found - ledger_.columns.begin());
  }
  void enter_read(std::size_t token, std::size_t column, double amount) {
    ledger_.read[token * ledger_.columns.size() + column] += static_cast<float>(amount);
  }
  void enter(std::size_t token, std::size_t column, double amount) {
    ledger_.written[token * ledger_.columns.size() + column] += static_cast<float>(amount);
    enter_read(token, column, amount);
  }
  bool rounds() const { return ledger_.columns.back().kind == Kind::rounding; }

  void enter_rows(const LedgerColumn& column, const TracedTensor& rows,
                  std::span<const float> bias);
  void lead_back_norm(const Norm& norm, const std::vector<float>& input);
  void enter_attention(std::size_t layer);
  void enter_embeddings();

  const Stack& stack_;
  const StackConfig& config_;
  std::span<const TracedTensor> trace_;
  Ledger ledger_;
  std::vector<float> gradient_;  // [T, D] of the answer with respect to the stream's rows
};

// The stream after a sum.
std::vector<float> sum_of(const TracedTensor& stream, const TracedTensor& added) {
  std::vector<float> sum = stream.data;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += added.data[i];
  return sum;
}

// act(u) / u, what a dense layer's activation does to its number here, as a multiplier.
double multiplier(Activation activation, double before, double after) {
  if (before != 0) return after / before;
  if (activation == Activation::tanh || activation == Activation::linear) return 1;
  return activation == Activation::relu ? 0.0 : 0.5;
}

void Bookkeeper::lead_back_head(const SequenceHead& head, const HeadConfig& config,
                                const Contrast& contrast) {
  const std::size_t width = config_.d_model, tokens = ledger_.tokens;
  // y = weights · (pooled, or what the dense layer makes of it) + bias
  double bias = 0;
  std::vector<float> weights(width), row(width);
  const auto add_row = [&](const Linear& layer, std::size_t output, double scale) {
    layer.copy_output(output, row);
    for (std::size_t i = 0; i < width; ++i) weights[i] += static_cast<float>(scale) * row[i];
    if (!layer.bias().empty()) bias += scale * static_cast<double>(layer.bias()[output]);
  };
  for (std::size_t c = 0; c < contrast.weights.size(); ++c) {
    add_row(head.classifier(), c, static_cast<double>(contrast.weights[c]));
  }
  if (const Linear* dense = head.dense()) {
    const std::vector<float> outer = std::exchange(weights, std::vector<float>(width));
    const std::vector<float>&pooled = traced("pooled").data, &after = traced("head.dense").data;
    for (std::size_t k = 0; k < width; ++k) {
      dense->copy_output(k, row);
      const double before =
          dot(row.data(), pooled.data(), width) + static_cast<double>(dense->bias()[k]);
      const double factor = multiplier(*config.dense, before, static_cast<double>(after[k]));
      add_row(*dense, k, static_cast<double>(outer[k]) * factor);
    }
  }
  Sequences text;
  text.add(tokens);
  std::vector<float> shares(tokens);
  head.pooling().weigh(text, 0, shares);
  for (std::size_t i = 0; i < tokens; ++i) {
    for (std::size_t c = 0; c < width; ++c) gradient(i)[c] = shares[i] * weights[c];
    enter(i, column({.kind = Kind::bias}), static_cast<double>(shares[i]) * bias);
  }
}

void Bookkeeper::lead_back_norm(const Norm& norm, const std::vector<float>& input) {
  const std::size_t width = config_.d_model;
  const double n = static_cast<double>(width), eps = static_cast<double>(config_.layer_norm_eps);
  const bool centers = config_.layer_norm != NormKind::rms;
  for (std::size_t i = 0; i < ledger_.tokens; ++i) {
    const float* x = input.data() + i * width;
    float* a = gradient(i);
    if (norm.bias()) enter(i, column({.kind = Kind::bias}), dot(a, norm.bias(), width));
    double mean = 0, mean_a = 0, squares = 0;
    for (std::size_t c = 0; c < width; ++c) {
      a[c] *= norm.weight()[c];
      mean += static_cast<double>(x[c]) / n;
      mean_a += static_cast<double>(a[c]) / n;
    }
    if (!centers) mean = mean_a = 0;
    for (std::size_t c = 0; c < width; ++c) {
      const double centered = static_cast<double>(x[c]) - mean;
      squares += centered * centered;
    }
    const double scale = config_.layer_norm == NormKind::unbiased
                             ? std::sqrt(squares / (n - 1)) + eps
                             : std::sqrt(squares / n + eps);
    for (std::size_t c = 0; c < width; ++c) {
      a[c] = static_cast<float>((static_cast<double>(a[c]) - mean_a) / scale);
    }
  }
}

void Bookkeeper::enter_rows(const LedgerColumn& writer, const TracedTensor& rows,
                            std::span<const float> bias) {
  const std::size_t width = config_.d_model;
  for (std::size_t i = 0; i < ledger_.tokens; ++i) {
    const double of_bias = bias.empty() ? 0.0 : dot(gradient(i), bias.data(), width);
    enter(i, column(writer), dot(gradient(i), rows.data.data() + i * width, width) - of_bias);
    enter(i, column({.kind = Kind::bias}), of_bias);
  }
}

void Bookkeeper::enter_attention(std::size_t layer) {
  const Linear& out_proj = stack_.block(layer).self_attn().out_proj();
  const std::vector<float> weights = dense_weights(out_proj);  // [D, E]
  const TracedTensor &context = traced(layer, "self_attn.context"),
                     &v = traced(layer, "self_attn.v"),
                     &attention = traced(layer, "self_attn.weights"),
                     &output = traced(layer, "self_attn.output");
  const std::size_t tokens = ledger_.tokens, d_head = config_.d_head, d_heads = out_proj.in();
  const std::size_t first = column({.kind = Kind::head, .layer = layer});
  std::vector<float> led_back(d_heads);  // W_Oᵀ a
  for (std::size_t i = 0; i < tokens; ++i) {
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
    for (std::size_t head = 0; head < config_.n_heads; ++head) {
      const float* back = led_back.data() + head * d_head;
      const double part = dot(context.data.data() + i * d_heads + head * d_head, back, d_head);
      ledger_.written[i * ledger_.columns.size() + first + head] = static_cast<float>(part);
      rounding -= part;
      const float* shares = attention.data.data() + (head * tokens + i) * tokens;
      for (std::size_t j = 0; j < tokens; ++j) {
        if (shares[j] == 0.0f) continue;
        const double read = static_cast<double>(shares[j]) *
                            dot(v.data.data() + j * d_heads + head * d_head, back, d_head);
        enter_read(j, first + head, read);
        read_rounding -= read;
      }
    }
    if (!rounds()) continue;
    const std::size_t last = ledger_.columns.size() - 1;
    ledger_.written[i * ledger_.columns.size() + last] += static_cast<float>(rounding);
    enter_read(i, last, read_rounding);
  }
}

void Bookkeeper::enter_embeddings() {
  const TracedTensor &tokens = traced("encoder.embed_tokens"),
                     &positions = traced("encoder.embed_positions");
  if (const Norm* norm = stack_.layernorm_embedding()) {
    std::vector<float> sum = sum_of(tokens, positions);
    if (config_.token_types > 0) {
      const TracedTensor& types = traced("encoder.embed_types");
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += types.data[i];
    }
    lead_back_norm(*norm, sum);
  }
  enter_rows({.kind = Kind::embed_tokens}, tokens, {});
  enter_rows({.kind = Kind::embed_positions}, positions, {});
  if (config_.token_types > 0) {
    enter_rows({.kind = Kind::embed_types}, traced("encoder.embed_types"), {});
  }
}

void Bookkeeper::lead_back_stack() {
  const bool post = config_.norm == NormPlacement::post;
  if (const Norm* norm = stack_.layer_norm()) {
    lead_back_norm(*norm, traced(config_.layers - 1, "output").data);
  }
  for (std::size_t layer = config_.layers; layer-- > 0;) {
    const Block& block = stack_.block(layer);
    const TracedTensor& fc2 = traced(layer, "fc2");
    if (post) {
      lead_back_norm(block.final_layer_norm(), sum_of(traced(layer, "self_attn_layer_norm"), fc2));
    }
    enter_rows({.kind = Kind::feed_forward, .layer = layer}, fc2,
               block.feed_forward().fc2().bias());
    if (post) {
      lead_back_norm(block.self_attn_layer_norm(),
                     sum_of(traced(layer, "input"), traced(layer, "self_attn.output")));
    }
    enter_attention(layer);
  }
  enter_embeddings();
}

}  // namespace

std::string to_string(const LedgerColumn& column) {
  const std::string layer = "layers." + std::to_string(column.layer) + ".";
  switch (column.kind) {
    case Kind::embed_tokens:
      return "embed_tokens";
    case Kind::embed_positions:
      return "embed_positions";
    case Kind::embed_types:
      return "embed_types";
    case Kind::head:
      return layer + "self_attn.head." + std::to_string(column.head);
    case Kind::feed_forward:
      return layer + "fc2";
    case Kind::bias:
      return "bias";
    case Kind::rounding:
      break;
  }
  return "rounding";
}

double Ledger::sum(const std::vector<float>& view) const {
  double sum = 0;
  for (const float part : view) sum += static_cast<double>(part);
  return sum;
}

std::vector<std::string> ledger_tensors(const EncoderModel& model) {
  const StackConfig& config = model.encoder().stack().config();
  std::vector<std::string> names = stream_tensors(config.layers);
  for (const char* name : {"encoder.embed_tokens", "encoder.embed_positions", "pooled", "logits"}) {
    names.emplace_back(name);
  }
  if (config.token_types > 0) names.emplace_back("encoder.embed_types");
  if (model.head_config().dense) names.emplace_back("head.dense");
  if (config.norm == NormPlacement::post) {
    names.emplace_back("encoder.layers.*.self_attn_layer_norm");
  }
  for (const char* name :
       {"self_attn.v", "self_attn.weights", "self_attn.context", "self_attn.output", "fc2"}) {
    names.push_back("encoder.layers.*." + std::string(name));
  }
  return names;
}

Ledger ledger(const EncoderModel& model, std::span<const TracedTensor> trace,
              const Contrast& contrast) {
  const SequenceHead& head = head_of(model);
  Bookkeeper bookkeeper(model, trace);
  bookkeeper.lead_back_head(head, model.head_config(), contrast);
  bookkeeper.lead_back_stack();
  Ledger ledger = bookkeeper.take();
  ledger.value = contrast.of(find_traced(trace, "logits").data.data());
  return ledger;
}

void measure_effects(EncoderModel& model, const ExplainedText& text, const Stream& stream,
                     const Contrast& contrast, Ledger& ledger) {
  ledger.effects.assign(ledger.columns.size(), 0.0f);
  for (std::size_t c = 0; c < ledger.columns.size(); ++c) {
    const LedgerColumn& column = ledger.columns[c];
    const std::string name = tensor_of(column);
    if (name.empty()) continue;
    double without = 0;
    if (column.kind == Kind::head || column.kind == Kind::feed_forward) {
      Sequences one;
      one.add(stream.tokens);
      RowEdit zeros = {.sequence = 0};
      if (column.kind == Kind::head) zeros.head = column.head;
      RowEditor editor(name, one, std::span(&zeros, 1));
      const ConstView<2> states =
          const_view<2>(stream.row(column.layer, 0).data(), {stream.tokens, stream.d_model});
      without = contrast.of(model.resume(one, column.layer, states, &editor).data());
    } else {
      const Patch zero = {.name = name, .value = {0.0f}};
      without = contrast.of(model(text.batch(), {.patches = {zero}}).logits.data());
    }
    ledger.effects[c] = static_cast<float>(ledger.value - without);
  }
}

}  // namespace glassformer
