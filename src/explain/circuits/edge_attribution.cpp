#include "explain/circuits/edge_attribution.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "explain/traced.hpp"
#include "kernels/kernels.hpp"
#include "kernels/learning.hpp"

namespace glassformer {
namespace {

using NodeKind = CircuitNode::Kind;
using InputKind = CircuitInput::Kind;

std::string stack_name(bool encoder) { return encoder ? "encoder" : "decoder"; }
std::string embeddings_name(bool encoder) { return stack_name(encoder) + ".embed_tokens"; }

std::string layer_tensor(bool encoder, std::size_t layer, const std::string& name) {
  return layer_name(stack_name(encoder), layer, name);
}

// The name of the tensor that a node's output is computed from.
std::string tensor_of(const CircuitNode& node) {
  switch (node.kind) {
    case NodeKind::embeddings:
      return layer_tensor(node.encoder, 0, "input");
    case NodeKind::head:
      return layer_tensor(node.encoder, node.layer, "self_attn.context");
    case NodeKind::cross_head:
      return layer_tensor(node.encoder, node.layer, "encoder_attn.context");
    case NodeKind::feed_forward:
      break;
  }
  return layer_tensor(node.encoder, node.layer, "fc2");
}

// The name of the tensor that is computed from an input: queries, keys, values, or a normed stream.
std::string tensor_of(const CircuitInput& input) {
  const std::string site = input.cross ? "encoder_attn." : "self_attn.";
  switch (input.kind) {
    case InputKind::query:
      return layer_tensor(input.encoder, input.layer, site + "q");
    case InputKind::key:
      return layer_tensor(input.encoder, input.layer, site + "k");
    case InputKind::value:
      return layer_tensor(input.encoder, input.layer, site + "v");
    case InputKind::feed_forward:
      return layer_tensor(input.encoder, input.layer, "final_layer_norm");
    case InputKind::logits:
      break;
  }
  return stack_name(input.encoder) + ".layer_norm";
}

bool is_head(const CircuitInput& input) {
  return input.kind != InputKind::feed_forward && input.kind != InputKind::logits;
}

// Whether what an input reads are the encoder's rows.
bool reads_encoder(const CircuitInput& input) {
  return input.encoder ||
         (input.cross && (input.kind == InputKind::key || input.kind == InputKind::value));
}

Attention::Side side_of(InputKind kind) {
  return kind == InputKind::query ? Attention::Side::query
         : kind == InputKind::key ? Attention::Side::key
                                  : Attention::Side::value;
}

void add(std::span<const float> x, std::vector<float>& sum, float factor = 1.0f) {
  kernels().add_scaled(sum.data(), x.data(), sum.size(), factor);
}

std::vector<float> log_probabilities(std::span<const float> logits) {
  const float total = writing_kernels().log_sum_exp(logits.data(), logits.size());
  std::vector<float> result(logits.begin(), logits.end());
  for (float& each : result) each -= total;
  return result;
}

}  // namespace

CircuitRuns::CircuitRuns(CircuitSubject subject, CircuitMetric metric, Ablation ablation)
    : subject_(std::move(subject)),
      metric_(metric),
      graph_(subject_.texts->encoder(), subject_.texts->decoder()) {
  for (StreamCatcher* run : {&clean_run_, &corrupt_run_}) {
    catch_outputs(*run);
    for (const CircuitNode& node : graph_.nodes()) {
      if (node.kind == NodeKind::embeddings) run->copy(embeddings_name(node.encoder));
    }
  }
  clean_logits_ = logits_with(clean_run_, false);
  clean_ = number(clean_logits_);
  corrupt_ = number(logits_with(corrupt_run_, true));

  clean_outputs_ = outputs(clean_run_);
  instead_ = outputs(corrupt_run_);
  const std::size_t width = this->width();
  for (std::vector<float>& rows : instead_) {
    if (ablation == Ablation::zero) set_to_zero(rows);
    if (ablation != Ablation::mean) continue;
    std::vector<float> mean(width);
    const std::size_t count = rows.size() / width;
    for (std::size_t i = 0; i < count; ++i) {
      add(std::span(rows).subspan(i * width, width), mean, 1.0f / static_cast<float>(count));
    }
    for (std::size_t i = 0; i < count; ++i) {
      std::ranges::copy(mean, rows.begin() + static_cast<std::ptrdiff_t>(i * width));
    }
  }
  // The stream without its nodes has the biases of output projections. They are the same in all
  // runs, so the stream that an input reads is that of the clean text, with other outputs.
  const std::vector<CircuitInput>& inputs = graph_.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool again =
        i > 0 && inputs[i].first == inputs[i - 1].first && inputs[i].end == inputs[i - 1].end;
    if (!again) streams_.push_back(stream_without(inputs[i]));
    stream_of_.push_back(streams_.size() - 1);
  }
}

