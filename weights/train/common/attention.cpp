// Softmax attention and its gradient on the CPU, for attention.py, which compiles it with the machine's vector
// width. It is faster than PyTorch's products because it never stores the n x n scores.
//
// Layouts: qkv [B, n, 3, H, 16], whose q already contains the scale; out [B, n, H, 16]. Both are float32, or bfloat16
// as 16-bit patterns. log_sums [B, H, n] is float32.
#include <cmath>
#include <cstdint>
#include <vector>

#include "vectors.h"

namespace {

constexpr int rows = 8;  // queries computed together

// The matrix of one head: rows [n] of 16, and its transpose in blocks [n / 16][16] of 16 keys.
struct Matrix {
  std::vector<Floats> by_row, by_block;

  template <typename Number>
  void read(const Number* from, int n, int stride, bool transpose) {
    by_row.assign(static_cast<std::size_t>((n + width - 1) / width * width), Floats{});
    for (int i = 0; i < n; ++i) by_row[i] = load(from + static_cast<std::size_t>(i) * stride);
    if (!transpose) return;
    by_block.resize(by_row.size());
    for (std::size_t block = 0; block < by_row.size(); block += width)
      for (int d = 0; d < width; ++d)
        for (int j = 0; j < width; ++j) by_block[block + d][j] = by_row[block + j][d];
  }
};

// products[r][block] = a[r] . b[j] for the 16 j of each block.
void multiply(const Floats* a, int count, const Matrix& b, Floats (*products)[rows]) {
  for (std::size_t block = 0; block < b.by_block.size() / width; ++block) {
    Floats sums[rows] = {};
    for (int d = 0; d < width; ++d) {
      const Floats column = b.by_block[block * width + d];
      for (int r = 0; r < rows; ++r) sums[r] += a[r < count ? r : 0][d] * column;
    }
    for (int r = 0; r < rows; ++r) products[block][r] = sums[r];
  }
}

struct Head {
  Matrix q, k, v, grad;
  std::vector<Floats> key_grads, value_grads;
  std::vector<Floats> weights, slopes;  // [blocks][rows]
};

template <typename Number>
void forward(const Number* qkv, int batch, int n, int heads, Number* out, float* log_sums) {
  static thread_local Head head;
  const int blocks = (n + width - 1) / width;
  const int stride = 3 * heads * width;
  head.weights.resize(static_cast<std::size_t>(blocks) * rows);
  auto* weights = reinterpret_cast<Floats(*)[rows]>(head.weights.data());
  for (int b = 0; b < batch; ++b) {
    for (int h = 0; h < heads; ++h) {
      const Number* base = qkv + static_cast<std::size_t>(b) * n * stride + h * width;
      head.q.read(base, n, stride, false);
      head.k.read(base + heads * width, n, stride, true);
      head.v.read(base + 2 * heads * width, n, stride, false);
      for (int i = 0; i < n; i += rows) {
        const int count = n - i < rows ? n - i : rows;
        multiply(&head.q.by_row[i], count, head.k, weights);
        float sums[rows];
        float highest[rows];
        for (int r = 0; r < rows; ++r) {
          Floats top = weights[0][r];
          for (int block = 1; block < blocks; ++block)
            top = weights[block][r] > top ? weights[block][r] : top;
          highest[r] = top[0];
          for (int j = 1; j < width; ++j) highest[r] = std::fmax(highest[r], top[j]);
          Floats sum = {};
          for (int block = 0; block < blocks; ++block) {
            Floats e = exp_of(weights[block][r] - highest[r]);
            if (block == blocks - 1)
              for (int j = n - block * width; j < width; ++j) e[j] = 0.0f;
            weights[block][r] = e;
            sum += e;
          }
          sums[r] = sum_of(sum);
        }
        Floats mixed[rows] = {};
        for (int block = 0; block < blocks; ++block)
          for (int j = 0; j < width; ++j)
            for (int r = 0; r < rows; ++r)
              mixed[r] += reinterpret_cast<const float*>(&weights[block][r])[j] * head.v.by_row[block * width + j];
        for (int r = 0; r < count; ++r) {
          store(out + (static_cast<std::size_t>(b) * n + i + r) * heads * width + h * width,
                     mixed[r] / sums[r]);
          log_sums[(static_cast<std::size_t>(b) * heads + h) * n + i + r] = highest[r] + std::log(sums[r]);
        }
      }
    }
  }
}

template <typename Number>
void backward(const Number* qkv, const Number* out, const Number* out_grad, const float* log_sums, int batch, int n,
              int heads, Number* qkv_grad) {
  static thread_local Head head;
  const int blocks = (n + width - 1) / width;
  const int stride = 3 * heads * width;
  head.weights.resize(static_cast<std::size_t>(blocks) * rows);
  head.slopes.resize(head.weights.size());
  auto* weights = reinterpret_cast<Floats(*)[rows]>(head.weights.data());
  auto* slopes = reinterpret_cast<Floats(*)[rows]>(head.slopes.data());
  for (int b = 0; b < batch; ++b) {
    for (int h = 0; h < heads; ++h) {
      const std::size_t text = static_cast<std::size_t>(b) * n;
      const Number* base = qkv + text * stride + h * width;
      Number* base_grad = qkv_grad + text * stride + h * width;
      const Number* base_out = out + text * heads * width + h * width;
      head.q.read(base, n, stride, false);
      head.k.read(base + heads * width, n, stride, true);
      head.v.read(base + 2 * heads * width, n, stride, true);
      head.grad.read(out_grad + text * heads * width + h * width, n, heads * width, false);
      head.key_grads.assign(head.k.by_row.size(), Floats{});
      head.value_grads.assign(head.k.by_row.size(), Floats{});
      for (int i = 0; i < n; i += rows) {
        const int count = n - i < rows ? n - i : rows;
        const Floats* q = &head.q.by_row[i];
        const Floats* grad = &head.grad.by_row[i];
        multiply(q, count, head.k, weights);
        multiply(grad, count, head.v, slopes);
        for (int r = 0; r < rows; ++r) {
          if (r >= count) {
            for (int block = 0; block < blocks; ++block) weights[block][r] = slopes[block][r] = Floats{};
            continue;
          }
          const float log_sum = log_sums[(static_cast<std::size_t>(b) * heads + h) * n + i + r];
          const float mean = sum_of(grad[r] * load(base_out + static_cast<std::size_t>(i + r) * heads * width));
          for (int block = 0; block < blocks; ++block) {
            Floats p = exp_of(weights[block][r] - log_sum);
            if (block == blocks - 1)
              for (int j = n - block * width; j < width; ++j) p[j] = 0.0f;
            weights[block][r] = p;
            slopes[block][r] = p * (slopes[block][r] - mean);
          }
        }
        Floats query_grads[rows] = {};
        for (int block = 0; block < blocks; ++block) {
          for (int j = 0; j < width; ++j) {
            const std::size_t key = static_cast<std::size_t>(block) * width + j;
            Floats key_grad = head.key_grads[key];
            Floats value_grad = head.value_grads[key];
            for (int r = 0; r < rows; ++r) {
              const float slope = reinterpret_cast<const float*>(&slopes[block][r])[j];
              const float weight = reinterpret_cast<const float*>(&weights[block][r])[j];
              query_grads[r] += slope * head.k.by_row[key];
              key_grad += slope * q[r];
              value_grad += weight * grad[r];
            }
            head.key_grads[key] = key_grad;
            head.value_grads[key] = value_grad;
          }
        }
        for (int r = 0; r < count; ++r)
          store(base_grad + static_cast<std::size_t>(i + r) * stride, query_grads[r]);
      }
      for (int j = 0; j < n; ++j) {
        store(base_grad + static_cast<std::size_t>(j) * stride + heads * width, head.key_grads[j]);
        store(base_grad + static_cast<std::size_t>(j) * stride + 2 * heads * width, head.value_grads[j]);
      }
    }
  }
}

}  // namespace

extern "C" {

void attention_forward_f32(const float* qkv, int batch, int n, int heads, float* out, float* log_sums) {
  forward(qkv, batch, n, heads, out, log_sums);
}

void attention_forward_bf16(const std::uint16_t* qkv, int batch, int n, int heads, std::uint16_t* out,
                            float* log_sums) {
  forward(qkv, batch, n, heads, out, log_sums);
}

void attention_backward_f32(const float* qkv, const float* out, const float* out_grad, const float* log_sums,
                            int batch, int n, int heads, float* qkv_grad) {
  backward(qkv, out, out_grad, log_sums, batch, n, heads, qkv_grad);
}

void attention_backward_bf16(const std::uint16_t* qkv, const std::uint16_t* out, const std::uint16_t* out_grad,
                             const float* log_sums, int batch, int n, int heads, std::uint16_t* qkv_grad) {
  backward(qkv, out, out_grad, log_sums, batch, n, heads, qkv_grad);
}

}  // extern "C"
