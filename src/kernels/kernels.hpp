#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace glassformer {

/// The last step of a matrix product.
enum class Epilogue {
  store,       ///< c = activation(sum)
  accumulate,  ///< c = c + sum: a residual connection
};

/// Nonlinear functions of feed-forward blocks and heads.
enum class Activation {
  relu,       ///< max(x, 0)
  gelu,       ///< x · Phi(x), the exact form (Hendrycks and Gimpel 2016)
  gelu_tanh,  ///< approximation from the same paper, x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))
  quick_gelu,  ///< x · σ(1.702 x)
  silu,        ///< x · σ(x)
  tanh,
  linear,  ///< x
};

/// sum = a · b + bias, with b packed into panels of `Kernels::panel_width` columns: panel p holds
/// columns p·width … of every row of b, row after row. The last panel is padded with zeros.
template <typename Number>
struct FloatMatmulArgs {
  const float* a = nullptr;  ///< [m, k], rows a_stride floats apart
  std::size_t a_stride = 0;
  const Number* b = nullptr;  ///< panels, panel_stride numbers apart
  std::size_t panel_stride = 0;
  const float* bias = nullptr;  ///< [n] padded to whole panels; null: no bias
  float* c = nullptr;           ///< [m, n], rows c_stride floats apart
  std::size_t c_stride = 0;
  std::size_t m = 0, n = 0, k = 0;
  Epilogue epilogue = Epilogue::store;
  Activation activation = Activation::linear;
};
using MatmulArgs = FloatMatmulArgs<float>;
/// b in floats of 16 bits.
using HalfMatmulArgs = FloatMatmulArgs<std::uint16_t>;

/// The bytes that a cache moves at a time.
inline constexpr std::size_t cache_line = 64;

/// Returns whether rows that are this many bytes apart get the same place in the first-level cache.
/// On common machines a place repeats every 4096 bytes and holds eight lines. A product reads up to
/// twelve rows at the same time, and would read each line many times from the next cache.
constexpr bool share_a_place(std::size_t bytes) { return bytes > 0 && bytes % 4096 == 0; }

/// Rows [m, k] as 7-bit integers: element = (integer - zero_point) · scale, with one zero point and
/// one scale per row.
struct QuantizedRows {
  std::byte* values = nullptr;          ///< in the kernel's own format, rows `stride` bytes apart
  std::size_t stride = 0;               ///< Kernels::quantized_row_bytes(k)
  float* scales = nullptr;              ///< [m]
  std::int32_t* zero_points = nullptr;  ///< [m], 0 … 127
};

/// sum = a · b + bias for quantized a and b, with exact integer sums: column j of b is its integers
/// times scales[j]. b is packed into panels as in MatmulArgs, but with `Kernels::int8_depth` rows
/// interleaved: their elements of one column are adjacent.
struct Int8MatmulArgs {
  QuantizedRows a;                 ///< [m, k]
  const std::int8_t* b = nullptr;  ///< panels, panel_stride bytes apart
  std::size_t panel_stride = 0;
  const float* scales = nullptr;       ///< [n] padded to whole panels
  const std::int32_t* sums = nullptr;  ///< [n] padded: the sum of each column of b
  const float* bias = nullptr;         ///< [n] padded
  float* c = nullptr;                  ///< [m, n], rows c_stride floats apart
  std::size_t c_stride = 0;
  std::size_t m = 0, n = 0, k = 0;
  Epilogue epilogue = Epilogue::store;
  Activation activation = Activation::linear;
};

/// The rows of a 4-bit matrix that share a scale, per column.
inline constexpr std::size_t int4_group = 32;

/// sum = a · b + bias for quantized a and 4-bit b: in column j, the integers of each group of
/// `int4_group` rows times a scale. The sums of groups are exact, and added up as floats in the
/// order of k. b is packed as PackedInt4Matrix describes.
struct Int4MatmulArgs {
  QuantizedRows a;               ///< [m, k], with readable bytes up to whole groups
  const std::byte* b = nullptr;  ///< panels, panel_stride bytes apart
  std::size_t panel_stride = 0;
  const float* sums = nullptr;  ///< [n] padded to whole panels: the sum of each column of b
  const float* bias = nullptr;  ///< [n] padded
  float* c = nullptr;           ///< [m, n], rows c_stride floats apart
  std::size_t c_stride = 0;
  std::size_t m = 0, n = 0, k = 0;
  Epilogue epilogue = Epilogue::store;
  Activation activation = Activation::linear;
};

/// c = a · b for 16-bit a and b. The caller ensures that the sums fit 32 bits. b is packed into
/// panels with two rows interleaved; c has space for whole panels.
struct Int16MatmulArgs {
  const std::int16_t* a = nullptr;  ///< [m, k], rows a_stride integers apart, k even
  std::size_t a_stride = 0;
  const std::int16_t* b = nullptr;  ///< panels, panel_stride integers apart
  std::size_t panel_stride = 0;
  std::int32_t* c = nullptr;  ///< [m, n], rows c_stride integers apart
  std::size_t c_stride = 0;
  std::size_t m = 0, n = 0, k = 0;
};

/// Normalizes each row of x [rows, columns] into y; y may be x.
struct NormArgs {
  const float* x = nullptr;
  float* y = nullptr;
  std::size_t rows = 0, columns = 0;
  const float* weight = nullptr;  ///< [columns]
  const float* bias = nullptr;    ///< [columns]; unused by rms_norm
  float eps = 0;
};

/// Rows of a matrix, in any order.
struct GatheredRows {
  const float* data = nullptr;
  std::size_t stride = 0;
  const std::uint32_t* rows = nullptr;  ///< [count]; null: the first `count` rows
  std::size_t count = 0;
  std::size_t columns = 0;
};

