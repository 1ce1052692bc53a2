#pragma once

#include <cstddef>
#include <type_traits>

#include "kernels/activation.hpp"
#include "kernels/int8.hpp"
#include "kernels/kernels.hpp"
#include "kernels/simd.hpp"

namespace glassformer::GLASSFORMER_ISA {

// A tile of c stays in registers while a and b stream past: tile_rows × panel_vectors sums, one row
// of b and one element of a. 16 registers hold 6 × 2 sums; the 32 of AVX-512 hold 12 × 2.
inline constexpr std::size_t panel_vectors = 2;
inline constexpr std::size_t panel_width = panel_vectors * Vec::width;

inline std::size_t panels_of(std::size_t n) { return (n + panel_width - 1) / panel_width; }

// The formats of b in products of floats.
struct Floats {
  using Number = float;
  static Vec load(const float* from) { return Vec::load(from); }
};
struct BrainFloats {
  using Number = std::uint16_t;
  static Vec load(const std::uint16_t* from) { return load_bfloats(from); }
};
#ifdef GLASSFORMER_LOADS_HALVES
struct HalfFloats {
  using Number = std::uint16_t;
  static Vec load(const std::uint16_t* from) { return load_halves(from); }
};
#endif

/// A tile's operations on floats. A step multiplies one element of a row of a by Vec::width
/// elements of b, which are in Format.
template <typename Format>
struct FloatProduct {
  using Args = FloatMatmulArgs<typename Format::Number>;
  using Sum = Vec;
  using Lane = float;                              // the elements of a Sum
  static constexpr std::size_t depth = 1;          // elements of a per step
  static constexpr std::size_t steps_at_once = 1;  // steps per loop iteration
  // Without fused multiply-add the product needs its own register, so fewer rows fit.
  static constexpr std::size_t tile_rows = Vec::width == 16 ? 12 : Vec::fuses_multiply_add ? 6 : 4;
  // With fewer, additions wait for those of the step before.
  static constexpr std::size_t least_rows = 4;

  static std::size_t steps(const Args& args) { return args.k; }
  static const float* row(const Args& args, std::size_t row) {
    return args.a + row * args.a_stride;
  }
  static Sum start(const Args& args, std::size_t column) {
    return args.bias ? Vec::load(args.bias + column) : Vec::broadcast(0.0f);
  }
  static const float* at(const float* row, std::size_t step) { return row + step; }
  static Vec load_a(const float* a) { return Vec::broadcast_from(a); }
  static Vec load_b(const typename Format::Number* b) { return Format::load(b); }
  static Sum add(Vec a, Vec b, Sum sum) { return multiply_add(a, b, sum); }

  static float* destination(const Args& args) {
    return args.epilogue == Epilogue::store ? args.c : nullptr;
  }
  struct Finish {  // turns a row's sums into products
    Finish(const Args&, std::size_t) {}
    Vec operator()(std::size_t, const float* sums) const { return Vec::load(sums); }
  };
};

/// A tile's operations on quantized values: (Σ a · b - zero point · Σ b) · scales + bias, in
/// integers up to the scales. Dot is a class from int8.hpp.
template <typename Dot>
struct Int8Product {
  using Args = Int8MatmulArgs;
  using Sum = IntVec;
  using Lane = std::int32_t;
  static constexpr std::size_t depth = int8_depth;
  static constexpr std::size_t steps_at_once = Dot::steps_at_once;
  static constexpr std::size_t tile_rows = Vec::width == 16 ? 12 : 4;
  static constexpr std::size_t least_rows = 1;

  static std::size_t steps(const Args& args) { return (args.k + depth - 1) / depth; }
  static const std::byte* row(const Args& args, std::size_t row) {
    return args.a.values + row * args.a.stride;
  }
  static Sum start(const Args&, std::size_t) { return IntVec::broadcast(0); }
  static const std::byte* at(const std::byte* row, std::size_t step) { return row + step * 4; }
  static Register load_a(const std::byte* a) { return repeat(a); }
  static Register load_b(const std::int8_t* b) { return Dot::weights(b); }
  Sum add(Register a, Register b, Sum sum) const { return dot.add(b, a, sum); }
  Dot dot;

