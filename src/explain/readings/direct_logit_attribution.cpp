#include "explain/readings/direct_logit_attribution.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "explain/interventions/row_edits.hpp"
#include "explain/readings/rollout.hpp"
#include "explain/readings/stream_ledger.hpp"
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

}  // namespace

double StreamParts::sum(const std::vector<float>& view) const {
  double sum = 0;
  for (const float part : view) sum += static_cast<double>(part);
  return sum;
}

namespace {

std::vector<std::string> tensors_of(const Stack& stack, std::string_view name) {
  const StackConfig& config = stack.config();
  expect_residuals(config, "direct_logit_attribution");
  std::vector<std::string> names = ledger_tensors(stack, name, config.layers.size());
  names.push_back(layer_name(name, config.layers.size() - 1, "output"));
  return names;
}

LogitAttribution attribution_of(const ExplainedStack& of, Compute compute,
                                std::span<const TracedTensor> trace, const Readout& readout,
                                const StreamLedger::Observer& observer) {
  StreamLedger ledger(of, compute, trace);
  ledger.observe(observer);
  std::vector<float> gradient(readout.weights.size());
  for (std::size_t i = 0; i < ledger.rows(); ++i) {
    if (readout.shares[i] == 0.0f) continue;
    for (std::size_t c = 0; c < gradient.size(); ++c) {
      gradient[c] = readout.shares[i] * readout.weights[c];
    }
    ledger.read_row(i, gradient);
    const double share = static_cast<double>(readout.shares[i]);
    ledger.enter(i, Kind::bias, share * readout.bias);
    if (compute != Compute::f32) ledger.enter(i, Kind::rounding, share * readout.rounding);
  }
  ledger.lead_back_stack();
  return {ledger.take()};
}

}  // namespace

std::vector<std::string> attribution_tensors(const EncoderModel& model) {
  const ExplainedStack of = last_stack(model);
  std::vector<std::string> names = tensors_of(of.stack, of.name);
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
                                          const Contrast& contrast,
                                          const StreamLedger::Observer& observer) {
  const Readout readout = readout_of(model, trace, contrast);
  LogitAttribution attribution =
      attribution_of(last_stack(model), model.compute(), trace, readout, observer);
  attribution.value = contrast.of(find_traced(trace, "logits").data.data());
  return attribution;
}

LogitAttribution direct_logit_attribution(const LanguageModel& model, const NextTokenRun& run,
                                          const Contrast& contrast,
                                          const StreamLedger::Observer& observer) {
  const Readout readout = readout_of(model, run, contrast);
  LogitAttribution attribution = attribution_of(explained_stack(model.decoder(), "decoder"),
                                                model.compute(), run.trace, readout, observer);
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
