// The parts of a training step that take the most time on a CPU apart from the matrix products: GELU, causal softmax,
// residual sums with layer norms, and the gradient of the next token's loss. kernels.py compiles this file with the
// machine's vector width. bfloat16 values are 16-bit patterns.
#include <cmath>
#include <cstdint>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "vectors.h"

namespace {

Floats splat(float value) { return Floats{} + value; }

// 1 / x for x >= 1, to 14 bits if the machine has such an instruction: bfloat16 has 8.
Floats inverse(Floats x) {
#ifdef __AVX512F__
  return reinterpret_cast<Floats>(_mm512_rcp14_ps(reinterpret_cast<__m512>(x)));
#else
  return 1.0f / x;
#endif
}

// 1 / (1 + exp(-x))
Floats sigmoid(Floats x) {
  const Floats low = x < -80.0f ? splat(-80.0f) : x;
  return inverse(1.0f + exp_of(-low));
}

constexpr float slope_at_zero = 1.5957691216f;  // 2 sqrt(2 / pi): gelu_new(x) = x sigmoid(this (x + 0.044715 x^3))
constexpr float cubic = 0.044715f;

Floats gelu_gate(Floats x) { return sigmoid(slope_at_zero * x * (1.0f + cubic * x * x)); }

// Loads values; those after `count` are `other`.
Floats load_tail(const std::uint16_t* from, int count, float other) {
  Floats values = splat(other);
  for (int i = 0; i < count; ++i) {
    const std::uint32_t bits = static_cast<std::uint32_t>(from[i]) << 16;
    std::memcpy(reinterpret_cast<char*>(&values) + i * sizeof bits, &bits, sizeof bits);
  }
  return values;
}

float highest_of(Floats values) {
  float highest = values[0];
  for (int i = 1; i < width; ++i) highest = std::fmax(highest, values[i]);
  return highest;
}

// Computes the largest of `count` values, and the sum of exp(value - largest).
struct Mass {
  float highest, sum;
};

Mass mass_of(const std::uint16_t* values, int count) {
  const int whole = count / width * width;
  Floats top = load_tail(values + whole, count - whole, -1e30f);
  for (int j = 0; j < whole; j += width) {
    const Floats now = load(values + j);
    top = now > top ? now : top;
  }
  const float highest = highest_of(top);
  Floats sum = {};
  for (int j = 0; j < whole; j += width) sum += exp_of(load(values + j) - highest);
  if (whole < count) sum += exp_of(load_tail(values + whole, count - whole, -1e30f) - highest);
  return {highest, sum_of(sum)};
}

}  // namespace

extern "C" {

void gelu_forward(const std::uint16_t* x, std::uint16_t* y, std::int64_t count) {  // count: a multiple of 16
  for (std::int64_t i = 0; i < count; i += width) {
    const Floats value = load(x + i);
    store(y + i, value * gelu_gate(value));
  }
}

void gelu_backward(const std::uint16_t* x, const std::uint16_t* grad, std::uint16_t* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += width) {
    const Floats value = load(x + i), gate = gelu_gate(value);
    const Floats inner = slope_at_zero * (1.0f + 3.0f * cubic * value * value);
    store(out + i, load(grad + i) * (gate + value * gate * (1.0f - gate) * inner));
  }
}

// Causal softmax in place of scores [heads, rows, keys], keys a multiple of 16: row r reads its first
// keys - rows + r + 1 keys; the weights of the others are 0.
void causal_softmax(std::uint16_t* scores, std::int64_t heads, std::int64_t rows, std::int64_t keys) {
  for (std::int64_t row = 0; row < heads * rows; ++row) {
    std::uint16_t* at = scores + row * keys;
    const int count = static_cast<int>(keys - rows + row % rows + 1);
    const Mass mass = mass_of(at, count);
    const float shift = mass.highest + std::log(mass.sum);
    const int padded = (count + width - 1) / width * width;
    for (int j = 0; j < padded; j += width) store(at + j, exp_of(load(at + j) - shift));
    std::memset(at + count, 0, static_cast<std::size_t>(keys - count) * sizeof *at);
  }
}

