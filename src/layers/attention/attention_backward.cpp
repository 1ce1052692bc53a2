#include "layers/attention/attention_backward.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "kernels/learning.hpp"
#include "layers/attention/disentangled/distance_backward.hpp"
#include "layers/attention/disentangled/distance_scores.hpp"
#include "layers/attention/query_blocks.hpp"

namespace glassformer {
namespace {

// Writes the gradients of a head's weights, if they are requested: those of keys that a query does
// not see, too.
void write_weight_gradients(const HeadInput& in, const HeadGradients& gradients) {
  if (!gradients.weights.data) return;
  for (std::size_t i = 0; i < in.queries; ++i) {
    const float* const of_context = gradients.context + i * gradients.stride;
    const std::span<float> row = gradients.weights.row(i);
    for (const std::uint32_t key : in.keys) {
      row[key] = learning_kernels().dot(of_context, in.v + key * in.kv_stride, in.d_head);
    }
  }
}

// tanh(x) / x, from tanh(x).
float share_of_tanh(float tanh) {
  if (std::abs(tanh) < 1e-3f) return 1.0f;
  return 2 * tanh / std::log((1 + tanh) / (1 - tanh));
}

// A head's backward through softmax attention, a block of queries at a time.
class SoftmaxBackward {
 public:
  SoftmaxBackward(const HeadInput& in, const HeadGradients& gradients, Reach reach,
                  AttentionScratch& scratch, Tape& tape)
      : in_(in),
        gradients_(gradients),
        reach_(reach),
        scratch_(scratch),
        tape_(tape),
        run_(kernels()),
        stride_(scratch.scores.shape(1)),
        keys_(in.keys.size()),
        d_head_(in.d_head),
        share_(tape.rules == BackwardRules::attn_lrp ? 0.5f : 1.0f) {
    constexpr std::size_t rows = AttentionScratch::query_rows;
    float* memory = tape.reserve(rows * stride_ + keys_ * rows + 2 * keys_ * d_head_);
    of_scores_ = memory;
    transposed_ = of_scores_ + rows * stride_;
    of_k_ = transposed_ + keys_ * rows;
    of_v_ = of_k_ + keys_ * d_head_;
    set_to_zero({of_k_, 2 * keys_ * d_head_});
    if (gradients.relative) of_bias_.resize(2 * in.queries - 1);
    if (in.cap != 0.0f) slopes_.resize(rows * stride_);
    if (in.distances.table) distances_.emplace(in, gradients);
  }

  void run() {
    pack_keys(in_, scratch_.keys);  // [d_head, keys]
    pack_columns_of_values();       // [d_head, keys]
    pack_rows_of_keys();            // [keys, d_head]
    if (distances_) begin_distance_scores(in_, scratch_);
    each_block(in_, reach_, [&](const QueryBlock& block) {
      weigh(block);
      multiply_by_values(block);
      add_to_keys(weights(), gradients_.context + block.first * gradients_.stride,
                  gradients_.stride, block, of_v_);
      if (tape_.rules == BackwardRules::cp_lrp) return;  // constant weights
      for (std::size_t i = 0; i < block.queries; ++i) turn_row(block, i);
      add_to_queries(block);
      if (distances_) distances_->finish(block);
      add_to_keys(of_scores_, in_.q + block.first * in_.q_stride, in_.q_stride, block, of_k_);
    });
    if (distances_) distances_->finish(rows_of_keys(), of_k_);
    scatter();
    write_weight_gradients(in_, gradients_);
  }

 private:
  float* weights() { return scratch_.scores.data(); }
  PackedMatrix& values() { return scratch_.values; }
  PackedMatrix& rows_of_keys() { return tape_.packed; }

  void pack_columns_of_values() {
    values().reshape(d_head_, keys_);
    for (std::size_t j = 0; j < keys_; ++j) {
      values().set_column(j, {in_.v + in_.keys[j] * in_.kv_stride, d_head_});
    }
  }

  void pack_rows_of_keys() {
    rows_of_keys().reshape(keys_, d_head_);
    for (std::size_t j = 0; j < keys_; ++j) {
      rows_of_keys().set_row(j, {in_.k + in_.keys[j] * in_.kv_stride, d_head_});
    }
  }

  // y [queries, keys] = x [queries, d_head] · columns
  void multiply(const float* x, std::size_t x_stride, const PackedMatrix& columns,
                const QueryBlock& block, float* y) {
    run_.matmul({.a = x,
                 .a_stride = x_stride,
                 .b = columns.data() + block.origin / run_.panel_width * columns.panel_stride(),
                 .panel_stride = columns.panel_stride(),
                 .c = y,
                 .c_stride = stride_,
                 .m = block.queries,
                 .n = block.keys,
                 .k = d_head_});
  }