  static Lane* destination(const Args&) { return nullptr; }
  struct Finish {
    IntVec zero_point;
    Vec row_scale;
    const std::int32_t* sums_of_b;
    const float *scales, *bias;

    Finish(const Args& args, std::size_t row)
        : zero_point(IntVec::broadcast(args.a.zero_points[row])),
          row_scale(Vec::broadcast(args.a.scales[row])),
          sums_of_b(args.sums),
          scales(args.scales),
          bias(args.bias) {}
    Vec operator()(std::size_t column, const Lane* sums) const {
      const IntVec sum = IntVec::load(sums) - zero_point * IntVec::load(sums_of_b + column);
      const Vec product = sum.to_float() * (row_scale * Vec::load(scales + column));
      return product + (bias ? Vec::load(bias + column) : Vec::broadcast(0.0f));
    }
  };
};

/// A tile's operations on quantized values and 4-bit weights: the sums over groups of
/// (Σ a · b) · scale, minus zero point · Σ b, where Σ b includes the scales. A step multiplies a
/// whole group.
template <typename Dot>
struct Int4Product {
  using Args = Int4MatmulArgs;
  using Sum = Vec;
  using Lane = float;
  static constexpr std::size_t depth = int4_group / 2 + 2;  // bytes of b per column and step
  static constexpr std::size_t steps_at_once = 1;
  // In wasm fewer, which saves code.
  static constexpr std::size_t tile_rows = Vec::width == 16 ? 12 : rows_move ? 2 : 4;
  static constexpr std::size_t least_rows = 1;
  static constexpr std::size_t pair_bytes = int8_depth * Vec::width;  // of one vector, two steps
  static constexpr std::size_t pairs = int4_group / (2 * int8_depth);
  static constexpr std::size_t scales_at = panel_vectors * pairs * pair_bytes;

  static std::size_t steps(const Args& args) { return (args.k + int4_group - 1) / int4_group; }
  static const std::byte* row(const Args& args, std::size_t row) {
    return args.a.values + row * args.a.stride;
  }
  static Sum start(const Args&, std::size_t) { return Vec::broadcast(0.0f); }
  static const std::byte* at(const std::byte* row, std::size_t step) {
    return row + step * int4_group * sizeof(QuantizedActivation);
  }

  // Adds a group's products. `a` is the group in each row, `b` the group in the first panel.
  template <std::size_t Rows, std::size_t Panels>
  [[gnu::always_inline]] void add_group(const std::byte* const (&a)[Rows], const std::byte* b,
                                        std::size_t panel_stride,
                                        Sum (&sums)[Rows][Panels * panel_vectors]) const {
    for (std::size_t p = 0; p < Panels; ++p, b += panel_stride) {
      IntVec products[Rows][panel_vectors];
      for (std::size_t r = 0; r < Rows; ++r) {
        for (std::size_t v = 0; v < panel_vectors; ++v) products[r][v] = IntVec::broadcast(0);
      }
      for (std::size_t pair = 0; pair < pairs; ++pair) {
        Nibbles::Pair weights[panel_vectors];
        for (std::size_t v = 0; v < panel_vectors; ++v) {
          weights[v] = nibbles.read_pair(b + (pair * panel_vectors + v) * pair_bytes);
        }
        for (std::size_t r = 0; r < Rows; ++r) {
          const Register low = repeat(a[r] + pair * 8), high = repeat(a[r] + pair * 8 + 4);
          for (std::size_t v = 0; v < panel_vectors; ++v) {
            products[r][v] = dot.add(weights[v].low, low, products[r][v]);
            products[r][v] = dot.add(weights[v].high, high, products[r][v]);
          }
        }
      }
      for (std::size_t v = 0; v < panel_vectors; ++v) {
        const Vec scale = load_bfloats(b + scales_at + v * Vec::width * 2);
        for (std::size_t r = 0; r < Rows; ++r) {
          Sum& sum = sums[r][p * panel_vectors + v];
          sum = sum + products[r][v].to_float() * scale;
        }
      }
    }
  }
  Dot dot;
  Nibbles nibbles;