/// The kernels, compiled for one instruction set. They work on contiguous floats of any length and
/// any alignment, and check nothing: the layers have checked the shapes. All except `matmul` and
/// the logarithms give bit-identical results on every instruction set. A program without
/// integers lacks the kernels for them.
struct Kernels {
  std::string_view name;    ///< "baseline", "avx2", "avx512", "avx512vnni", "simd128", "relaxed"
  std::size_t panel_width;  ///< columns in one packed panel
  std::size_t int8_depth;   ///< rows of an 8-bit matrix interleaved in its panels: 4 or 2

  void (*matmul)(const MatmulArgs&);
  /// `matmul` with b in bfloat16 or IEEE half precision: the bits of the product with the same
  /// numbers as floats. Null where they would not be faster.
  void (*matmul_bf16)(const HalfMatmulArgs&) = nullptr;
  void (*matmul_f16)(const HalfMatmulArgs&) = nullptr;
  void (*matmul_int8)(const Int8MatmulArgs&) = nullptr;
  void (*matmul_int4)(const Int4MatmulArgs&) = nullptr;
  void (*matmul_int16)(const Int16MatmulArgs&) = nullptr;
  /// Quantizes x [rows, columns]. The smallest element of a row, or 0 if that is smaller, becomes
  /// 0; the largest element, or 0 if that is larger, becomes 127. Rounds to nearest, ties to even.
  /// If an element is not finite, the scale of its row is not finite.
  void (*quantize)(const float* x, std::size_t rows, std::size_t columns,
                   const QuantizedRows& to) = nullptr;
  /// Returns the largest absolute value, or 0 if there are no elements. Not finite if any element
  /// is not finite.
  float (*largest)(const GatheredRows& x) = nullptr;
  /// to [count, columns rounded up to even] = x · factor, rounded to nearest, ties to even. The
  /// column added to an odd number is zero.
  void (*round_rows)(const GatheredRows& x, float factor, std::int16_t* to) = nullptr;
  /// weights = 2^(factor · (scores - the largest)), with a relative error of at most 1e-4, in whole
  /// units of 1 / `weight_unit`. Returns their sum. n >= 1, factor >= 0.
  std::int32_t (*weigh)(const std::int32_t* scores, std::size_t n, float factor,
                        std::int16_t* weights) = nullptr;
  /// y = scale · x.
  void (*scale_integers)(float* y, const std::int16_t* x, std::size_t n, float scale) = nullptr;
  /// y = y + scale · x.
  void (*add_scaled_integers)(float* y, const std::int32_t* x, std::size_t n,
                              float scale) = nullptr;
  /// y = (x - mean) / sqrt(variance + eps) · weight + bias (Ba et al. 2016).
  void (*layer_norm)(const NormArgs&);
  /// y = (x - mean) / (s + eps) · weight + bias, where s is the standard deviation with divisor
  /// n - 1.
  void (*layer_norm_unbiased)(const NormArgs&);
  /// y = x / sqrt(mean of x² + eps) · weight (Zhang and Sennrich 2019).
  void (*rms_norm)(const NormArgs&);
  /// row = e^(scale · (row - the largest)), in place. Returns the sum, which softmax divides by.
  /// n >= 1.
  float (*exponentials)(float* row, std::size_t n, float scale);
  /// y = y + scale · x.
  void (*add_scaled)(float* y, const float* x, std::size_t n, float scale);
  /// y = scale · x; y may be x.
  void (*scale)(float* y, const float* x, std::size_t n, float scale);
  /// y = y · x, element by element.
  void (*multiply)(float* y, const float* x, std::size_t n);
  /// x = activation(x), in place.
  void (*activate)(Activation activation, float* x, std::size_t n);
  /// y = elu(x) + 1: x + 1 if x > 0, otherwise e^x.
  void (*elu_plus_one)(float* y, const float* x, std::size_t n);

  /// The weight that `weigh` gives to the largest score.
  static constexpr std::int32_t weight_unit = 16383;

  /// Returns the bytes of a row of k quantized activations, padded with zeros to whole steps, and
  /// so that rows do not share_a_place.
  std::size_t quantized_row_bytes(std::size_t k) const {
    const std::size_t bytes = (k + int8_depth - 1) / int8_depth * 4;
    return share_a_place(bytes) ? bytes + cache_line : bytes;
  }
};

/// Kernels that only text-generating models need; a binary without such models lacks them.
struct WritingKernels {
  /// Returns log(Σ e^x) of the row; n >= 1. A row's log-softmax is x - log_sum_exp.
  float (*log_sum_exp)(const float* row, std::size_t n);
  /// Returns the index of the first element that is at least `least`, or n.
  std::size_t (*first_at_least)(const float* x, std::size_t n, float least);
  /// products [count] = x · query, query [columns].
  void (*dot_rows)(const GatheredRows& x, const float* query, float* products);
  /// sums [columns] = Σ_j weights[j] · x[j].
  void (*sum_rows)(const GatheredRows& x, const float* weights, float* sums);
};

/// Returns the best kernels that this machine can run, chosen once.
const Kernels& kernels();
const WritingKernels& writing_kernels();

/// Returns those of the same instruction set.
const WritingKernels& writing_kernels(const Kernels& kernels);

/// Returns all kernels that this machine can run, from plainest to best, for tests and benchmarks.
const std::vector<const Kernels*>& available_kernels();

/// Returns whether these are kernels for WebAssembly with relaxed SIMD.
bool has_relaxed_simd();

}  // namespace glassformer
