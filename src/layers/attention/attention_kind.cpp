#include "layers/attention/attention_kind.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "layers/attention/softmax_attention.hpp"

namespace glassformer {

void SoftmaxAttention::attend(const HeadInput& in, const HeadOutput& out,
                              AttentionScratch& scratch) const {
  // The input of 8-bit products must be the same on every machine: its last bit decides to which
  // integer a number is rounded.
  const bool integers = in.compute != Compute::f32;
  const auto attend_with = integers ? integer_softmax_attention : softmax_attention;
  attend_with(in, out, reach_, scratch);
}

namespace {

// Computes the context of a query whose weights were replaced. Weights of masked keys are set to 0.
void mix(const HeadInput& in, const HeadOutput& out, std::size_t query, View values) {
  const std::span<float> weights = out.weights.row(query);
  float* const context = out.context + query * out.stride;
  std::fill_n(context, in.d_head, 0.0f);
  std::size_t key = 0;
  for (std::size_t j = 0; j < in.keys.size(); ++j) {
    for (; key < in.keys[j]; ++key) weights[key] = 0.0f;
    kernels().add_scaled(context, &values(j, 0), in.d_head, weights[key++]);
  }
  for (; key < weights.size(); ++key) weights[key] = 0.0f;
}

}  // namespace

void LinearAttention::attend(const HeadInput& in, const HeadOutput& out,
                             AttentionScratch& scratch) const {
  const Kernels& run = kernels();
  const std::size_t d = in.d_head;
  const std::size_t keys = in.keys.size();
  LinearAttentionScratch& buffers = scratch.linear;
  buffers.reserve(keys, d);

  // With a column of ones next to v, the last column of every sum below is the normalizer.
  View features_k = view(buffers.features.data(), {keys, d});  // φ(k)
  View values = view(buffers.values.data(), {keys, d + 1});    // [v, 1]
  for (std::size_t j = 0; j < keys; ++j) {
    run.elu_plus_one(&features_k(j, 0), in.k + in.keys[j] * in.kv_stride, d);
    std::copy_n(in.v + in.keys[j] * in.kv_stride, d, &values(j, 0));
    values(j, d) = 1.0f;
  }
  View state = view(buffers.state.data(), {d, d + 1});  // Σ φ(k) [v, 1]ᵀ
  std::fill_n(state.data(), d * (d + 1), 0.0f);
  for (std::size_t j = 0; j < keys; ++j) {
    for (std::size_t i = 0; i < d; ++i) {
      run.add_scaled(&state(i, 0), &values(j, 0), d + 1, features_k(j, i));
    }
  }

  float* features_q = buffers.query.data();  // [d] φ(q) of one query
  float* sums = features_q + d;  // [d + 1] φ(q) · state: the context before it is normalized, and
                                 // the normalizer
  for (std::size_t i = 0; i < in.queries; ++i) {
    run.elu_plus_one(features_q, in.q + i * in.q_stride, d);
    std::fill_n(sums, d + 1, 0.0f);
    for (std::size_t c = 0; c < d; ++c) {
      run.add_scaled(sums, &state(c, 0), d + 1, features_q[c]);
    }
    const float inverse = keys > 0 ? 1.0f / sums[d] : 0.0f;
    run.scale(out.context + i * out.stride, sums, d, inverse);
    if (!out.weights.data) continue;
    for (std::size_t j = 0; j < keys; ++j) {
      float product = 0.0f;
      for (std::size_t c = 0; c < d; ++c) product += features_q[c] * features_k(j, c);
      out.weights.row(i)[in.keys[j]] = product * inverse;
    }
    if (out.weights.replace(i)) mix(in, out, i, values);
  }
}

}  // namespace glassformer