// Replaces slopes by weights (slopes - sum(weights slopes)). Both have the layout of causal_softmax.
void causal_softmax_backward(const std::uint16_t* weights, std::uint16_t* slopes, std::int64_t heads, std::int64_t rows,
                             std::int64_t keys) {
  for (std::int64_t row = 0; row < heads * rows; ++row, weights += keys, slopes += keys) {
    const std::int64_t padded = (keys - rows + row % rows + width) / width * width;
    Floats sum = {};
    for (std::int64_t j = 0; j < padded; j += width) sum += load(weights + j) * load(slopes + j);
    const float mean = sum_of(sum);
    for (std::int64_t j = 0; j < padded; j += width) store(slopes + j, load(weights + j) * (load(slopes + j) - mean));
    std::memset(slopes + padded, 0, static_cast<std::size_t>(keys - padded) * sizeof *slopes);
  }
}

// Computes sum = x + added [rows, size], size a multiple of 16, its layer norm `normal`, and
// moments[row] = {mean, 1 / deviation}.
void add_norm(const float* x, const std::uint16_t* added, const float* gain, const float* shift, float* sum,
              std::uint16_t* normal, float* moments, std::int64_t rows, std::int64_t size) {
  for (std::int64_t row = 0; row < rows; ++row, x += size, added += size, sum += size, normal += size) {
    Floats total = {}, squares = {};
    for (std::int64_t j = 0; j < size; j += width) {
      const Floats value = load(x + j) + load(added + j);
      store(sum + j, value);
      total += value;
    }
    const float mean = sum_of(total) / static_cast<float>(size);
    for (std::int64_t j = 0; j < size; j += width) {
      const Floats off = load(sum + j) - mean;
      squares += off * off;
    }
    const float scale = 1.0f / std::sqrt(sum_of(squares) / static_cast<float>(size) + 1e-5f);
    for (std::int64_t j = 0; j < size; j += width)
      store(normal + j, (load(sum + j) - mean) * scale * load(gain + j) + load(shift + j));
    moments[2 * row] = mean;
    moments[2 * row + 1] = scale;
  }
}

// Adds the gradient through the norm to `grad`, the gradient of the sum, and writes it as bfloat16 for `added`. Adds to
// the gradients of gain and shift.
void add_norm_backward(const float* sum, const float* moments, const float* gain, const std::uint16_t* normal_grad,
                       float* grad, std::uint16_t* added_grad, float* gain_grad, float* shift_grad, std::int64_t rows,
                       std::int64_t size) {
  for (std::int64_t row = 0; row < rows; ++row, sum += size, normal_grad += size, grad += size, added_grad += size) {
    const float mean = moments[2 * row], scale = moments[2 * row + 1];
    Floats slopes = {}, along = {};
    for (std::int64_t j = 0; j < size; j += width) {
      const Floats own = load(normal_grad + j), unit = (load(sum + j) - mean) * scale;
      store(shift_grad + j, load(shift_grad + j) + own);
      store(gain_grad + j, load(gain_grad + j) + own * unit);
      slopes += own * load(gain + j);
      along += own * load(gain + j) * unit;
    }
    const float mean_slope = sum_of(slopes) / static_cast<float>(size);
    const float mean_along = sum_of(along) / static_cast<float>(size);
    for (std::int64_t j = 0; j < size; j += width) {
      const Floats unit = (load(sum + j) - mean) * scale;
      const Floats slope = load(normal_grad + j) * load(gain + j) - mean_slope - unit * mean_along;
      const Floats value = load(grad + j) + slope * scale;
      store(grad + j, value);
      store(added_grad + j, value);
    }
  }
}

// Replaces logits [rows, vocabulary], vocabulary a multiple of 16, by softmax - onehot(target), and computes
// losses[row] = -log p(target).
void loss_slopes(std::uint16_t* logits, const std::int64_t* targets, float* losses, std::int64_t rows,
                 std::int64_t vocabulary) {
  for (std::int64_t row = 0; row < rows; ++row) {
    std::uint16_t* at = logits + row * vocabulary;
    const Mass mass = mass_of(at, static_cast<int>(vocabulary));
    const float shift = mass.highest + std::log(mass.sum);
    float wanted;
    const std::uint32_t bits = static_cast<std::uint32_t>(at[targets[row]]) << 16;
    std::memcpy(&wanted, &bits, sizeof wanted);
    losses[row] = shift - wanted;
    for (std::int64_t j = 0; j < vocabulary; j += width) store(at + j, exp_of(load(at + j) - shift));
    Floats slope = splat(std::exp(wanted - shift) - 1.0f);
    std::uint16_t halves[width];
    store(halves, slope);
    at[targets[row]] = halves[0];
  }
}

}  // extern "C"
