#include "models/heads/head.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "kernels/kernels.hpp"
#include "layers/elementwise/elementwise.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {
namespace {

void trace(const char* name, const View& x, RowsOf of, const Run& run) {
  run.done(name, {.data = x.data(),
                  .first = 0,
                  .count = x.shape(0),
                  .columns = x.shape(1),
                  .stride = x.shape(1),
                  .of = of});
}

std::unique_ptr<DenseLayer> make_dense(const HeadConfig& config, const StackConfig& stack,
                                       std::size_t out) {
  return config.dense ? std::make_unique<DenseLayer>(*config.dense, stack, out) : nullptr;
}

// Computes the logits of every state. `dense` may be null.
View token_logits(const DenseLayer* dense, const Linear& last, ConstView states, const Run& run) {
  const std::size_t n = states.shape(0);
  if (dense) {
    View x = run.make(n, last.in());
    (*dense)(states, x, RowsOf::tokens, run);
    states = const_view(x);
  }
  View logits = run.make(n, last.out());
  last(states, logits, run);
  trace("logits", logits, RowsOf::tokens, run);
  return logits;
}

Tensor matrix(std::size_t rows, std::size_t columns) {
  checked_product("logits", {rows, columns});
  return Tensor::from_shape({rows, columns});
}

}  // namespace

Tensor Head::contributions(const ConstView&, const Run&) const {
  throw_error(
      ErrorCode::unsupported,
      "contributions: expected a model whose logits are sums over its tokens, got one whose "
      "head is not linear");
}

DenseLayer::DenseLayer(const HeadDense& config, const StackConfig& stack, std::size_t out)
    : config_(config), linear_(stack.d_model, out, Compute::f32) {
  if (config.norm) norm_ = make_norm(stack.layer_norm, out);
}

void DenseLayer::declare(const ParameterScope& scope) {
  linear_.declare(scope.scope("dense"), bias_if(config_.bias));
  if (norm_) norm_->declare(scope.scope("layer_norm"));
}

void DenseLayer::operator()(const ConstView& x, View y, RowsOf of, const Run& run) const {
  const Arena::Scope scope(run.arena());
  View dense = run.make(x.shape(0), linear_.out());
  linear_(x, dense, run, config_.activation);
  CompleteRows complete = {.data = dense.data(),
                           .first = 0,
                           .count = dense.shape(0),
                           .columns = dense.shape(1),
                           .stride = dense.shape(1),
                           .of = of};
  run.done("head.dense", complete);
  if (!norm_) {
    scale(const_view(dense), 1.0f, y, run);
    return;
  }
  (*norm_)(const_view(dense), y, run);
  complete.data = y.data();
  run.done("head.layer_norm", complete);
}

SequenceHead::SequenceHead(const HeadConfig& config, const StackConfig& stack, std::size_t width)
    : config_(config),
      pooling_(make_pooling(config.pooling)),
      dense_(make_dense(config, stack, width)),
      classifier_(width, config.outputs, Compute::f32) {
  if (!config.distilled) return;
  distillation_.reset(new Distillation{Linear(stack.d_model, config.outputs, Compute::f32)});
}

void SequenceHead::declare(const ParameterScope& root) {
  if (dense_) dense_->declare(root.scope("head"));
  classifier_.declare(root.scope("classifier"), bias_if(config_.bias));
  if (!distillation_) return;
  distillation_->classifier.declare(root.scope("distillation_classifier"), bias_if(config_.bias));
}

View SequenceHead::operator()(const ConstView& states, const Run& run) const {
  const Sequences& sequences = *run.sequences;
  const std::size_t n = sequences.size();
  View pooled = run.make(n, states.shape(1));  // [B, D]
  (*pooling_)(states, sequences, pooled, run);
  trace("pooled", pooled, RowsOf::sequences, run);
  ConstView read = const_view(pooled);
  if (dense_) {
    View x = run.make(n, classifier_.in());
    (*dense_)(read, x, RowsOf::sequences, run);
    read = const_view(x);
  }
  View logits = run.make(n, classifier_.out());
  classifier_(read, logits, run);
  if (distillation_) {
    View second = run.make(n, states.shape(1));
    distillation_->second(states, sequences, second, run);
    View others = run.make(n, classifier_.out());
    distillation_->classifier(const_view(second), others, run);
    add(logits, const_view(others), run);
    scale(const_view(logits), 0.5f, logits, run);
  }
  trace("logits", logits, RowsOf::sequences, run);
  return logits;
}

Tensor SequenceHead::contributions(const ConstView& states, const Run& run) const {
  if (dense_ || distillation_) return Head::contributions(states, run);
  const Sequences& sequences = *run.sequences;
  const std::size_t classes = classifier_.out();
  Tensor contributions = matrix(sequences.tokens(), classes);
  classifier_.multiply(states, rows(contributions, 0, sequences.tokens()), run.session());
  std::vector<float> weights(sequences.longest());
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    pooling_->weigh(sequences, s, std::span(weights).first(sequences.length(s)));
    for (std::size_t i = 0; i < sequences.length(s); ++i) {
      float* row = &contributions(sequences.start(s) + i, 0);
      kernels().scale(row, row, classes, weights[i]);
    }
  }
  return contributions;
}

TokenHead::TokenHead(const HeadConfig& config, const StackConfig& stack)
    : config_(config),
      dense_(make_dense(config, stack, stack.d_model)),
      classifier_(stack.d_model, config.outputs, Compute::f32) {}

void TokenHead::declare(const ParameterScope& root) {
  if (dense_) dense_->declare(root.scope("head"));
  const char* name = config_.kind == HeadKind::spans ? "qa_outputs" : "classifier";
  classifier_.declare(root.scope(name), bias_if(config_.bias));
}

View TokenHead::operator()(const ConstView& states, const Run& run) const {
  return token_logits(dense_.get(), classifier_, states, run);
}

MaskedTokenHead::MaskedTokenHead(const Architecture& architecture, Compute compute)
    : config_(architecture.head),
      tied_(architecture.embeddings == EmbeddingSharing::tied),
      dense_(make_dense(config_, *architecture.encoder, architecture.encoder->embedding_width())),
      lm_head_(architecture.encoder->embedding_width(), config_.outputs, outside_blocks(compute)) {}

void MaskedTokenHead::declare(const ParameterScope& root) {
  const ParameterScope own = root.scope("lm_head");
  if (dense_) dense_->declare(own);
  lm_head_.declare_weight(tied_ ? root.scope("encoder").scope("embed_tokens") : own);
  if (config_.bias) lm_head_.declare_bias(own);
}

View MaskedTokenHead::operator()(const ConstView& states, const Run& run) const {
  return token_logits(dense_.get(), lm_head_, states, run);
}

std::unique_ptr<Head> make_head(const Architecture& architecture, Compute compute) {
  const HeadConfig& config = architecture.head;
  const StackConfig& stack = *architecture.encoder;
  switch (config.kind) {
    case HeadKind::sequence_classes:
      return std::make_unique<SequenceHead>(config, stack, stack.d_model);
    case HeadKind::token_classes:
    case HeadKind::spans:
      return std::make_unique<TokenHead>(config, stack);
    case HeadKind::masked_tokens:
      return std::make_unique<MaskedTokenHead>(architecture, compute);
    case HeadKind::vectors:
    case HeadKind::next_token:
      break;
  }
  return nullptr;
}

}  // namespace glassformer