  static Lane* destination(const Args&) { return nullptr; }
  struct Finish {
    Vec zero_point, row_scale, sixteenth;
    const float *sums_of_b, *bias;

    Finish(const Args& args, std::size_t row)
        : zero_point(Vec::broadcast(static_cast<float>(args.a.zero_points[row]))),
          row_scale(Vec::broadcast(args.a.scales[row])),
          sixteenth(Vec::broadcast(1.0f / 16)),
          sums_of_b(args.sums),
          bias(args.bias) {}
    Vec operator()(std::size_t column, const Lane* sums) const {
      const Vec product = Vec::load(sums) * sixteenth - zero_point * Vec::load(sums_of_b + column);
      return product * row_scale + (bias ? Vec::load(bias + column) : Vec::broadcast(0.0f));
    }
  };
};

/// Whether each step of a product is a group with scales.
template <typename Product>
inline constexpr bool adds_groups = false;
template <typename Dot>
inline constexpr bool adds_groups<Int4Product<Dot>> = true;

/// A tile's operations on 16-bit integers. The sums are the product.
struct Int16Product {
  using Args = Int16MatmulArgs;
  using Sum = IntVec;
  using Lane = std::int32_t;
  static constexpr std::size_t depth = 2;
  static constexpr std::size_t steps_at_once = PairDot::steps_at_once;
  static constexpr std::size_t tile_rows = Vec::width == 16 ? 12 : 4;
  static constexpr std::size_t least_rows = 1;

  static std::size_t steps(const Args& args) { return args.k / depth; }
  static const std::int16_t* row(const Args& args, std::size_t row) {
    return args.a + row * args.a_stride;
  }
  static Sum start(const Args&, std::size_t) { return IntVec::broadcast(0); }
  static const std::int16_t* at(const std::int16_t* row, std::size_t step) {
    return row + step * depth;
  }
  static Register load_a(const std::int16_t* a) { return repeat(a); }
  static Register load_b(const std::int16_t* b) { return read(b); }
  static Sum add(Register a, Register b, Sum sum) { return PairDot().add(a, b, sum); }

  static Lane* destination(const Args& args) { return args.c; }
  using Finish = void;
};

template <Epilogue epilogue>
inline Vec apply(Vec sum, Vec before) {
  switch (epilogue) {
    case Epilogue::store:
      return sum;
    case Epilogue::accumulate:
      return before + sum;
  }
}

template <typename Product, Epilogue epilogue>
inline void finish_as(const typename Product::Args& args, const typename Product::Lane* sums,
                      std::size_t rows, std::size_t width, std::size_t row, std::size_t column) {
  const std::size_t end = column + width < args.n ? column + width : args.n;
  for (std::size_t i = 0; i < rows; ++i) {
    const typename Product::Finish product_of(args, row + i);
    const auto* from = sums + i * width;
    float* c = args.c + (row + i) * args.c_stride;
    std::size_t at = column;
    for (; at + panel_width <= end; at += panel_width, from += panel_width) {
      for (std::size_t v = 0; v < panel_width; v += Vec::width) {
        apply<epilogue>(product_of(at + v, from + v), Vec::load(c + at + v)).store(c + at + v);
      }
    }
    for (; at < end; at += Vec::width, from += Vec::width) {
      const std::size_t count = end - at < Vec::width ? end - at : Vec::width;
      const Vec before = Vec::load_partial(c + at, count, 0.0f);
      apply<epilogue>(product_of(at, from), before).store_partial(c + at, count);
    }
  }
}

// Turns the sums of `rows` rows, `width` per row, from (row, column) on, into elements of c.
template <typename Product>
[[gnu::noinline]] inline void finish(const typename Product::Args& args,
                                     const typename Product::Lane* sums, std::size_t rows,
                                     std::size_t width, std::size_t row, std::size_t column) {
  switch (args.epilogue) {
    case Epilogue::store:
      return finish_as<Product, Epilogue::store>(args, sums, rows, width, row, column);
    case Epilogue::accumulate:
      return finish_as<Product, Epilogue::accumulate>(args, sums, rows, width, row, column);
  }
}

// Adds the products of one step: b times the elements of a that are `ahead` steps after its row
// pointers.
template <typename Product, std::size_t Rows, std::size_t Panels, typename A, typename B>
[[gnu::always_inline]] inline void add_step(
    const Product& product, const A (&a)[Rows], std::size_t ahead, const B* b,
    std::size_t panel_stride, typename Product::Sum (&sums)[Rows][Panels * panel_vectors]) {
  if constexpr (adds_groups<Product>) {
    A groups[Rows];
    for (std::size_t r = 0; r < Rows; ++r) groups[r] = Product::at(a[r], ahead);
    product.template add_group<Rows, Panels>(groups, b, panel_stride, sums);
  } else {
    decltype(Product::load_b(b)) b_row[Panels * panel_vectors];
    for (std::size_t p = 0; p < Panels; ++p) {
      for (std::size_t v = 0; v < panel_vectors; ++v) {
        b_row[p * panel_vectors + v] =
            Product::load_b(b + p * panel_stride + v * Vec::width * Product::depth);
      }
    }
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto a_element = Product::load_a(Product::at(a[r], ahead));
      for (std::size_t v = 0; v < Panels * panel_vectors; ++v) {
        sums[r][v] = product.add(a_element, b_row[v], sums[r][v]);
      }
    }
  }
}

