#include "models/head.hpp"

#include "base/error.hpp"
#include "kernels/kernels.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {
namespace {

Bias bias_of(const HeadConfig& config) { return config.bias ? Bias::present : Bias::none; }

void see(const char* name, Tensor<2>& x, RowsOf of, const Run& run) {
  run.see(name, {.data = x.data(),
                 .first = 0,
                 .count = x.shape(0),
                 .columns = x.shape(1),
                 .stride = x.shape(1),
                 .of = of});
}

Tensor<2> matrix(std::size_t rows, std::size_t columns) {
  checked_product("logits", {rows, columns});
  return Tensor<2>::from_shape({rows, columns});
}

}  // namespace

Tensor<2> Head::contributions(const ConstView<2>&, const Run&) const {
  throw_error(
      ErrorCode::unsupported,
      "contributions: expected a model whose logits are sums over its tokens, got one whose "
      "head is not linear");
}

SequenceHead::SequenceHead(const HeadConfig& config, std::size_t d_model)
    : config_(config),
      pooling_(make_pooling(config.pooling)),
      classifier_(d_model, config.outputs, Compute::f32) {
  if (config.dense) dense_ = std::make_unique<Linear>(d_model, d_model, Compute::f32);
}

void SequenceHead::declare(const ParameterScope& root) {
  if (dense_) dense_->declare(root.scope("head").scope("dense"), Bias::present);
  classifier_.declare(root.scope("classifier"), bias_of(config_));
}

Tensor<2> SequenceHead::operator()(const ConstView<2>& states, const Run& run) const {
  const Sequences& sequences = *run.sequences;
  const std::size_t n = sequences.size();
  Tensor<2> pooled = matrix(n, states.shape(1));  // [B, D]
  (*pooling_)(states, sequences, rows(pooled, 0, n));
  see("pooled", pooled, RowsOf::sequences, run);
  if (dense_) {
    Tensor<2> dense = matrix(n, states.shape(1));
    (*dense_)(const_view(pooled), rows(dense, 0, n), run.workspace);
    kernels().activate(*config_.dense, dense.data(), dense.size());
    see("head.dense", dense, RowsOf::sequences, run);
    pooled = std::move(dense);
  }
  Tensor<2> logits = matrix(n, classifier_.out());
  classifier_(const_view(pooled), rows(logits, 0, n), run.workspace);
  see("logits", logits, RowsOf::sequences, run);
  return logits;
}

Tensor<2> SequenceHead::contributions(const ConstView<2>& states, const Run& run) const {
  if (dense_) return Head::contributions(states, run);
  const Sequences& sequences = *run.sequences;
  const std::size_t classes = classifier_.out();
  Tensor<2> contributions = matrix(sequences.tokens(), classes);
  classifier_.multiply(states, rows(contributions, 0, sequences.tokens()), run.workspace);
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

TokenHead::TokenHead(const HeadConfig& config, std::size_t d_model)
    : config_(config), classifier_(d_model, config.outputs, Compute::f32) {}

void TokenHead::declare(const ParameterScope& root) {
  const char* name = config_.kind == HeadKind::spans ? "qa_outputs" : "classifier";
  classifier_.declare(root.scope(name), bias_of(config_));
}

Tensor<2> TokenHead::operator()(const ConstView<2>& states, const Run& run) const {
  Tensor<2> logits = matrix(states.shape(0), classifier_.out());
  classifier_(states, rows(logits, 0, states.shape(0)), run.workspace);
  see("logits", logits, RowsOf::tokens, run);
  return logits;
}

std::unique_ptr<Head> make_head(const HeadConfig& config, std::size_t d_model) {
  switch (config.kind) {
    case HeadKind::sequence_classes:
      return std::make_unique<SequenceHead>(config, d_model);
    case HeadKind::token_classes:
    case HeadKind::spans:
      return std::make_unique<TokenHead>(config, d_model);
    case HeadKind::vectors:
    case HeadKind::next_token:
      break;
  }
  return nullptr;
}

}  // namespace glassformer