  // Computes the weights of a block again, as softmax_attention does.
  void weigh(const QueryBlock& block) {
    multiply(in_.q + block.first * in_.q_stride, in_.q_stride, scratch_.keys, block, weights());
    if (distances_) multiply_by_distances(in_, block, scratch_);
    for (std::size_t i = 0; i < block.queries; ++i) {
      float* const row = weights() + i * stride_;
      const auto [begin, end] = keys_of(in_, block, i, reach_);
      float scale = 1.0f / in_.divisor;
      if (in_.biased()) {
        write_bias(in_, block, i, {begin, end}, scratch_, scratch_.bias.data());
        run_.scale(row + begin, row + begin, end - begin, scale);
        run_.add_scaled(row + begin, scratch_.bias.data(), end - begin, 1.0f);
        scale = 1.0f;
      }
      if (in_.cap != 0.0f) {
        cap_scores(in_.cap, row + begin, end - begin, scale);
        set_slopes(i, {begin, end}, row);
      }
      const float sum = begin < end ? run_.exponentials(row + begin, end - begin, scale) : 0.0f;
      run_.scale(row + begin, row + begin, end - begin, sum == 0.0f ? 0.0f : 1.0f / sum);
      std::fill(row, row + begin, 0.0f);
      std::fill(row + end, row + block.keys, 0.0f);
    }
  }

  // Keeps the slopes of a query's capped scores: 1 - tanh².
  void set_slopes(std::size_t query, KeyRange keys, const float* tanh) {
    float* const slopes = slopes_.data() + query * stride_;
    for (std::size_t j = keys.begin; j < keys.end; ++j) {
      slopes[j] = tape_.rules == BackwardRules::gradients ? 1.0f - tanh[j] * tanh[j]
                                                          : share_of_tanh(tanh[j]);
    }
  }

  // The gradients of the weights.
  void multiply_by_values(const QueryBlock& block) {
    multiply(gradients_.context + block.first * gradients_.stride, gradients_.stride, values(),
             block, of_scores_);
  }

  // Turns the gradients of a query's weights into those of its products with the keys.
  void turn_row(const QueryBlock& block, std::size_t query) {
    float* const row = of_scores_ + query * stride_;
    const auto [begin, end] = keys_of(in_, block, query, reach_);
    learning_kernels().softmax_backward(weights() + query * stride_, row, block.keys);
    write_score_gradients(block, query, {begin, end}, row);
    if (in_.cap != 0.0f) {
      run_.multiply(row + begin, slopes_.data() + query * stride_ + begin, end - begin);
    }
    for (std::size_t j = begin; !of_bias_.empty() && j < end; ++j) {
      const std::size_t key = in_.keys[block.origin + j];
      of_bias_[in_.queries - 1 + key - (block.first + query)] += row[j];
    }
    run_.scale(row, row, block.keys, share_ / in_.divisor);
    if (distances_) distances_->add(block, query, {begin, end}, row);
    // A product of queries and keys has two factors; one with the table of distances has one.
    if (share_ != 1.0f) run_.scale(row, row, block.keys, share_);
  }

  void write_score_gradients(const QueryBlock& block, std::size_t query, KeyRange keys,
                             const float* row) {
    if (!gradients_.scores.data) return;
    const std::span<float> to = gradients_.scores.row(block.first + query);
    for (std::size_t j = keys.begin; j < keys.end; ++j) to[in_.keys[block.origin + j]] = row[j];
  }

  void add_to_queries(const QueryBlock& block) {
    run_.matmul({.a = of_scores_,
                 .a_stride = stride_,
                 .b = rows_of_keys().data() + block.origin * run_.panel_width,
                 .panel_stride = rows_of_keys().panel_stride(),
                 .c = gradients_.q + block.first * in_.q_stride,
                 .c_stride = in_.q_stride,
                 .m = block.queries,
                 .n = d_head_,
                 .k = block.keys,
                 .epilogue = Epilogue::accumulate});
  }

  // sums [keys, d_head] += map [queries, keys]ᵀ · x [queries, d_head]
  void add_to_keys(const float* map, const float* x, std::size_t x_stride, const QueryBlock& block,
                   float* sums) {
    learning_kernels().transpose(map, stride_, block.queries, block.keys, transposed_,
                                 block.queries);
    rows_.reshape(block.queries, d_head_);
    for (std::size_t i = 0; i < block.queries; ++i) rows_.set_row(i, {x + i * x_stride, d_head_});
    run_.matmul({.a = transposed_,
                 .a_stride = block.queries,
                 .b = rows_.data(),
                 .panel_stride = rows_.panel_stride(),
                 .c = sums + block.origin * d_head_,
                 .c_stride = d_head_,
                 .m = block.keys,
                 .n = d_head_,
                 .k = block.queries,
                 .epilogue = Epilogue::accumulate});
  }

