#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace glassformer {

/// What a matrix product does with its sums before they are stored.
enum class Epilogue {
  store,       ///< c = sum
  relu,        ///< c = max(sum, 0)
  accumulate,  ///< c = c + sum: a residual connection
};

/// The nonlinear functions of feed-forward blocks and heads.
enum class Activation {
  relu,        ///< max(x, 0)
  gelu,        ///< x · Phi(x), the exact form (Hendrycks and Gimpel 2016)
  gelu_tanh,   ///< the same paper's approximation, x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))
  quick_gelu,  ///< x · σ(1.702 x)
  silu,        ///< x · σ(x)
  tanh,
  linear,  ///< x
};

/// sum = a · b + bias, with b packed into panels of `Kernels::panel_width` columns: panel p holds
/// columns p·width … of every row of b, row after row, the last panel padded with zeros.
struct MatmulArgs {
  const float* a = nullptr;  ///< [m, k], rows a_stride floats apart
  std::size_t a_stride = 0;
  const float* b = nullptr;  ///< panels, panel_stride floats apart
  std::size_t panel_stride = 0;
  const float* bias = nullptr;  ///< [n] padded to whole panels; none if null
  float* c = nullptr;           ///< [m, n], rows c_stride floats apart
  std::size_t c_stride = 0;
  std::size_t m = 0, n = 0, k = 0;
  Epilogue epilogue = Epilogue::store;
};

/// Rows [m, k] as 7-bit integers: element = (integer - zero_point) · scale, both the row's own.
struct QuantizedRows {
  std::byte* values = nullptr;          ///< in the kernel's own form, rows stride bytes apart
  std::size_t stride = 0;               ///< Kernels::quantized_row_bytes(k)
  float* scales = nullptr;              ///< [m]
  std::int32_t* zero_points = nullptr;  ///< [m], 0 … 127
};

/// sum = a · b + bias for quantized a and b, exact up to the bias: column j of b is its integers
/// times scales[j]. b is packed into panels like a MatmulArgs' b, with `Kernels::int8_depth` rows
/// of it interleaved: their elements of one column lie side by side.
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
};

/// c = a · b for 16-bit a and b, in sums that the caller keeps within 32 bits. b is packed into
/// panels with two rows of it interleaved; c has room for whole panels.
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
  const float* bias = nullptr;    ///< [columns]; rms_norm has none
  float eps = 0;
};

/// Some rows of a matrix, in any order.
struct GatheredRows {
  const float* data = nullptr;
  std::size_t stride = 0;
  const std::uint32_t* rows = nullptr;  ///< [count]; null: the first `count` rows
  std::size_t count = 0;
  std::size_t columns = 0;
};

/// The kernels, compiled for one instruction set. All of them work on contiguous floats of any
/// length and any alignment. They check nothing: layers have checked the shapes. All but `matmul`
/// and logarithms give the same numbers to the bit, whatever the instruction set.
struct Kernels {
  std::string_view name;    ///< "baseline", "avx2", "avx512", "avx512vnni", "simd128", "relaxed"
  std::size_t panel_width;  ///< columns in one packed panel
  std::size_t int8_depth;   ///< rows of an 8-bit matrix interleaved in its panels: 4 or 2

  void (*matmul)(const MatmulArgs&);
  void (*matmul_int8)(const Int8MatmulArgs&);
  void (*matmul_int16)(const Int16MatmulArgs&);
  /// Quantizes x [rows, columns]: the smallest and the largest element of a row, or 0 where that is
  /// smaller or larger, become 0 and 127; round to nearest even. The scale of a row with an element
  /// that is not finite is not finite.
  void (*quantize)(const float* x, std::size_t rows, std::size_t columns, const QuantizedRows& to);
  /// The largest magnitude among the elements; 0 of none, not finite where one of them is not.
  float (*largest)(const GatheredRows& x);
  /// to [count, even_columns] = x · factor, rounded to nearest even; a last odd column is zero.
  void (*round_rows)(const GatheredRows& x, float factor, std::int16_t* to);
  /// weights = 2^(factor · (scores - the largest)), each off by at most 1e-4 of itself, in whole
  /// `weight_unit`ths; returns their sum. n >= 1, factor >= 0.
  std::int32_t (*weigh)(const std::int32_t* scores, std::size_t n, float factor,
                        std::int16_t* weights);
  /// y = scale · x.
  void (*scale_integers)(float* y, const std::int16_t* x, std::size_t n, float scale);
  /// y = y + scale · x.
  void (*add_scaled_integers)(float* y, const std::int32_t* x, std::size_t n, float scale);
  /// y = (x - mean) / sqrt(variance + eps) · weight + bias (Ba et al. 2016).
  void (*layer_norm)(const NormArgs&);
  /// y = (x - mean) / (s + eps) · weight + bias, s the standard deviation with n - 1.
  void (*layer_norm_unbiased)(const NormArgs&);
  /// y = x / sqrt(mean of x² + eps) · weight (Zhang and Sennrich 2019).
  void (*rms_norm)(const NormArgs&);
  /// row = e^(scale · (row - its largest)), in place; returns the sum, by which a softmax divides.
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
  /// y = elu(x) + 1: x + 1 where x > 0, else e^x.
  void (*elu_plus_one)(float* y, const float* x, std::size_t n);

  /// What `weigh` makes of the largest score.
  static constexpr std::int32_t weight_unit = 16383;

  /// What a row of quantized activations takes: k of them, padded with zeros to whole steps.
  std::size_t quantized_row_bytes(std::size_t k) const {
    return (k + int8_depth - 1) / int8_depth * 4;
  }
};

/// Those that only models that write texts need; what links no such model has no code of theirs.
struct WritingKernels {
  /// log(Σ e^x) of the row; n >= 1. A row's log-softmax is x - log_sum_exp.
  float (*log_sum_exp)(const float* row, std::size_t n);
  /// Where the first of the elements is that is at least `least`; n if none is.
  std::size_t (*first_at_least)(const float* x, std::size_t n, float least);
  /// products [count] = x · query, query [columns].
  void (*dot_rows)(const GatheredRows& x, const float* query, float* products);
  /// sums [columns] = Σ_j weights[j] · x[j].
  void (*sum_rows)(const GatheredRows& x, const float* weights, float* sums);
};

/// The best kernels this machine runs, chosen once.
const Kernels& kernels();
const WritingKernels& writing_kernels();

/// Those of the same instruction set.
const WritingKernels& writing_kernels(const Kernels& kernels);

/// All kernels of this build that the machine runs, plainest first, for tests and benchmarks.
const std::vector<const Kernels*>& available_kernels();

/// Whether these are kernels for WebAssembly with relaxed SIMD.
bool has_relaxed_simd();

}  // namespace glassformer