// Returns what an input reads if nothing is kept.
std::vector<float> CircuitRuns::stream_without(const CircuitInput& input) const {
  const bool encoder = reads_encoder(input);
  const std::size_t width = this->width();
  std::vector<float> stream(subject_.texts->tokens(encoder) * width);
  for (std::size_t u = input.first; u < input.end; ++u) add(instead_[u], stream);
  for (std::size_t u = input.first; u < input.end; ++u) {
    const CircuitNode& node = graph_.nodes()[u];
    const bool cross = node.kind == NodeKind::cross_head;
    if ((node.kind != NodeKind::head && !cross) || node.head > 0) continue;
    const Block& block = stack(encoder).block(node.layer);
    const std::span<const float> bias =
        (cross ? block.encoder_attn() : block.self_attn()).out_proj().bias();
    for (std::size_t i = 0; !bias.empty() && i < stream.size(); ++i) stream[i] += bias[i % width];
  }
  return stream;
}

const Attention& CircuitRuns::attention(const CircuitInput& input) const {
  const Block& block = stack(input.encoder).block(input.layer);
  return input.cross ? block.encoder_attn() : block.self_attn();
}

const Norm& CircuitRuns::norm(const CircuitInput& input) const {
  if (reads_encoder(input) && !input.encoder) return *stack(true).layer_norm();
  if (input.kind == InputKind::logits) return *stack(input.encoder).layer_norm();
  const Block& block = stack(input.encoder).block(input.layer);
  if (input.kind == InputKind::feed_forward) return *block.final_layer_norm();
  return input.cross ? *block.encoder_attn_layer_norm() : *block.self_attn_layer_norm();
}

FrozenProjection CircuitRuns::projection(const CircuitInput& input) const {
  const Attention& attention = this->attention(input);
  const AttentionConfig& config = attention.config();
  const bool query = input.kind == InputKind::query;
  return attention.frozen_projection(
      side_of(input.kind), query ? input.head : input.head * config.n_heads / config.n_kv_heads);
}

std::vector<float> CircuitRuns::normed(const CircuitInput& input,
                                       const std::vector<float>& stream) const {
  const std::size_t width = this->width(), count = stream.size() / width;
  std::vector<float> rows(stream.size());
  norm(input)(const_view(stream.data(), {count, width}), view(rows.data(), {count, width}));
  return rows;
}

std::vector<float> CircuitRuns::logits_with(StreamCatcher& catcher, bool corrupt) const {
  session().arena.clear();
  Run run(session(), &catcher);
  const View logits = subject_.texts->run(corrupt, run);
  std::vector<float> result(logits.data(), logits.data() + logits.size());
  expect_finite(result);
  return result;
}

double CircuitRuns::number(std::span<const float> logits) const {
  if (metric_ == CircuitMetric::logit_difference) {
    return subject_.contrast.of(logits.data());
  }
  const std::vector<float> now = log_probabilities(logits);
  if (metric_ == CircuitMetric::log_probability) {
    return static_cast<double>(now[subject_.contrast.label]);
  }
  const std::vector<float> clean = log_probabilities(clean_logits_);
  double divergence = 0;
  for (std::size_t c = 0; c < now.size(); ++c) {
    divergence += std::exp(static_cast<double>(clean[c])) * static_cast<double>(clean[c] - now[c]);
  }
  return -divergence;
}

AnswerTerms CircuitRuns::terms(std::span<const float> logits) const {
  if (metric_ == CircuitMetric::logit_difference) return terms_of(subject_.contrast, 0);
  const std::vector<float> now = log_probabilities(logits);
  std::vector<float> wanted(now.size());
  if (metric_ == CircuitMetric::log_probability) {
    wanted[subject_.contrast.label] = 1;
  } else {
    wanted = log_probabilities(clean_logits_);
    for (float& each : wanted) each = std::exp(each);
  }
  AnswerTerms terms;
  for (std::size_t c = 0; c < now.size(); ++c)
    terms.push_back({0, c, wanted[c] - std::exp(now[c])});
  return terms;
}

