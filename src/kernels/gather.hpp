#pragma once

#include "kernels/kernels.hpp"
#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

inline const float* row(const GatheredRows& x, std::size_t j) {
  return x.data + (x.rows ? x.rows[j] : j) * x.stride;
}

inline void dot_rows(const GatheredRows& x, const float* query, float* products) {
  for (std::size_t j = 0; j < x.count; ++j) {
    products[j] = dot(query, row(x, j), x.columns);
  }
}

// Sums Vectors · Vec::width columns. The sums stay in registers while the rows stream past.
template <std::size_t Vectors>
inline void sum_columns(const GatheredRows& x, const float* weights, std::size_t column,
                        float* sums) {
  Vec totals[Vectors];
  for (Vec& total : totals) total = Vec::broadcast(0.0f);
  for (std::size_t j = 0; j < x.count; ++j) {
    const float* from = row(x, j) + column;
    const Vec weight = Vec::broadcast_from(weights + j);
    for (std::size_t v = 0; v < Vectors; ++v) {
      totals[v] = totals[v] + weight * Vec::load(from + v * Vec::width);
    }
  }
  for (std::size_t v = 0; v < Vectors; ++v) totals[v].store(sums + column + v * Vec::width);
}

inline void sum_rows(const GatheredRows& x, const float* weights, float* sums) {
  std::size_t column = 0;
  for (; column + 4 * Vec::width <= x.columns; column += 4 * Vec::width) {
    sum_columns<4>(x, weights, column, sums);
  }
  for (; column + 2 * Vec::width <= x.columns; column += 2 * Vec::width) {
    sum_columns<2>(x, weights, column, sums);
  }
  for (; column + Vec::width <= x.columns; column += Vec::width) {
    sum_columns<1>(x, weights, column, sums);
  }
  for (; column < x.columns; ++column) {
    float total = 0.0f;
    for (std::size_t j = 0; j < x.count; ++j) {
      total += weights[j] * row(x, j)[column];
    }
    sums[column] = total;
  }
}

}  // namespace glassformer::GLASSFORMER_ISA
