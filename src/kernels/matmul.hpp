#pragma once

#include "kernels/activation.hpp"
#include "kernels/int8.hpp"
#include "kernels/kernels.hpp"
#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

// A tile of c stays in registers while a and b stream past: tile_rows × panel_vectors sums, one
// row of b and one element of a. 16 registers hold 6 × 2 sums, AVX-512's 32 hold 12 × 2.
inline constexpr std::size_t panel_vectors = 2;
inline constexpr std::size_t panel_width = panel_vectors * Vec::width;

/// What a tile does with floats: a step multiplies one element of a row of a with Vec::width of b.
struct FloatProduct {
  using Args = MatmulArgs;
  using Sum = Vec;
  static constexpr std::size_t depth = 1;  // elements of a that a step multiplies
  // Where the product of a multiply-add needs a register of its own, fewer rows fit.
  static constexpr std::size_t tile_rows = Vec::width == 16 ? 12 : Vec::fuses_multiply_add ? 6 : 4;

  static std::size_t steps(const Args& args) { return args.k; }
  static const float* row(const Args& args, std::size_t row) {
    return args.a + row * args.a_stride;
  }
  static Sum start(const Args& args, std::size_t, std::size_t column) {
    return args.bias ? Vec::load(args.bias + column) : Vec::broadcast(0.0f);
  }
  static Vec load_a(const float* row, std::size_t step) { return Vec::broadcast_from(row + step); }
  static Vec load_b(const float* b) { return Vec::load(b); }
  static Sum add(Vec a, Vec b, Sum sum) { return multiply_add(a, b, sum); }
  static Vec finish(const Args&, std::size_t, std::size_t, Sum sum) { return sum; }
};

/// And with quantised ones: (Σ a · b - zero point · Σ b) · scales + bias, in integers up to the
/// scales.
struct Int8Product {
  using Args = Int8MatmulArgs;
  using Sum = IntVec;
  static constexpr std::size_t depth = int8_depth;
#if defined(__AVX512F__)
  static constexpr std::size_t tile_rows = 12;
#else
  static constexpr std::size_t tile_rows = 4;
#endif

  static std::size_t steps(const Args& args) { return (args.k + depth - 1) / depth; }
  static const std::byte* row(const Args& args, std::size_t row) {
    return args.a.values + row * args.a.stride;
  }
  static Sum start(const Args& args, std::size_t row, std::size_t column) {
    return IntVec::broadcast(-args.a.zero_points[row]) * IntVec::load(args.sums + column);
  }
  static auto load_a(const std::byte* row, std::size_t step) {
    return IntVec::activations(row + step * 4);
  }
  static auto load_b(const std::int8_t* b) { return IntVec::weights(b); }
  template <typename A, typename B>
  static Sum add(A a, B b, Sum sum) {
    return IntVec::add_dot(b, a, sum);
  }
  static Vec finish(const Args& args, std::size_t row, std::size_t column, Sum sum) {
    const Vec scale = Vec::broadcast(args.a.scales[row]) * Vec::load(args.scales + column);
    const Vec bias = args.bias ? Vec::load(args.bias + column) : Vec::broadcast(0.0f);
    return multiply_add(sum.to_float(), scale, bias);
  }
};

inline Vec apply(Epilogue epilogue, Vec sum, const float* c) {
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
    apply(epilogue, sum, c).store(c);
    return;
  }
  alignas(64) float padded[Vec::width] = {};
  for (std::size_t i = 0; i < columns; ++i) padded[i] = c[i];
  apply(epilogue, sum, padded).store_partial(c, columns);
}

// c[Rows, Panels · panel_width] at (row, panel). Each sum adds its products in the order of k
// whatever the tile, so a row's result does not depend on the rows beside it.
template <typename Product, std::size_t Rows, std::size_t Panels>
inline void tile(const typename Product::Args& args, std::size_t row, std::size_t panel) {
  constexpr std::size_t vectors = Panels * panel_vectors;
  const auto* b = args.b + panel * args.panel_stride;
  const std::size_t column = panel * panel_width;
  const std::size_t steps = Product::steps(args);

  typename Product::Sum sums[Rows][vectors];
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t v = 0; v < vectors; ++v) {
      sums[r][v] = Product::start(args, row + r, column + v * Vec::width);
    }
  }
  decltype(Product::row(args, row)) a[Rows];
  for (std::size_t r = 0; r < Rows; ++r) a[r] = Product::row(args, row + r);
  for (std::size_t step = 0; step < steps; ++step, b += panel_width * Product::depth) {
    decltype(Product::load_b(b)) b_row[vectors];
    for (std::size_t p = 0; p < Panels; ++p) {
      for (std::size_t v = 0; v < panel_vectors; ++v) {
        b_row[p * panel_vectors + v] =
            Product::load_b(b + p * args.panel_stride + v * Vec::width * Product::depth);
      }
    }
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto a_element = Product::load_a(a[r], step);
      for (std::size_t v = 0; v < vectors; ++v) {
        sums[r][v] = Product::add(a_element, b_row[v], sums[r][v]);
      }
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    float* const c = args.c + (row + r) * args.c_stride + column;
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t first = v * Vec::width;
      if (column + first >= args.n) break;
      write(Product::finish(args, row + r, column + first, sums[r][v]), c + first,
            args.n - column - first, args.epilogue);
    }
  }
}

// The last rows of a matrix, fewer than a whole tile.
template <typename Product, std::size_t Rows>
inline void tile_of(std::size_t rows, const typename Product::Args& args, std::size_t row,
                    std::size_t panel) {
  if (rows == Rows) {
    tile<Product, Rows, 1>(args, row, panel);
  } else if constexpr (Rows > 1) {
    tile_of<Product, Rows - 1>(rows, args, row, panel);
  }
}

// One row: several panels at once, so that enough sums are in flight to hide an addition's latency.
template <typename Product>
inline void multiply_row(const typename Product::Args& args) {
  const std::size_t panels = (args.n + panel_width - 1) / panel_width;
  std::size_t panel = 0;
  for (; panel + 4 <= panels; panel += 4) tile<Product, 1, 4>(args, 0, panel);
  for (; panel < panels; ++panel) tile<Product, 1, 1>(args, 0, panel);
}

template <typename Product>
inline void multiply(const typename Product::Args& args) {
  constexpr std::size_t tile_rows = Product::tile_rows;
  // Rows of a that are multiplied with a panel before the next panel is fetched: whole tiles, few
  // enough that they stay in the second-level cache.
  constexpr std::size_t row_block = 8 * tile_rows;
  if (args.m == 1) return multiply_row<Product>(args);
  for (std::size_t first = 0; first < args.m; first += row_block) {
    const std::size_t end = first + row_block < args.m ? first + row_block : args.m;
    for (std::size_t panel = 0; panel * panel_width < args.n; ++panel) {
      std::size_t row = first;
      for (; row + tile_rows <= end; row += tile_rows) {
        tile<Product, tile_rows, 1>(args, row, panel);
      }
      tile_of<Product, tile_rows - 1>(end - row, args, row, panel);
    }
  }
}

}  // namespace glassformer::GLASSFORMER_ISA