void CircuitRuns::catch_outputs(StreamCatcher& catcher) const {
  for (const CircuitNode& node : graph_.nodes()) catcher.copy(tensor_of(node));
}

std::vector<float> CircuitRuns::output_of(std::size_t index, const CaughtRows& rows) const {
  const CircuitNode& node = graph_.nodes()[index];
  if (node.kind == NodeKind::embeddings || node.kind == NodeKind::feed_forward) return rows.data;
  const Block& block = stack(node.encoder).block(node.layer);
  const Linear& projection =
      (node.kind == NodeKind::cross_head ? block.encoder_attn() : block.self_attn()).out_proj();
  out_weights_.resize(graph_.nodes().size());
  std::vector<float>& weights = out_weights_[index - node.head];  // [D, E]
  if (weights.empty()) weights = dense_weights(projection);
  const std::size_t width = projection.out(), d_heads = projection.in();
  const std::size_t heads = stack(node.encoder).config().n_heads(), d_head = d_heads / heads;
  std::vector<float> output(rows.rows() * width);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const float* const context = rows.data.data() + i * d_heads + node.head * d_head;
    for (std::size_t c = 0; c < width; ++c) {
      const float* const row = weights.data() + c * d_heads + node.head * d_head;
      output[i * width + c] = learning_kernels().dot(context, row, d_head);
    }
  }
  return output;
}

CircuitRuns::Matrices CircuitRuns::outputs(const StreamCatcher& run) const {
  Matrices outputs;
  for (std::size_t u = 0; u < graph_.nodes().size(); ++u) {
    outputs.push_back(output_of(u, run.of(tensor_of(graph_.nodes()[u]))));
  }
  return outputs;
}