// A range of steps along k.
struct Part {
  std::size_t first, end;
};

// Whether rows pass over a panel part by part, and the most steps in a part: 16 KB, which stay in
// the first-level cache. In wasm, reading a panel from the second-level cache again and again costs
// time. Natively, the next loads start early enough, and moving the sums out of their registers
// costs more.
inline constexpr bool in_parts = rows_move;  // in wasm
template <typename Product>
inline constexpr std::size_t step_bytes = panel_width* Product::depth * sizeof(*Product::Args::b);
template <typename Product>
inline constexpr std::size_t part_steps = 16384 / step_bytes<Product>;

// Prefetching while a tile multiplies: every `steps` steps it reads one cache line of the data
// after its part, so that memory is busy, too. wasm has no prefetch instruction: the value read is
// dropped.
struct Ahead {
  static constexpr std::size_t line_bytes = 64;
  const std::byte* line;
  std::size_t steps;

  void read() {
    static_cast<void>(*static_cast<const volatile std::byte*>(line));
    line += line_bytes;
  }
};

// Whether tiles read ahead in a large b. Only floats do: integers, with a quarter of the bytes,
// gain little.
template <typename Product>
inline constexpr bool can_read_ahead = (in_parts && std::is_same_v<Product, FloatProduct<Floats>>);

// If b is larger, much of it has left the second-level cache since the last product.
inline constexpr std::size_t large_bytes = 512 * 1024;

