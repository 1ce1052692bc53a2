#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/kernels.hpp"
#include "layers/attention/attention_kind.hpp"
#include "layers/attention/relative_bias.hpp"
#include "layers/norm/config.hpp"
#include "run/segments.hpp"

/// Every layer's formula in double precision, one number at a time.
namespace glassformer::test::scalar_reference {

using Numbers = std::vector<double>;

/// A row-major matrix.
struct Matrix {
  Matrix() = default;
  Matrix(std::size_t n, std::size_t d) : rows(n), columns(d), values(n * d) {}

  double* row(std::size_t i) { return values.data() + i * columns; }
  const double* row(std::size_t i) const { return values.data() + i * columns; }
  std::size_t size() const { return values.size(); }

  std::size_t rows = 0, columns = 0;
  Numbers values;
};

/// Matrices by name: what a layer reads, and its parameters.
using Inputs = std::map<std::string, Matrix>;
using Function = std::function<Matrix(const Inputs&)>;

/// Returns an input, or an empty matrix if no input has this name.
Matrix input_or_empty(const Inputs& inputs, const std::string& name);

double dot(const double* a, const double* b, std::size_t n);
Matrix sum(Matrix a, const Matrix& b);
Matrix scaled(Matrix x, double factor);
/// Returns columns [first, first + count).
Matrix columns_of(const Matrix& x, std::size_t first, std::size_t count);

/// x · weightᵀ + bias; `bias` may be empty.
Matrix linear(const Matrix& x, const Matrix& weight, const Matrix& bias = {});

/// A norm over rows; `bias` may be empty.
Matrix norm(const NormConfig& config, const Matrix& x, const Matrix& weight,
            const Matrix& bias = {});

double activation(Activation activation, double x);
double activation_slope(Activation activation, double x);
Matrix activate(Activation activation, Matrix x);
/// activation(gates) · x, element by element.
Matrix gate(Activation activation, const Matrix& gates, const Matrix& x);

/// Rotates pairs (i, i + size / 2) of every head by position · base^(-2i / size).
struct Rotation {
  std::size_t d_head, size;
  double base;
};
Matrix rotate(const Rotation& rotation, Matrix x, std::span<const std::size_t> positions);

struct Attention {
  std::size_t n_heads, n_kv_heads, d_head;
  double divisor = 1;
  std::optional<Reach> reach = {};                 ///< none: linear attention
  std::optional<RelativeBiasShape> relative = {};  ///< of the bias table [buckets, H]
  /// The row of a distance, query - key, in these tables; null: attention is not disentangled.
  const RelativeEmbeddings* distances = nullptr;
  Matrix distance_q = {}, distance_k = {};  ///< [rows, E]; empty: not used
};
/// Returns the context [N, E] of queries [N, E], keys and values.
Matrix attend(const Attention& attention, std::span<const RowSegment> segments, const Matrix& q,
              const Matrix& k, const Matrix& v, const Matrix& bias = {});

/// scale · table[ids].
Matrix embed(const Matrix& table, std::span<const std::int32_t> ids, double scale);

/// Partial derivatives of L = Σ r · function(inputs) by some numbers of one input.
struct Derivatives {
  std::vector<std::size_t> at;  ///< which numbers
  Numbers values;
  double disagreement = 0;  ///< the largest difference of the two steps' results
};

/// Computes central differences with the steps 1e-5 and 1e-6, for every `every`-th number of an
/// input. A kink between the points makes the two steps disagree.
Derivatives central_differences(const Function& function, Inputs inputs, const std::string& name,
                                std::span<const float> r, std::size_t every = 1);

}  // namespace glassformer::test::scalar_reference