void CircuitRuns::add_gradients(float share, Matrices& gradients) const {
  StreamCatcher run;
  for (const CircuitNode& node : graph_.nodes()) {
    if (node.kind != NodeKind::embeddings) continue;
    const std::string name = embeddings_name(node.encoder);
    const std::vector<float>&clean = clean_run_.of(name).data,
          &corrupt = corrupt_run_.of(name).data;
    run.change(name, [&clean, &corrupt, share](const CompleteRows& rows) {
      for (std::size_t i = 0; i < rows.count; ++i) {
        for (std::size_t c = 0; c < rows.columns; ++c) {
          const std::size_t at = (rows.first + i) * rows.columns + c;
          rows.data[i * rows.stride + c] = corrupt[at] + share * (clean[at] - corrupt[at]);
        }
      }
    });
  }
  catch_outputs(run);
  std::vector<std::string> names;
  for (const CircuitInput& input : graph_.inputs()) {
    const std::string name = tensor_of(input);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  const auto forward = [&](Run& all) { return subject_.texts->run(false, all); };
  const auto answer = [&](const ConstView& logits) {
    return terms({logits.data(), logits.size()});
  };
  const Gradients found = gradients_of(forward, answer, names, session(), &run);
  const Matrices added = outputs(run);
  const std::size_t width = this->width();
  std::vector<float> stream, read;  // of the inputs that read the same, and normed
  for (std::size_t i = 0; i < graph_.inputs().size(); ++i) {
    const CircuitInput& input = graph_.inputs()[i];
    if (i == 0 || stream_of_[i] != stream_of_[i - 1]) {
      // In this run: what nodes add instead, and the difference.
      stream = streams_[stream_of_[i]];
      for (std::size_t u = input.first; u < input.end; ++u) {
        add(added[u], stream);
        add(instead_[u], stream, -1.0f);
      }
      read.clear();
    }
    const TracedTensor& of_tensor = find_traced(found.tensors, tensor_of(input));
    const std::size_t count = stream.size() / width;
    std::vector<float> gradient(stream.size());
    if (is_head(input)) {
      const FrozenProjection projected = projection(input);
      const std::size_t d_head = projected.bias.size();
      const std::size_t heads = of_tensor.data.size() / count / d_head;
      if (read.empty()) read = normed(input, stream);
      for (std::size_t t = 0; t < count; ++t) {
        const std::span<const float> row =
            std::span(of_tensor.data).subspan((t * heads + input.head) * d_head, d_head);
        projected.lead_back_exactly(row, read.data() + t * width, t, session(),
                                    std::span(gradient).subspan(t * width, width));
      }
    } else {
      gradient = of_tensor.data;
    }
    norm_gradient(norm(input), stream.data(), count, gradient.data());
    add(gradient, gradients[i]);
  }
}

std::vector<float> CircuitRuns::scores(std::size_t steps) const {
  Matrices gradients;
  for (const std::size_t stream : stream_of_) gradients.emplace_back(streams_[stream].size());
  if (steps == 0) add_gradients(1.0f, gradients);
  for (std::size_t step = 0; step < steps; ++step) {
    add_gradients((static_cast<float>(step) + 0.5f) / static_cast<float>(steps), gradients);
  }
  const double runs = static_cast<double>(std::max<std::size_t>(steps, 1));
  std::vector<float> scores(graph_.edges());
  for (std::size_t u = 0; u < graph_.nodes().size(); ++u) {
    std::vector<float> difference = instead_[u];
    add(clean_outputs_[u], difference, -1.0f);
    for (std::size_t i = 0; i < graph_.inputs().size(); ++i) {
      const CircuitInput& input = graph_.inputs()[i];
      if (u < input.first || u >= input.end) continue;
      const double product = dot(difference.data(), gradients[i].data(), difference.size());
      scores[graph_.first_edge(i) + u - input.first] = static_cast<float>(product / runs);
    }
  }
  expect_finite(scores);
  return scores;
}

double CircuitRuns::number_with(const std::vector<bool>& kept) const {
  StreamCatcher run;
  Matrices more(graph_.nodes().size());  // what nodes add in this run, minus what is added instead
  for (std::size_t u = 0; u < graph_.nodes().size(); ++u) {
    const CircuitNode& node = graph_.nodes()[u];
    if (node.head != 0) continue;  // all heads of an attention at once
    run.change(tensor_of(node), [this, u, &more, &node](const CompleteRows& rows) {
      CaughtRows caught = {std::vector<float>(rows.count * rows.columns), rows.columns};
      for (std::size_t i = 0; i < rows.count; ++i) {
        std::copy_n(rows.data + i * rows.stride, rows.columns,
                    caught.data.data() + i * rows.columns);
      }
      const bool heads = node.kind == NodeKind::head || node.kind == NodeKind::cross_head;
      const std::size_t count = heads ? stack(node.encoder).config().n_heads() : 1;
      for (std::size_t h = 0; h < count; ++h) {
        const std::vector<float> output = output_of(u + h, caught);
        std::vector<float>& sum = more[u + h];
        sum.resize(instead_[u + h].size());
        const std::size_t at = rows.first * (output.size() / rows.count);
        for (std::size_t i = 0; i < output.size(); ++i) {
          sum[at + i] = output[i] - instead_[u + h][at + i];
        }
      }
    });
  }
  const auto read_by = [&](std::size_t i) {
    const CircuitInput& input = graph_.inputs()[i];
    std::vector<float> stream = streams_[stream_of_[i]];
    for (std::size_t u = input.first; u < input.end; ++u) {
      if (kept[graph_.first_edge(i) + u - input.first]) add(more[u], stream);
    }
    return normed(input, stream);
  };
  for (std::size_t i = 0; i < graph_.inputs().size(); ++i) {
    const CircuitInput& input = graph_.inputs()[i];
    if (input.head != 0) continue;
    run.change(tensor_of(input), [this, i, &read_by, &input](const CompleteRows& rows) {
      const std::size_t d_model = width();
      if (!is_head(input)) {
        const std::vector<float> read = read_by(i);
        for (std::size_t t = 0; t < rows.count; ++t) {
          std::copy_n(read.data() + (rows.first + t) * d_model, d_model,
                      rows.data + t * rows.stride);
        }
        return;
      }
      const std::size_t d_head = rows.columns / rows.heads;
      for (std::size_t h = 0; h < rows.heads; ++h) {
        const std::vector<float> read = read_by(i + h);
        const FrozenProjection projected = projection(graph_.inputs()[i + h]);
        for (std::size_t t = 0; t < rows.count; ++t) {
          projected.project(read.data() + (rows.first + t) * d_model, rows.first + t, session(),
                            {rows.data + t * rows.stride + h * d_head, d_head});
        }
      }
    });
  }
  return number(logits_with(run, false));
}

}  // namespace glassformer