  void scatter() {
    for (std::size_t j = 0; j < keys_; ++j) {
      const std::size_t at = in_.keys[j] * in_.kv_stride;
      run_.add_scaled(gradients_.k + at, of_k_ + j * d_head_, d_head_, 1.0f);
      run_.add_scaled(gradients_.v + at, of_v_ + j * d_head_, d_head_, share_);
    }
    if (gradients_.relative) {
      gradients_.relative->backward(gradients_.head, of_bias_, tape_);
    }
  }

  const HeadInput& in_;
  const HeadGradients& gradients_;
  Reach reach_;
  AttentionScratch& scratch_;
  Tape& tape_;
  const Kernels& run_;
  std::size_t stride_, keys_, d_head_;
  // Of a product's gradient, what each of its two factors receives.
  float share_;
  float *of_scores_, *transposed_, *of_k_, *of_v_;
  std::vector<float> slopes_;   // of the capped scores of a block
  std::vector<float> of_bias_;  // by key - query, from 1 - queries on
  PackedMatrix rows_;
  std::optional<DistanceBackward> distances_;
};

// With φ(x) = elu(x) + 1, values u = [v, 1] and state S = Σ φ(k) uᵀ, a query's sums are s = φ(q) ·
// S and its context is s[0 … d) / s[d].
void linear_attention_backward(const HeadInput& in, const HeadGradients& gradients) {
  const std::size_t d = in.d_head, width = d + 1, keys = in.keys.size();
  if (keys == 0) return;
  const Kernels& run = kernels();
  std::vector<float> features_k(keys * d), values(keys * width), state(d * width),
      of_state(d * width);
  for (std::size_t j = 0; j < keys; ++j) {
    run.elu_plus_one(&features_k[j * d], in.k + in.keys[j] * in.kv_stride, d);
    std::copy_n(in.v + in.keys[j] * in.kv_stride, d, &values[j * width]);
    values[j * width + d] = 1.0f;
    for (std::size_t c = 0; c < d; ++c) {
      run.add_scaled(&state[c * width], &values[j * width], width, features_k[j * d + c]);
    }
  }
  const LearningKernels& learning = learning_kernels();
  // φ'(x) = 1 if x > 0, otherwise e^x = φ(x).
  const auto slope = [](float x, float feature) { return x > 0 ? 1.0f : feature; };
  std::vector<float> features(d), sums(width), of_sums(width);
  for (std::size_t i = 0; i < in.queries; ++i) {
    const float* const q = in.q + i * in.q_stride;
    const float* const of_context = gradients.context + i * gradients.stride;
    run.elu_plus_one(features.data(), q, d);
    std::ranges::fill(sums, 0.0f);
    for (std::size_t c = 0; c < d; ++c) {
      run.add_scaled(sums.data(), &state[c * width], width, features[c]);
    }
    const float inverse = 1.0f / sums[d];
    run.scale(of_sums.data(), of_context, d, inverse);
    of_sums[d] = -learning.dot(of_sums.data(), sums.data(), d) * inverse;
    float* const of_q = gradients.q + i * in.q_stride;
    for (std::size_t c = 0; c < d; ++c) {
      of_q[c] += slope(q[c], features[c]) * learning.dot(&state[c * width], of_sums.data(), width);
      run.add_scaled(&of_state[c * width], of_sums.data(), width, features[c]);
    }
  }
  for (std::size_t j = 0; j < keys; ++j) {
    const std::size_t at = in.keys[j] * in.kv_stride;
    for (std::size_t c = 0; c < d; ++c) {
      const float feature = features_k[j * d + c];
      gradients.k[at + c] += slope(in.k[at + c], feature) *
                             learning.dot(&of_state[c * width], &values[j * width], width);
      run.add_scaled(gradients.v + at, &of_state[c * width], d, feature);
    }
  }
  write_weight_gradients(in, gradients);
}

}  // namespace

void attention_backward(const AttentionKind& kind, const HeadInput& in,
                        const HeadGradients& gradients, AttentionScratch& scratch, Tape& tape) {
  if (const Reach* const reach = kind.reach()) {
    SoftmaxBackward(in, gradients, *reach, scratch, tape).run();
  } else {
    linear_attention_backward(in, gradients);
  }
}

}  // namespace glassformer
