#include "kernels/threaded.hpp"

#include <algorithm>
#include <cstdint>

namespace glassformer {
namespace {

// The least work of a part, as long as Pool::least_products.
constexpr std::size_t least_int8_products = 4 * Pool::least_products;
constexpr std::size_t least_activations = 4096;
constexpr std::size_t least_quantized = 16384;

// Reading b from memory takes as long as multiplying this many rows by it.
constexpr std::size_t rows_of_reading = 8;

// Rows that one thread multiplies: a multiple of the rows of every kernel's tile.
constexpr std::size_t row_unit = 24;

// Splits a product [m, n] into blocks of at least `least` products, and calls multiply(args) for
// each. `Args` are arguments of a product, which `block_of` restricts to a block of columns.
template <class Args, class BlockOf, class Multiply>
void each_block(const Args& args, std::size_t least, Pool& pool, const BlockOf& block_of,
                const Multiply& multiply) {
  const std::size_t width = kernels().panel_width;
  const std::size_t panels = (args.n + width - 1) / width;
  const auto products = std::uint64_t{std::max(args.m, rows_of_reading)} * args.n * args.k;
  const auto wanted =
      static_cast<std::size_t>(std::min<std::uint64_t>(pool.parts(), products / least));
  if (wanted < 2) return multiply(args);
  const std::size_t across = std::min(panels, wanted);
  const std::size_t units = (args.m + row_unit - 1) / row_unit;
  const std::size_t down = std::min(units, wanted / across);
  pool.each(across * down, [&](std::size_t part, std::size_t) {
    const std::size_t column = part % across, row = part / across;
    const std::size_t first_panel = panels * column / across;
    const std::size_t end = std::min(panels * (column + 1) / across * width, args.n);
    const std::size_t first_row = units * row / down * row_unit;
    const std::size_t end_row = std::min(units * (row + 1) / down * row_unit, args.m);
    Args block = args;
    block.m = end_row - first_row;
    block.n = end - first_panel * width;
    block.c += first_row * args.c_stride + first_panel * width;
    block.b += first_panel * args.panel_stride;
    if (block.bias) block.bias += first_panel * width;
    block_of(block, first_row, first_panel * width);
    multiply(block);
  });
}

}  // namespace

namespace {

template <class Number>
void move_rows(FloatMatmulArgs<Number>& block, std::size_t row, std::size_t) {
  block.a += row * block.a_stride;
}

}  // namespace

void matmul(const MatmulArgs& args, Pool& pool) {
  each_block(args, Pool::least_products, pool, move_rows<float>, kernels().matmul);
}

void matmul(const HalfMatmulArgs& args, void (*multiply)(const HalfMatmulArgs&), Pool& pool) {
  each_block(args, Pool::least_products, pool, move_rows<std::uint16_t>, multiply);
}

namespace {

// Quantizes `x` into `args.a` and multiplies. `move_columns` moves the columns of b that `Args` has
// elsewhere.
template <class Args, class Multiply, class MoveColumns>
void matmul_integers(const float* x, const Args& args, Pool& pool, const Multiply& multiply,
                     const MoveColumns& move_columns) {
  const auto rows_of = [](QuantizedRows rows, std::size_t first) {
    rows.values += first * rows.stride;
    rows.scales += first;
    rows.zero_points += first;
    return rows;
  };
  pool.split(args.m, 1, least_quantized / std::max<std::size_t>(args.k, 1),
             [&](std::size_t first, std::size_t end) {
               kernels().quantize(x + first * args.k, end - first, args.k, rows_of(args.a, first));
             });
  const auto block_of = [&](Args& block, std::size_t row, std::size_t column) {
    block.a = rows_of(block.a, row);
    block.sums += column;
    move_columns(block, column);
  };
  each_block(args, least_int8_products, pool, block_of, multiply);
}

}  // namespace

void matmul_int8(const float* x, const Int8MatmulArgs& args, Pool& pool) {
  matmul_integers(x, args, pool, kernels().matmul_int8,
                  [](Int8MatmulArgs& block, std::size_t column) { block.scales += column; });
}

void matmul_int4(const float* x, const Int4MatmulArgs& args, Pool& pool) {
  matmul_integers(x, args, pool, kernels().matmul_int4, [](Int4MatmulArgs&, std::size_t) {});
}

void activate(Activation activation, float* x, std::size_t n, Pool& pool) {
  pool.split(n, 64, least_activations, [&](std::size_t first, std::size_t end) {
    kernels().activate(activation, x + first, end - first);
  });
}

}  // namespace glassformer
