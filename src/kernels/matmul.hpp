#pragma once

#include "kernels/activation.hpp"
#include "kernels/kernels.hpp"
#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

// A tile of c stays in registers while a and b stream past: tile_rows × panel_vectors sums, one
// row of b and one element of a. 16 registers hold 6 × 2 sums, AVX-512's 32 hold 12 × 2; where the
// product of a multiply-add needs a register of its own, 4 × 2.
inline constexpr std::size_t panel_vectors = 2;
inline constexpr std::size_t panel_width = panel_vectors * Vec::width;
inline constexpr std::size_t tile_rows = Vec::width == 16 ? 12 : Vec::fuses_multiply_add ? 6 : 4;

// Rows of a that are multiplied with a panel before the next panel is fetched: a multiple of
// tile_rows, small enough that they stay in the second-level cache.
inline constexpr std::size_t row_block = 8 * tile_rows;

inline Vec finish(Vec sum, const float* c, Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::store:
      return sum;
    case Epilogue::relu:
      return relu(sum);
    case Epilogue::gelu:
      return gelu(sum);
    case Epilogue::accumulate:
      return Vec::load(c) + sum;
  }
  return sum;
}

// Writes the first `columns` lanes of a vector of sums to c.
inline void write(Vec sum, float* c, std::size_t columns, Epilogue epilogue) {
  if (columns >= Vec::width) {
    finish(sum, c, epilogue).store(c);
    return;
  }
  alignas(64) float padded[Vec::width] = {};
  for (std::size_t i = 0; i < columns; ++i) padded[i] = c[i];
  finish(sum, padded, epilogue).store_partial(c, columns);
}

// c[Rows, Panels · panel_width] at (row, panel). Each sum adds its products in the order of k
// whatever the tile, so a row's result does not depend on the rows beside it.
template <std::size_t Rows, std::size_t Panels>
inline void tile(const MatmulArgs& args, std::size_t row, std::size_t panel) {
  constexpr std::size_t vectors = Panels * panel_vectors;
  const float* const a = args.a + row * args.a_stride;
  const float* const b = args.b + panel * args.panel_stride;
  const std::size_t column = panel * panel_width;

  Vec sums[Rows][vectors];
  for (std::size_t v = 0; v < vectors; ++v) {
    const Vec start =
        args.bias ? Vec::load(args.bias + column + v * Vec::width) : Vec::broadcast(0.0f);
    for (std::size_t r = 0; r < Rows; ++r) sums[r][v] = start;
  }
  for (std::size_t k = 0; k < args.k; ++k) {
    Vec b_row[vectors];
    for (std::size_t p = 0; p < Panels; ++p) {
      for (std::size_t v = 0; v < panel_vectors; ++v) {
        b_row[p * panel_vectors + v] =
            Vec::load(b + p * args.panel_stride + k * panel_width + v * Vec::width);
      }
    }
    for (std::size_t r = 0; r < Rows; ++r) {
      const Vec a_element = Vec::broadcast_from(a + r * args.a_stride + k);
      for (std::size_t v = 0; v < vectors; ++v) {
        sums[r][v] = multiply_add(a_element, b_row[v], sums[r][v]);
      }
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    float* const c = args.c + (row + r) * args.c_stride + column;
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t first = v * Vec::width;
      if (column + first >= args.n) break;
      write(sums[r][v], c + first, args.n - column - first, args.epilogue);
    }
  }
}

// The last rows of a matrix, fewer than a whole tile.
template <std::size_t Rows>
inline void tile_of(std::size_t rows, const MatmulArgs& args, std::size_t row, std::size_t panel) {
  if (rows == Rows) {
    tile<Rows, 1>(args, row, panel);
  } else if constexpr (Rows > 1) {
    tile_of<Rows - 1>(rows, args, row, panel);
  }
}

// One row: several panels at once, so that enough sums are in flight to hide an addition's latency.
inline void multiply_row(const MatmulArgs& args) {
  const std::size_t panels = (args.n + panel_width - 1) / panel_width;
  std::size_t panel = 0;
  for (; panel + 4 <= panels; panel += 4) tile<1, 4>(args, 0, panel);
  for (; panel < panels; ++panel) tile<1, 1>(args, 0, panel);
}

inline void matmul(const MatmulArgs& args) {
  if (args.m == 1) return multiply_row(args);
  for (std::size_t first = 0; first < args.m; first += row_block) {
    const std::size_t end = first + row_block < args.m ? first + row_block : args.m;
    for (std::size_t panel = 0; panel * panel_width < args.n; ++panel) {
      std::size_t row = first;
      for (; row + tile_rows <= end; row += tile_rows) tile<tile_rows, 1>(args, row, panel);
      tile_of<tile_rows - 1>(end - row, args, row, panel);
    }
  }
}

}  // namespace glassformer::GLASSFORMER_ISA
