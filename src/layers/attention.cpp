#include "layers/attention.hpp"

#include <algorithm>
#include <limits>

#include "kernels/kernels.hpp"
#include "layers/softmax_attention.hpp"

namespace glassformer {
namespace {

void softmax_within(std::size_t window, const HeadInput& in, const HeadOutput& out,
                    Workspace& workspace) {
  // What goes into 8-bit products must be the same on every machine: the last bit decides to which
  // integer a number is rounded.
  const auto attend = in.compute == Compute::int8 ? integer_softmax_attention : softmax_attention;
  attend(in, out, window, workspace);
}

}  // namespace

std::span<float> AttentionMap::at(std::size_t layer, std::size_t head) {
  return std::span(data).subspan((layer * heads + head) * queries * keys, queries * keys);
}

std::span<const float> AttentionMap::at(std::size_t layer, std::size_t head) const {
  return std::span(data).subspan((layer * heads + head) * queries * keys, queries * keys);
}

void FullAttention::attend(const HeadInput& in, const HeadOutput& out, Workspace& workspace) const {
  softmax_within(std::numeric_limits<std::size_t>::max(), in, out, workspace);
}

void LocalAttention::attend(const HeadInput& in, const HeadOutput& out,
                            Workspace& workspace) const {
  softmax_within(window_, in, out, workspace);
}

void LinearAttention::attend(const HeadInput& in, const HeadOutput& out, Workspace&) const {
  const Kernels& run = kernels();
  const std::size_t d = in.d_head;
  const std::size_t keys = in.visible.size();

  // A column of ones beside v makes the last column of every sum below the normaliser.
  auto features_k = Tensor<2>::from_shape({keys, d});  // φ(k)
  auto values = Tensor<2>::from_shape({keys, d + 1});  // [v, 1]
  for (std::size_t j = 0; j < keys; ++j) {
    run.elu_plus_one(&features_k(j, 0), in.k + in.visible[j] * in.stride, d);
    std::copy_n(in.v + in.visible[j] * in.stride, d, &values(j, 0));
    values(j, d) = 1.0f;
  }
  Tensor<2> state({d, d + 1}, 0.0f);  // Σ φ(k) [v, 1]ᵀ
  for (std::size_t j = 0; j < keys; ++j) {
    for (std::size_t i = 0; i < d; ++i) {
      run.add_scaled(&state(i, 0), &values(j, 0), d + 1, features_k(j, i));
    }
  }

  auto features_q = Tensor<1>::from_shape({d});  // φ(q) of one query
  auto sums = Tensor<1>::from_shape(
      {d + 1});  // φ(q) · state: the context before it is normalised, the normaliser
  for (std::size_t i = 0; i < in.length; ++i) {
    run.elu_plus_one(features_q.data(), in.q + i * in.stride, d);
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (std::size_t c = 0; c < d; ++c) {
      run.add_scaled(sums.data(), &state(c, 0), d + 1, features_q(c));
    }
    const float inverse = keys > 0 ? 1.0f / sums(d) : 0.0f;
    run.scale(out.context + i * out.stride, sums.data(), d, inverse);
    if (out.weights.empty()) continue;
    for (std::size_t j = 0; j < keys; ++j) {
      float product = 0.0f;
      for (std::size_t c = 0; c < d; ++c) product += features_q(c) * features_k(j, c);
      out.weights[i * in.length + in.visible[j]] = product * inverse;
    }
  }
}

MultiHeadAttention::MultiHeadAttention(std::size_t d_model, std::size_t n_heads, Bias bias,
                                       std::unique_ptr<const AttentionKind> kind, Compute compute)
    : n_heads_(n_heads),
      d_head_(d_model / n_heads),
      bias_(bias),
      compute_(compute),
      kind_(std::move(kind)),
      qkv_proj_(d_model, 3 * d_model, compute),
      out_proj_(d_model, d_model, compute) {}

void MultiHeadAttention::declare(const ParameterScope& scope) {
  const std::size_t d_model = out_proj_.in();
  qkv_proj_.declare(scope.scope("q_proj"), 0, d_model, bias_);
  qkv_proj_.declare(scope.scope("k_proj"), d_model, d_model, bias_);
  qkv_proj_.declare(scope.scope("v_proj"), 2 * d_model, d_model, bias_);
  out_proj_.declare(scope.scope("out_proj"), bias_);
}

void MultiHeadAttention::add_to(View<2> x, const ConstView<2>& input, const Batch& batch,
                                const Inspection& inspection, Workspace& workspace) const {
  const std::size_t n = batch.tokens();
  const std::size_t d_model = out_proj_.in();
  View<2> qkv = rows(workspace.qkv, 0, n);          // [N, 3 D]
  View<2> context = rows(workspace.context, 0, n);  // [N, D]
  qkv_proj_(input, qkv, workspace);

  for (std::size_t s = 0; s < batch.size(); ++s) {
    for (std::size_t head = 0; head < n_heads_; ++head) {
      const float* q = &qkv(batch.start(s), head * d_head_);
      const HeadInput in = {.q = q,
                            .k = q + d_model,
                            .v = q + 2 * d_model,
                            .stride = 3 * d_model,
                            .length = batch.length(s),
                            .d_head = d_head_,
                            .compute = compute_,
                            .visible = batch.visible(s)};
      HeadOutput out = {
          .context = &context(batch.start(s), head * d_head_), .stride = d_model, .weights = {}};
      if (!inspection.maps.empty()) out.weights = inspection.maps[s].at(inspection.layer, head);
      kind_->attend(in, out, workspace);
    }
  }

  for (std::size_t head : inspection.ablated) {
    for (std::size_t i = 0; i < n; ++i) {
      std::fill_n(&context(i, head * d_head_), d_head_, 0.0f);
    }
  }
  out_proj_(const_view(context), x, workspace, Epilogue::accumulate);
}

}  // namespace glassformer