// Computes the sums of c[Rows, Panels · panel_width] at (row, panel) into rows `stride` apart. The
// first part of the steps starts them, the other parts add to them. Each sum adds its products in
// the order of k whatever the tile, so a row's result does not depend on its neighbors.
template <typename Product, std::size_t Rows, std::size_t Panels, bool reads_ahead = false>
inline void tile(const typename Product::Args& args, std::size_t row, std::size_t panel, Part part,
                 typename Product::Lane* to, std::size_t stride, Ahead ahead = {}) {
  constexpr std::size_t vectors = Panels * panel_vectors;
  const std::size_t first = in_parts ? part.first : 0;
  const auto* b = args.b + panel * args.panel_stride + first * panel_width * Product::depth;
  const std::size_t column = panel * panel_width;
  const Product product{};

  typename Product::Sum sums[Rows][vectors];
  if (first == 0) {
    for (std::size_t v = 0; v < vectors; ++v) {
      const auto start = Product::start(args, column + v * Vec::width);
      for (std::size_t r = 0; r < Rows; ++r) sums[r][v] = start;
    }
  } else {
    for (std::size_t r = 0; r < Rows; ++r) {
      for (std::size_t v = 0; v < vectors; ++v) {
        sums[r][v] = Product::Sum::load(to + r * stride + v * Vec::width);
      }
    }
  }
  decltype(Product::row(args, row)) a[Rows];
  for (std::size_t r = 0; r < Rows; ++r) {
    a[r] = Product::row(args, row + r);
    if (rows_move) a[r] = Product::at(a[r], first);
  }
  constexpr std::size_t at_once = Product::steps_at_once;
  std::size_t step = first;
  do {
    std::size_t end = part.end;
    if constexpr (reads_ahead) {
      if (end - step > ahead.steps) {
        end = step + ahead.steps;
        ahead.read();
      }
    }
    for (; step + at_once <= end; step += at_once) {
      for (std::size_t i = 0; i < at_once; ++i, b += panel_width * Product::depth) {
        add_step<Product, Rows, Panels>(product, a, rows_move ? i : step, b, args.panel_stride,
                                        sums);
      }
      if constexpr (rows_move) {
        for (std::size_t r = 0; r < Rows; ++r) a[r] = moved(Product::at(a[r], at_once));
      }
    }
  } while (reads_ahead && step + at_once <= part.end);
  static_assert(at_once <= 2, "what is left below is one step at most");
  if (at_once > 1 && step < part.end) {
    add_step<Product, Rows, Panels>(product, a, rows_move ? 0 : step, b, args.panel_stride, sums);
  }

  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t v = 0; v < vectors; ++v) sums[r][v].store(to + r * stride + v * Vec::width);
  }
}

// Computes fewer rows than a whole tile, as the last ones of a matrix.
template <typename Product, std::size_t Rows>
inline void tile_of(std::size_t rows, const typename Product::Args& args, std::size_t row,
                    std::size_t panel, Part part, typename Product::Lane* to, std::size_t stride,
                    Ahead ahead) {
  if (rows == Rows) {
    tile<Product, Rows, 1, can_read_ahead<Product>>(args, row, panel, part, to, stride, ahead);
  } else if constexpr (Rows > 1) {
    tile_of<Product, Rows - 1>(rows, args, row, panel, part, to, stride, ahead);
  }
}

// Returns the `bytes` that follow a part; at the end of b, those of the part itself.
template <typename Product>
inline const std::byte* after(const typename Product::Args& args, std::size_t panel, Part part,
                              std::size_t bytes) {
  const auto* b = reinterpret_cast<const std::byte*>(args.b);
  const std::size_t stride = args.panel_stride * sizeof(*args.b);
  const std::size_t at = panel * stride + part.end * step_bytes<Product>;
  return b + (at + bytes <= panels_of(args.n) * stride ? at : at - bytes);
}

// Returns the rows of the next tile if `left` rows are left. So that no tile has fewer than
// `least_rows`, the last two share their rows.
template <typename Product>
inline std::size_t rows_of_next_tile(std::size_t left) {
  constexpr std::size_t most = Product::tile_rows;
  if (left >= most + Product::least_rows || left == most) return most;
  return left < most ? left : (left + 1) / 2;
}

// Computes the sums of c[rows, panel_width] at (row, panel). All rows pass over one part of the
// panel, tile by tile, then over the next part. Tiles that read ahead divide the lines among them.
template <typename Product, bool reads_ahead>
[[gnu::always_inline]] inline void pass(const typename Product::Args& args, std::size_t row,
                                        std::size_t rows, std::size_t panel,
                                        typename Product::Lane* to, std::size_t stride) {
  constexpr std::size_t tile_rows = Product::tile_rows;
  const std::size_t steps = Product::steps(args), tiles = (rows + tile_rows - 1) / tile_rows;
  const auto part_from = [steps](std::size_t first) {
    constexpr std::size_t most = part_steps<Product>;
    return Part{first, in_parts && steps - first > most ? first + most : steps};
  };
  for (Part part = part_from(0);; part = part_from(part.end)) {
    const std::size_t bytes = (part.end - part.first) * step_bytes<Product>;
    Ahead ahead = {nullptr, steps};  // reads nothing: no part is longer
    if constexpr (reads_ahead) {
      ahead = {after<Product>(args, panel, part, bytes),
               Ahead::line_bytes / step_bytes<Product> * tiles};
    }
    for (std::size_t done = 0; done < rows;) {
      const std::size_t count = rows_of_next_tile<Product>(rows - done);
      auto* const at = to + done * stride;
      if (count == tile_rows) {
        tile<Product, tile_rows, 1, reads_ahead>(args, row + done, panel, part, at, stride, ahead);
      } else {
        tile_of<Product, tile_rows - 1>(count, args, row + done, panel, part, at, stride, ahead);
      }
      if constexpr (reads_ahead) ahead.line += bytes / tiles;
      done += count;
    }
    if (part.end == steps) break;
  }
}

