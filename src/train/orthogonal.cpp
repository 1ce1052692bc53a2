#include "train/orthogonal.hpp"

#include <cmath>

#include "kernels/learning.hpp"
#include "kernels/packed/matrix.hpp"

namespace glassformer {
namespace {

constexpr float a = 3.4445f, b = -4.7750f, c = 2.0315f;
constexpr int iterations = 5;
constexpr float least_norm = 1e-7f;

// z [m, n] = x [m, k] · y, plus z with `epilogue` accumulate.
void multiply(const std::vector<float>& x, const PackedMatrix& y, std::vector<float>& z,
              Epilogue epilogue = Epilogue::store) {
  const std::size_t k = y.k(), n = y.n(), m = x.size() / k;
  z.resize(m * n);
  kernels().matmul({.a = x.data(),
                    .a_stride = k,
                    .b = y.data(),
                    .panel_stride = y.panel_stride(),
                    .c = z.data(),
                    .c_stride = n,
                    .m = m,
                    .n = n,
                    .k = k,
                    .epilogue = epilogue});
}

PackedMatrix packed(const std::vector<float>& x, std::size_t rows) {
  const std::size_t columns = x.size() / rows;
  PackedMatrix result(rows, columns);
  for (std::size_t i = 0; i < rows; ++i) {
    result.set_row(i, std::span(x).subspan(i * columns, columns));
  }
  return result;
}

PackedMatrix packed_transposed(const std::vector<float>& x, std::size_t rows) {
  const std::size_t columns = x.size() / rows;
  PackedMatrix result(columns, rows);
  for (std::size_t i = 0; i < rows; ++i) {
    result.set_column(i, std::span(x).subspan(i * columns, columns));
  }
  return result;
}

// For rows <= columns.
void orthogonalize_wide(std::vector<float>& x, std::size_t rows) {
  std::vector<float> square, polynomial, next;
  for (int i = 0; i < iterations; ++i) {
    multiply(x, packed_transposed(x, rows), square);  // S [rows, rows]
    polynomial = square;
    kernels().scale(polynomial.data(), square.data(), square.size(), b / c);
    multiply(square, packed(square, rows), polynomial, Epilogue::accumulate);  // b/c S + S²
    kernels().scale(polynomial.data(), polynomial.data(), polynomial.size(), c);
    next.resize(x.size());
    kernels().scale(next.data(), x.data(), x.size(), a);
    multiply(polynomial, packed(x, rows), next, Epilogue::accumulate);
    x.swap(next);
  }
}

}  // namespace

void orthogonalize(std::vector<float>& matrix, std::size_t rows, std::size_t columns) {
  const LearningKernels& learning = learning_kernels();
  const float norm = std::sqrt(learning.dot(matrix.data(), matrix.data(), matrix.size()));
  kernels().scale(matrix.data(), matrix.data(), matrix.size(), 1.0f / (norm + least_norm));
  if (rows <= columns) return orthogonalize_wide(matrix, rows);
  std::vector<float> turned(matrix.size());
  learning.transpose(matrix.data(), columns, rows, columns, turned.data(), rows);
  orthogonalize_wide(turned, columns);
  learning.transpose(turned.data(), rows, columns, rows, matrix.data(), columns);
}

}  // namespace glassformer