// Computes the sums of c[rows, panels · panel_width] at (row, panel). A single row takes several
// panels at a time, so that enough sums are in flight to hide the latency of an addition. The sums
// of groups hardly wait for each other; in wasm, they do without, which saves code.
template <typename Product>
[[gnu::noinline]] inline void tiles(const typename Product::Args& args, std::size_t row,
                                    std::size_t rows, std::size_t panel, std::size_t panels,
                                    typename Product::Lane* to, std::size_t stride) {
  const std::size_t steps = Product::steps(args), end = panel + panels;
  if constexpr (!adds_groups<Product> || !rows_move) {
    for (; rows == 1 && panel + 4 <= end; panel += 4, to += 4 * panel_width) {
      tile<Product, 1, 4>(args, row, panel, {0, steps}, to, stride);
    }
  }
  if constexpr (can_read_ahead<Product>) {
    const bool large = panels_of(args.n) * steps * step_bytes<Product> > large_bytes;
    if (large && rows > Product::tile_rows) {  // several tiles, which divide the lines among them
      for (; panel < end; ++panel, to += panel_width) {
        pass<Product, true>(args, row, rows, panel, to, stride);
      }
    }
  }
  for (; panel < end; ++panel, to += panel_width) {
    pass<Product, false>(args, row, rows, panel, to, stride);
  }
}

template <typename Product>
inline void multiply(const typename Product::Args& args) {
  // Rows of a that are multiplied by a panel before the next panel is fetched: few enough to stay
  // in the second-level cache, but as many as possible, because b may have to come from memory.
  constexpr std::size_t row_block = 144;
  static_assert(row_block % Product::tile_rows == 0, "whole tiles");
  // If the sums are not yet the product, those of a few panels are kept here and then finished row
  // by row.
  constexpr bool as_they_are = std::is_void_v<typename Product::Finish>;
  constexpr std::size_t waiting = 32 * row_block;
  static_assert(panel_width * row_block <= waiting, "one panel at least");
  alignas(64) typename Product::Lane sums[as_they_are ? 1 : waiting];

  typename Product::Lane* const c = Product::destination(args);
  const std::size_t all_panels = panels_of(args.n);
  for (std::size_t row = 0; row < args.m; row += row_block) {
    const std::size_t rows = args.m - row < row_block ? args.m - row : row_block;
    const std::size_t most = waiting / (rows * panel_width);
    for (std::size_t panel = 0; panel < all_panels; panel += most) {
      const std::size_t panels = all_panels - panel < most ? all_panels - panel : most;
      const std::size_t column = panel * panel_width, width = panels * panel_width;
      if (as_they_are || (c != nullptr && column + width <= args.n)) {
        auto* const to = c + row * args.c_stride + column;
        tiles<Product>(args, row, rows, panel, panels, to, args.c_stride);
      } else if constexpr (!as_they_are) {
        tiles<Product>(args, row, rows, panel, panels, sums, width);
        finish<Product>(args, sums, rows, width, row, column);
      }
      if constexpr (!as_they_are) {
        if (args.activation == Activation::linear) continue;
        const std::size_t left = args.n - column, columns = left < width ? left : width;
        float* const block = args.c + row * args.c_stride + column;
        activate_block(args.activation, {block, rows, columns, args.c_stride});
      }
    }
  }
}

}  // namespace glassformer::GLASSFORMER_ISA
