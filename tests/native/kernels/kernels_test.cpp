// Every kernel of every instruction set, compared with its formula in double precision, for all
// tails.

#include "kernels/kernels.hpp"
#include "base/half.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "base/half.hpp"
#include "kernels/packed/int16_matrix.hpp"
#include "kernels/packed/int4_matrix.hpp"
#include "kernels/packed/int8_matrix.hpp"
#include "kernels/packed/matrix.hpp"
#include "models/initialize.hpp"
#include "weights/floats.hpp"

namespace glassformer {
namespace {

std::vector<float> random_values(std::size_t n, SplitMix64& random, float bound = 1.0f) {
  std::vector<float> values(n);
  for (float& value : values) value = (2 * random.uniform() - 1) * bound;
  return values;
}

// Packs b [k, n] into panels of `width` columns.
std::vector<float> pack(const std::vector<float>& b, std::size_t k, std::size_t n,
                        std::size_t width) {
  const std::size_t panels = (n + width - 1) / width;
  std::vector<float> packed(panels * k * width, 0.0f);
  for (std::size_t row = 0; row < k; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      packed[column / width * k * width + row * width + column % width] = b[row * n + column];
    }
  }
  return packed;
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

// The last step of a product.
struct Last {
  Epilogue epilogue = Epilogue::store;
  Activation activation = Activation::linear;
};
constexpr Last store, with_relu = {.activation = Activation::relu},
                      with_gelu = {.activation = Activation::gelu},
                      accumulate = {.epilogue = Epilogue::accumulate};
constexpr std::array all_last = {store, with_relu, with_gelu, accumulate};

double expected_of(const Last& last, double sum, double before) {
  if (last.epilogue == Epilogue::accumulate) return before + sum;
  if (last.activation == Activation::relu) return std::max(sum, 0.0);
  return last.activation == Activation::gelu ? gelu(sum) : sum;
}

// Checks a product of these sizes, with row strides of a and c larger than their rows.
void check_matmul(const Kernels& run, std::size_t m, std::size_t n, std::size_t k, const Last& last,
                  bool with_bias) {
  INFO(run.name << ": " << m << " x " << n << " x " << k << ", epilogue "
                << static_cast<int>(last.epilogue) << ", activation "
                << static_cast<int>(last.activation) << (with_bias ? ", bias" : ""));
  SplitMix64 random(m * 1000003 + n * 1009 + k);
  const std::size_t a_stride = k + 3, c_stride = n + 2;
  const auto a = random_values(m * a_stride, random);
  const auto b = random_values(k * n, random);
  auto bias = random_values(n, random);
  const auto c_before = random_values(m * c_stride, random);
  auto c = c_before;
  const auto packed = pack(b, k, n, run.panel_width);
  bias.resize((n + run.panel_width - 1) / run.panel_width * run.panel_width, 0.0f);

  run.matmul({.a = a.data(),
              .a_stride = a_stride,
              .b = packed.data(),
              .panel_stride = k * run.panel_width,
              .bias = with_bias ? bias.data() : nullptr,
              .c = c.data(),
              .c_stride = c_stride,
              .m = m,
              .n = n,
              .k = k,
              .epilogue = last.epilogue,
              .activation = last.activation});

  double worst = 0;
  bool untouched = true;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < c_stride; ++j) {
      const std::size_t at = i * c_stride + j;
      if (j >= n) {
        untouched = untouched && c[at] == c_before[at];
        continue;
      }
      double sum = with_bias ? static_cast<double>(bias[j]) : 0.0;
      for (std::size_t l = 0; l < k; ++l) {
        sum += static_cast<double>(a[i * a_stride + l]) * static_cast<double>(b[l * n + j]);
      }
      const double expected = expected_of(last, sum, static_cast<double>(c_before[at]));
      const double distance = std::abs(expected - static_cast<double>(c[at]));
      if (!(distance <= worst)) worst = distance;
    }
  }
  // k + 2 roundings of sums below k, each by at most half a unit in the last place (2^-24).
  CHECK(worst <= static_cast<double>((k + 2) * (k + 2)) * 0x1p-24);
  CHECK(untouched);
}

}  // namespace

TEST_CASE("a product of any size matches its formula", "[kernels]") {
  for (const Kernels* run : available_kernels()) {
    for (std::size_t m = 1; m <= 26; ++m) {
      for (std::size_t n :
           {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 15u, 16u, 17u, 31u, 32u, 33u, 63u, 70u}) {
        check_matmul(*run, m, n, 5, store, true);
      }
    }
    for (std::size_t k : {1u, 2u, 15u, 16u, 64u, 127u}) {
      check_matmul(*run, 7, 19, k, store, false);
      check_matmul(*run, 1, 150, k, store, true);
    }
    check_matmul(*run, 150, 40, 33, store, true);   // more than one block of rows
    check_matmul(*run, 14, 40, 1100, store, true);  // panels larger than the cache
    check_matmul(*run, 3, 9, 0, store, true);       // an empty sum is its bias
  }
}

TEST_CASE("a product's epilogue is applied to every element once", "[kernels]") {
  for (const Kernels* run : available_kernels()) {
    for (const Last& last : {with_relu, with_gelu, accumulate}) {
      for (std::size_t n : {1u, 3u, 8u, 13u, 16u, 37u}) {
        for (std::size_t m : {1u, 5u, 13u}) {
          check_matmul(*run, m, n, 9, last, true);
          check_matmul(*run, m, n, 9, last, false);
        }
      }
      check_matmul(*run, 1, 3109, 9, last, true);    // more sums than are kept at a time
      check_matmul(*run, 14, 19, 1100, last, true);  // panels larger than the cache
    }
  }
}

TEST_CASE("a row's product does not depend on the other rows", "[kernels]") {
  constexpr std::size_t m = 29, n = 75, k = 40;
  for (const Kernels* run : available_kernels()) {
    SplitMix64 random(1);
    const auto a = random_values(m * k, random);
    const auto packed = pack(random_values(k * n, random), k, n, run->panel_width);
    MatmulArgs args = {.a = a.data(),
                       .a_stride = k,
                       .b = packed.data(),
                       .panel_stride = k * run->panel_width,
                       .c_stride = n,
                       .m = m,
                       .n = n,
                       .k = k};
    std::vector<float> together(m * n), alone(m * n);
    args.c = together.data();
    run->matmul(args);
    args.m = 1;
    for (std::size_t row = 0; row < m; ++row) {
      args.a = a.data() + row * k;
      args.c = alone.data() + row * n;
      run->matmul(args);
    }
    CHECK(together == alone);  // bit for bit
  }
}

namespace {

// Returns numbers in 16 bits: of any sign, with exponents around 0 and, now and then, tiny ones.
std::vector<std::uint16_t> random_halves(std::size_t count, Half format, SplitMix64& random) {
  std::vector<std::uint16_t> values(count);
  for (std::uint16_t& value : values) {
    const auto bits = static_cast<std::uint32_t>(random.uniform() * 0x1p16f);
    const std::uint32_t exponents = format == Half::f16 ? 0x3400 : 0x3E00;  // from 1/4, from 1/8
    value = static_cast<std::uint16_t>(bits % 7 == 0 ? bits & 0x807F : exponents | (bits & 0x83FF));
  }
  return values;
}

void check_half_product(const Kernels& run, Half format, std::size_t m, std::size_t n,
                        std::size_t k, const Last& last) {
  const auto product = format == Half::f16 ? run.matmul_f16 : run.matmul_bf16;
  if (product == nullptr) return;
  INFO(run.name << ": " << m << " x " << n << " x " << k);
  SplitMix64 random(m + n + k);
  const auto a = random_values(m * k, random);
  const std::size_t columns = (n + run.panel_width - 1) / run.panel_width * run.panel_width;
  const auto bias = random_values(columns, random);
  const auto before = random_values(m * n, random);
  const auto halves = random_halves(k * columns, format, random);
  std::vector<float> floats(halves.size());
  std::ranges::transform(halves, floats.begin(), [=](auto half) { return to_float(format, half); });
  const auto multiply = [&](const auto& b, const auto& by) {
    std::vector<float> c = before;
    by({.a = a.data(),
        .a_stride = k,
        .b = b.data(),
        .panel_stride = k * run.panel_width,
        .bias = bias.data(),
        .c = c.data(),
        .c_stride = n,
        .m = m,
        .n = n,
        .k = k,
        .epilogue = last.epilogue,
        .activation = last.activation});
    return c;
  };
  CHECK(multiply(halves, product) == multiply(floats, run.matmul));
}

}  // namespace

TEST_CASE("a product with floats of 16 bits has the bits of that with the same floats",
          "[kernels]") {
  for (const Kernels* run : available_kernels()) {
    for (const Half format : {Half::f16, Half::bf16}) {
      for (const std::size_t m : {1u, 5u, 29u, 150u}) {
        for (const std::size_t n : {1u, 19u, 70u, 150u}) {
          check_half_product(*run, format, m, n, 33, store);
          check_half_product(*run, format, m, n, 8, accumulate);
        }
      }
      check_half_product(*run, format, 14, 40, 1100, with_relu);
      check_half_product(*run, format, 14, 40, 1100, with_gelu);
    }
  }
}

namespace {

void softmax(const Kernels& run, float* row, std::size_t n, float scale) {
  run.scale(row, row, n, 1.0f / run.exponentials(row, n, scale));
}

}  // namespace

TEST_CASE("softmax matches its formula for rows of every length", "[kernels]") {
  for (const Kernels* run : available_kernels()) {
    INFO(run->name);
    SplitMix64 random(2);
    double worst = 0;
    for (std::size_t n = 1; n <= 70; ++n) {
      const auto x = random_values(n, random, 40.0f);
      auto row = x;
      row.push_back(123.0f);  // must not change
      softmax(*run, row.data(), n, 0.5f);
      CHECK(row[n] == 123.0f);
      const double maximum = static_cast<double>(*std::max_element(x.begin(), x.end()));
      double total = 0, sum = 0;
      for (float value : x) total += std::exp(0.5 * (static_cast<double>(value) - maximum));
      for (std::size_t i = 0; i < n; ++i) {
        const double expected = std::exp(0.5 * (static_cast<double>(x[i]) - maximum)) / total;
        worst = std::max(worst, std::abs(expected - static_cast<double>(row[i])));
        sum += static_cast<double>(row[i]);
      }
      CHECK(std::abs(sum - 1) < 1e-6);
    }
    CHECK(worst < 5e-7);  // exp's stated error of 2e-7 in numerator and denominator, and a division
  }
}

TEST_CASE("softmax accepts any finite scores", "[kernels]") {
  for (const Kernels* run : available_kernels()) {
    INFO(run->name);
    std::vector<float> row = {3e38f, -3e38f, 0.0f, 3e38f, -100.0f, 1e30f, 5.0f};
    softmax(*run, row.data(), row.size(), 1.0f);
    CHECK(row == std::vector<float>{0.5f, 0, 0, 0.5f, 0, 0, 0});
    std::vector<float> distant(9, -1000.0f);
    distant[4] = 1000.0f;
    softmax(*run, distant.data(), distant.size(), 1.0f);
    CHECK(distant[4] == 1.0f);
    CHECK(distant[0] == 0.0f);
  }
}

TEST_CASE("log-sum-exp matches its formula for rows of every length", "[kernels]") {
  for (const Kernels* run : available_kernels()) {
    INFO(run->name);
    SplitMix64 random(2);
    for (std::size_t n = 1; n <= 70; ++n) {
      const auto x = random_values(n, random, 40.0f);
      double total = 0;
      for (float value : x) total += std::exp(static_cast<double>(value));
      const double got = static_cast<double>(writing_kernels(*run).log_sum_exp(x.data(), n));
      CHECK(std::abs(got - std::log(total)) < 1e-5);
    }
    const std::vector<float> distant = {-3e38f, 1000.0f, -1000.0f, 0.0f, 5.0f};
    CHECK(writing_kernels(*run).log_sum_exp(distant.data(), distant.size()) == 1000.0f);
  }
}

TEST_CASE("the first element that is at least a bound is found", "[kernels]") {
  constexpr float none = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const Kernels* run : available_kernels()) {
    INFO(run->name);
    for (std::size_t n = 0; n <= 150; ++n) {
      std::vector<float> x(n + 1, -1.0f);
      x[n] = 5.0f;  // past the end
      CHECK(writing_kernels(*run).first_at_least(x.data(), n, 2.0f) == n);
      CHECK(writing_kernels(*run).first_at_least(x.data(), n, -infinity) == 0);
      for (std::size_t i = n; i-- > 0;) {
        x[i] = i % 3 == 0 ? none : 2.0f;
        const std::size_t first = i % 3 == 0 ? std::min(i + 1, n) : i;
        if (writing_kernels(*run).first_at_least(x.data(), n, 2.0f) != first)
          FAIL(i << " of " << n);
      }
    }
  }
}

TEST_CASE("layer norms match their formula for rows of every length", "[kernels]") {
  for (const Kernels* run : available_kernels()) {
    INFO(run->name);
    SplitMix64 random(3);
    double worst = 0, worst_unbiased = 0;
    for (std::size_t n = 2; n <= 70; ++n) {
      const auto x = random_values(2 * n, random, 3.0f);
      const auto weight = random_values(n, random), bias = random_values(n, random);
      std::vector<float> y(2 * n), unbiased(2 * n);
      NormArgs args = {.x = x.data(),
                       .y = y.data(),
                       .rows = 2,
                       .columns = n,
                       .weight = weight.data(),
                       .bias = bias.data(),
                       .eps = 1e-3f};
      run->layer_norm(args);
      args.y = unbiased.data();
      run->layer_norm_unbiased(args);
      for (std::size_t row = 0; row < 2; ++row) {
        double mean = 0, squares = 0;
        for (std::size_t i = 0; i < n; ++i) mean += static_cast<double>(x[row * n + i]);
        mean /= static_cast<double>(n);
        for (std::size_t i = 0; i < n; ++i) {
          squares += std::pow(static_cast<double>(x[row * n + i]) - mean, 2);
        }
        const double spread = std::sqrt(squares / static_cast<double>(n) + 1e-3);
        const double sample = std::sqrt(squares / static_cast<double>(n - 1)) + 1e-3;
        for (std::size_t i = 0; i < n; ++i) {
          const double centered = static_cast<double>(x[row * n + i]) - mean;
          const double w = static_cast<double>(weight[i]), b = static_cast<double>(bias[i]);
          worst = std::max(
              worst, std::abs(centered / spread * w + b - static_cast<double>(y[row * n + i])));
          worst_unbiased = std::max(
              worst_unbiased,
              std::abs(centered / sample * w + b - static_cast<double>(unbiased[row * n + i])));
        }
      }
    }
    CHECK(worst < 4e-6);  // results of up to 8, sums of up to 70 squares
    CHECK(worst_unbiased < 4e-6);
  }
}

TEST_CASE("RMS norms match their formula for rows of every length", "[kernels]") {
  for (const Kernels* run : available_kernels()) {
    INFO(run->name);
    SplitMix64 random(5);
    double worst = 0;
    for (std::size_t n = 1; n <= 70; ++n) {
      const auto x = random_values(2 * n, random, 3.0f);
      const auto weight = random_values(n, random);
      std::vector<float> y(2 * n);
      run->rms_norm({.x = x.data(),
                     .y = y.data(),
                     .rows = 2,
                     .columns = n,
                     .weight = weight.data(),
                     .eps = 1e-3f});
      for (std::size_t row = 0; row < 2; ++row) {
        double squares = 0;
        for (std::size_t i = 0; i < n; ++i) {
          squares += std::pow(static_cast<double>(x[row * n + i]), 2);
        }
        const double root = std::sqrt(squares / static_cast<double>(n) + 1e-3);
        for (std::size_t i = 0; i < n; ++i) {
          const double expected =
              static_cast<double>(x[row * n + i]) / root * static_cast<double>(weight[i]);
          worst = std::max(worst, std::abs(expected - static_cast<double>(y[row * n + i])));
        }
      }
    }
    CHECK(worst < 4e-6);
  }
}

TEST_CASE("activations match their formulas for values of any size", "[kernels]") {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const std::pair<Activation, std::function<double(double)>> activations[] = {
      {Activation::relu, [](double x) { return std::max(x, 0.0); }},
      {Activation::gelu, gelu},
      {Activation::gelu_tanh,
       [](double x) {
         const double pi = std::acos(-1.0);
         return 0.5 * x * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
       }},
      {Activation::quick_gelu, [&](double x) { return x * sigmoid(1.702 * x); }},
      {Activation::silu, [&](double x) { return x * sigmoid(x); }},
      {Activation::tanh, [](double x) { return std::tanh(x); }},
  };
  std::vector<float> inputs = {0.0f,  -0.0f,  1e-20f, -1e-20f, 30.0f, -30.0f,
                               87.0f, -87.0f, 200.0f, -200.0f, 1e6f,  -1e6f};
  SplitMix64 random(11);
  for (const float value : random_values(500, random, 6.0f)) inputs.push_back(value);
  for (const Kernels* run : available_kernels()) {
    for (const auto& [activation, reference] : activations) {
      INFO(run->name << ", activation " << static_cast<int>(activation));
      for (const std::size_t n : {std::size_t{1}, std::size_t{7}, inputs.size()}) {
        std::vector<float> x(inputs.end() - static_cast<std::ptrdiff_t>(n), inputs.end());
        const std::vector<float> before = x;
        run->activate(activation, x.data(), n);
        double worst = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const double expected = reference(static_cast<double>(before[i]));
          const double error = std::abs(static_cast<double>(x[i]) - expected);
          const double relative = error / std::max(1.0, std::abs(expected));
          if (!(relative <= worst)) worst = relative;
        }
        CHECK(worst < 1e-6);
      }
      float none = std::numeric_limits<float>::quiet_NaN();
      run->activate(activation, &none, 1);
      CHECK(std::isnan(none));
    }
  }
}

TEST_CASE("elementwise kernels match their formulas at every length", "[kernels]") {
  for (const Kernels* run : available_kernels()) {
    INFO(run->name);
    SplitMix64 random(4);
    for (std::size_t n = 0; n <= 40; ++n) {
      const auto x = random_values(n + 1, random, 5.0f), y = random_values(n + 1, random);
      auto added = y, scaled = y, features = y;
      run->add_scaled(added.data(), x.data(), n, 0.25f);
      run->scale(scaled.data(), x.data(), n, 0.3f);
      run->elu_plus_one(features.data(), x.data(), n);
      double worst = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double value = static_cast<double>(x[i]);
        const double phi = value > 0 ? value + 1 : std::exp(value);
        worst = std::max(
            {worst,
             std::abs(static_cast<double>(y[i]) + 0.25 * value - static_cast<double>(added[i])),
             std::abs(static_cast<double>(0.3f) * value - static_cast<double>(scaled[i])),
             std::abs(phi - static_cast<double>(features[i]))});
      }
      CHECK(worst < 1e-6);
      CHECK((added[n] == y[n] && scaled[n] == y[n] && features[n] == y[n]));  // past the end
    }
  }
}

TEST_CASE("products with gathered rows, and sums of them, match their formulas at every width",
          "[kernels]") {
  const std::vector<std::uint32_t> chosen = {7, 0, 3, 3, 11};  // in any order, with repetitions
  for (const Kernels* run : available_kernels()) {
    SplitMix64 random(3);
    for (std::size_t columns = 1; columns <= 70; ++columns) {
      INFO(run->name << ": " << columns);
      const std::size_t stride = columns + 5;
      const auto x = random_values(12 * stride, random);
      const auto query = random_values(columns, random);
      const auto weights = random_values(chosen.size(), random);
      const GatheredRows rows = {.data = x.data(),
                                 .stride = stride,
                                 .rows = chosen.data(),
                                 .count = chosen.size(),
                                 .columns = columns};
      std::vector<float> products(chosen.size()), sums(columns + 1, 7.0f);
      writing_kernels(*run).dot_rows(rows, query.data(), products.data());
      writing_kernels(*run).sum_rows(rows, weights.data(), sums.data());

      double worst = 0;
      std::vector<double> expected(columns, 0.0);
      for (std::size_t j = 0; j < chosen.size(); ++j) {
        double product = 0;
        for (std::size_t c = 0; c < columns; ++c) {
          const double value = static_cast<double>(x[chosen[j] * stride + c]);
          product += value * static_cast<double>(query[c]);
          expected[c] += value * static_cast<double>(weights[j]);
        }
        worst = std::max(worst, std::abs(product - static_cast<double>(products[j])));
      }
      for (std::size_t c = 0; c < columns; ++c) {
        worst = std::max(worst, std::abs(expected[c] - static_cast<double>(sums[c])));
      }
      CHECK(worst < 1e-5);
      CHECK(sums[columns] == 7.0f);  // nothing is written past the row
    }
  }
}

TEST_CASE("a packed matrix holds the rows and columns that were packed", "[kernels]") {
  constexpr std::size_t k = 3, n = 37;
  SplitMix64 random(5);
  const auto b = random_values(k * n, random);
  PackedMatrix by_rows(k, n), by_columns(k, n);
  for (std::size_t row = 0; row < k; ++row) by_rows.set_row(row, {&b[row * n], n});
  for (std::size_t column = 0; column < n; ++column) {
    by_columns.set_column(column, std::vector<float>{b[column], b[n + column], b[2 * n + column]});
  }
  const auto expected = pack(b, k, n, kernels().panel_width);
  CHECK(std::equal(expected.begin(), expected.end(), by_rows.data()));
  CHECK(std::equal(expected.begin(), expected.end(), by_columns.data()));
  std::vector<float> column(k);
  by_rows.copy_column(36, column);
  CHECK(column == std::vector<float>{b[36], b[n + 36], b[2 * n + 36]});
}

namespace {

// The buffer for quantized rows of one kernel.
struct QuantizedBuffer {
  QuantizedBuffer(const Kernels& run, std::size_t rows, std::size_t columns)
      : stride(run.quantized_row_bytes(columns)),
        values(rows * stride, std::byte{0xee}),
        scales(rows),
        zero_points(rows) {}

  QuantizedRows rows() {
    return {.values = values.data(),
            .stride = stride,
            .scales = scales.data(),
            .zero_points = zero_points.data()};
  }
  // Returns element (row, column) from the kernel's own layout: 4 / depth bytes, little-endian.
  int at(const Kernels& run, std::size_t row, std::size_t column) const {
    const std::size_t size = 4 / run.int8_depth;
    const std::byte* from = values.data() + row * stride + column * size;
    return std::to_integer<int>(from[0]) + (size > 1 ? std::to_integer<int>(from[1]) << 8 : 0);
  }

  std::size_t stride;
  std::vector<std::byte> values;
  std::vector<float> scales;
  std::vector<std::int32_t> zero_points;
};

}  // namespace

TEST_CASE("activations are quantized to integers from 0 to 127, within half a step", "[kernels]") {
  for (const Kernels* run : available_kernels()) {
    INFO(run->name);
    SplitMix64 random(3);
    for (std::size_t n = 1; n <= 70; ++n) {
      auto x = random_values(2 * n, random, 5.0f);
      for (std::size_t i = 0; i < n; ++i) x[i] = std::abs(x[i]);  // row 0 has no negative values
      QuantizedBuffer q(*run, 2, n);
      run->quantize(x.data(), 2, n, q.rows());
      CHECK(q.zero_points[0] == 0);
      for (std::size_t row = 0; row < 2; ++row) {
        const auto begin = x.begin() + static_cast<std::ptrdiff_t>(row * n);
        const auto [low, high] = std::minmax_element(begin, begin + static_cast<std::ptrdiff_t>(n));
        const float scale = (std::max(*high, 0.0f) - std::min(*low, 0.0f)) / 127.0f;
        CHECK(q.scales[row] == scale);
        for (std::size_t i = 0; i < n; ++i) {
          const int integer = q.at(*run, row, i);
          CHECK((integer >= 0 && integer <= 127));
          const float back = static_cast<float>(integer - q.zero_points[row]) * scale;
          CHECK(std::abs(back - x[row * n + i]) <=
                scale * 1.0001f);  // half a step, or one at a double tie
        }
      }
      for (std::size_t i = n; i * 4 / run->int8_depth < q.stride; ++i) CHECK(q.at(*run, 1, i) == 0);
    }
  }
}

TEST_CASE("rows without a range of values quantize to zeros", "[kernels]") {
  for (const Kernels* run : available_kernels()) {
    INFO(run->name);
    for (const float value : {0.0f, -0.0f, 1e-38f, -1e-40f}) {
      const std::vector<float> x(19, value);
      QuantizedBuffer q(*run, 1, x.size());
      run->quantize(x.data(), 1, x.size(), q.rows());
      CHECK(q.zero_points[0] == 0);
      CHECK(q.scales[0] <= 1e-30f);
      for (std::size_t i = 0; i < x.size(); ++i) CHECK(q.at(*run, 0, i) == 0);
    }
    // Both ends are halfway between integers: 64 + 64 must not become 128.
    const std::vector<float> tie = {-63.5f, 63.5f, 0.0f};
    QuantizedBuffer q(*run, 1, tie.size());
    run->quantize(tie.data(), 1, tie.size(), q.rows());
    CHECK(q.scales[0] == 1.0f);
    CHECK(q.zero_points[0] == 64);
    CHECK(q.at(*run, 0, 0) == 0);
    CHECK(q.at(*run, 0, 1) == 127);
    CHECK(q.at(*run, 0, 2) == 64);
  }
}

TEST_CASE("all instruction sets quantize alike", "[kernels]") {
  SplitMix64 random(4);
  constexpr std::size_t n = 333;
  const auto x = random_values(n, random, 3.0f);
  const Kernels& reference = *available_kernels().front();
  QuantizedBuffer expected(reference, 1, n);
  reference.quantize(x.data(), 1, n, expected.rows());
  for (const Kernels* run : available_kernels()) {
    INFO(run->name);
    QuantizedBuffer q(*run, 1, n);
    run->quantize(x.data(), 1, n, q.rows());
    CHECK(q.scales == expected.scales);
    CHECK(q.zero_points == expected.zero_points);
    for (std::size_t i = 0; i < n; ++i) CHECK(q.at(*run, 0, i) == expected.at(reference, 0, i));
  }
}

namespace {

// Returns the arguments of c [m, n] = a · b, without a bias.
Int8MatmulArgs product_of(QuantizedBuffer& a, const PackedInt8Matrix& b, std::size_t m,
                          std::vector<float>& c) {
  return {.a = a.rows(),
          .b = b.data(),
          .panel_stride = b.panel_stride(),
          .scales = b.scales(),
          .sums = b.sums(),
          .c = c.data(),
          .c_stride = b.n(),
          .m = m,
          .n = b.n(),
          .k = b.k()};
}

enum class Fill { random, extreme };

// Integer sums are exact, so the product is exact, too, with scales of 1 and no bias.
void check_matmul_int8(const Kernels& run, std::size_t m, std::size_t n, std::size_t k, Fill fill) {
  INFO(run.name << ": " << m << " x " << n << " x " << k
                << (fill == Fill::extreme ? ", extreme" : ""));
  SplitMix64 random(m * 1000003 + n * 1009 + k);
  const auto draw = [&](int lowest, int highest) {
    const int drawn =
        lowest + static_cast<int>(random.uniform() * static_cast<float>(highest - lowest + 1));
    if (fill == Fill::random) return std::min(drawn, highest);
    return drawn * 2 > lowest + highest ? highest : lowest;
  };
  PackedInt8Matrix b(k, n, run);
  std::vector<std::vector<std::int8_t>> columns(n, std::vector<std::int8_t>(k));
  for (std::size_t j = 0; j < n; ++j) {
    for (std::int8_t& value : columns[j]) value = static_cast<std::int8_t>(draw(-127, 127));
    b.set_column(j, columns[j], 1.0f);
  }
  QuantizedBuffer a(run, m, k);
  const std::size_t size = 4 / run.int8_depth;
  std::fill(a.values.begin(), a.values.end(), std::byte{0});
  for (std::size_t i = 0; i < m; ++i) {
    a.scales[i] = 1.0f;
    a.zero_points[i] = draw(0, 127);
    for (std::size_t l = 0; l < k; ++l) {
      a.values[i * a.stride + l * size] = static_cast<std::byte>(draw(0, 127));
    }
  }
  std::vector<float> c(m * n);
  run.matmul_int8(product_of(a, b, m, c));
  bool exact = true;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      std::int32_t sum = 0;
      for (std::size_t l = 0; l < k; ++l) {
        sum += (a.at(run, i, l) - a.zero_points[i]) * columns[j][l];
      }
      exact = exact && c[i * n + j] == static_cast<float>(sum);
    }
  }
  CHECK(exact);
}

}  // namespace

TEST_CASE("products of 8-bit integers are exact", "[kernels]") {
  for (const Kernels* run : available_kernels()) {
    for (const Fill fill : {Fill::random, Fill::extreme}) {
      for (std::size_t m = 1; m <= 26; ++m) {
        for (std::size_t n : {1u, 2u, 7u, 8u, 9u, 16u, 31u, 33u, 70u, 150u}) {
          check_matmul_int8(*run, m, n, 13, fill);
        }
      }
      for (std::size_t k : {1u, 2u, 3u, 4u, 5u, 127u, 512u, 2048u, 2309u}) {
        check_matmul_int8(*run, 7, 19, k, fill);
        check_matmul_int8(*run, 1, 150, k, fill);
      }
      check_matmul_int8(*run, 150, 40, 33, fill);  // more than one block of rows
      check_matmul_int8(*run, 1, 3109, 9, fill);   // more sums than are kept at a time
    }
  }
}

namespace {

void check_quantized_product(const Kernels& run, const Last& last) {
  INFO(run.name << ", epilogue " << static_cast<int>(last.epilogue) << ", activation "
                << static_cast<int>(last.activation));
  constexpr std::size_t m = 5, n = 21, k = 30;
  SplitMix64 random(5);
  const auto x = random_values(m * k, random, 4.0f);
  auto bias = random_values(n, random);
  const auto before = random_values(m * n, random);
  PackedInt8Matrix b(k, n, run);
  std::vector<float> weights(n * k);
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<std::int8_t> column(k);
    const float scale = 0.01f + 0.01f * random.uniform();
    for (std::size_t l = 0; l < k; ++l) {
      column[l] = static_cast<std::int8_t>(254 * random.uniform() - 127);
      weights[j * k + l] = scale * static_cast<float>(column[l]);
    }
    b.set_column(j, column, scale);
    std::vector<float> back(k);
    b.copy_column(j, back);
    CHECK(std::equal(back.begin(), back.end(), &weights[j * k]));
  }
  bias.resize(b.padded_n(), 0.0f);
  QuantizedBuffer a(run, m, k);
  run.quantize(x.data(), m, k, a.rows());
  auto c = before;
  Int8MatmulArgs args = product_of(a, b, m, c);
  args.bias = bias.data();
  args.epilogue = last.epilogue;
  args.activation = last.activation;
  run.matmul_int8(args);
  double worst = 0;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = static_cast<double>(bias[j]);
      for (std::size_t l = 0; l < k; ++l) {
        const float value = static_cast<float>(a.at(run, i, l) - a.zero_points[i]) * a.scales[i];
        sum += static_cast<double>(value) * static_cast<double>(weights[j * k + l]);
      }
      const double expected = expected_of(last, sum, static_cast<double>(before[i * n + j]));
      worst = std::max(worst, std::abs(expected - static_cast<double>(c[i * n + j])));
    }
  }
  CHECK(worst < 1e-4);
}

}  // namespace

TEST_CASE("a quantized product applies scales, bias and epilogue", "[kernels]") {
  for (const Kernels* run : available_kernels()) {
    for (const Last& last : all_last) {
      check_quantized_product(*run, last);
    }
  }
}

namespace {

// Returns c = a · b for 4-bit b [k, n], and checks them against sums of doubles.
std::vector<float> check_int4_product(const Kernels& run, std::size_t m, std::size_t n,
                                      std::size_t k, const Last& last) {
  CAPTURE(run.name, m, n, k, static_cast<int>(last.epilogue), static_cast<int>(last.activation));
  SplitMix64 random(m * 1000003 + n * 1009 + k);
  const auto x = random_values(m * k, random, 4.0f);
  auto bias = random_values(n, random);
  const auto before = random_values(m * n, random);
  PackedInt4Matrix b(k, n, run);
  std::vector<float> weights(n * k);
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<std::int8_t> column(k);
    std::vector<float> scales(b.groups());
    for (float& scale : scales) scale = round_to_bfloat(0.2f * random.uniform() - 0.1f);
    for (std::size_t l = 0; l < k; ++l) {
      column[l] = static_cast<std::int8_t>(static_cast<int>(15.99f * random.uniform()) - 8);
      weights[j * k + l] = scales[l / int4_group] * static_cast<float>(column[l]);
    }
    b.set_column(j, column, scales);
    b.set_column(j, column, scales);  // replaces what was there
    std::vector<float> back(k);
    b.copy_column(j, back);
    CHECK(std::equal(back.begin(), back.end(), &weights[j * k]));
  }
  bias.resize((n + run.panel_width - 1) / run.panel_width * run.panel_width, 0.0f);
  QuantizedBuffer a(run, m, b.groups() * int4_group);
  run.quantize(x.data(), m, k, a.rows());
  auto c = before;
  run.matmul_int4({.a = a.rows(),
                   .b = b.data(),
                   .panel_stride = b.panel_stride(),
                   .sums = b.sums(),
                   .bias = bias.data(),
                   .c = c.data(),
                   .c_stride = n,
                   .m = m,
                   .n = n,
                   .k = k,
                   .epilogue = last.epilogue,
                   .activation = last.activation});
  double worst = 0;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = static_cast<double>(bias[j]);
      for (std::size_t l = 0; l < k; ++l) {
        const float value = static_cast<float>(a.at(run, i, l) - a.zero_points[i]) * a.scales[i];
        sum += static_cast<double>(value) * static_cast<double>(weights[j * k + l]);
      }
      const double expected = expected_of(last, sum, static_cast<double>(before[i * n + j]));
      worst = std::max(worst, std::abs(expected - static_cast<double>(c[i * n + j])));
    }
  }
  CHECK(worst < 2e-5 * std::sqrt(static_cast<double>(k)));
  return c;
}

}  // namespace

TEST_CASE("a product with 4-bit weights is exact, and the same on every instruction set",
          "[kernels]") {
  const std::size_t shapes[][3] = {{1, 1, 1},     {1, 70, 32},   {1, 150, 100},
                                   {2, 9, 31},    {5, 21, 33},   {13, 40, 64},
                                   {150, 33, 65}, {3, 17, 2100}, {1, 300, 256}};
  for (const auto& [m, n, k] : shapes) {
    for (const Last& last : all_last) {
      const auto expected = check_int4_product(*available_kernels()[0], m, n, k, last);
      for (const Kernels* run : available_kernels()) {
        CHECK(check_int4_product(*run, m, n, k, last) == expected);
      }
    }
  }
}

TEST_CASE("4-bit columns can be selected", "[kernels]") {
  constexpr std::size_t k = 45, n = 40;
  SplitMix64 random(3);
  PackedInt4Matrix all(k, n);
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<std::int8_t> column(k);
    for (auto& value : column) {
      value = static_cast<std::int8_t>(static_cast<int>(15.99f * random.uniform()) - 8);
    }
    all.set_column(j, column, std::vector{0.5f, -2.0f});
  }
  const std::vector<std::int32_t> columns{39, 0, 17, 17};
  const PackedInt4Matrix selected = all.select(columns);
  REQUIRE(selected.n() == columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto column = static_cast<std::size_t>(columns[i]);
    std::vector<float> expected(k), got(k);
    all.copy_column(column, expected);
    selected.copy_column(i, got);
    CHECK(got == expected);
    CHECK(selected.sums()[i] == all.sums()[column]);
  }
}

namespace {

// Checks c [m, n] = a · b for 16-bit integers of at most `bound`, with row strides of a and c
// larger than their rows.
void check_matmul_int16(const Kernels& run, std::size_t m, std::size_t n, std::size_t k,
                        int bound) {
  INFO(run.name << ": " << m << " x " << n << " x " << k);
  SplitMix64 random(m * 1000003 + n * 1009 + k);
  const auto draw = [&](std::size_t count) {
    std::vector<std::int16_t> values(count);
    for (auto& value : values) {
      value = static_cast<std::int16_t>(static_cast<float>(bound) * (2 * random.uniform() - 1));
    }
    values[0] = static_cast<std::int16_t>(-bound);
    return values;
  };
  const std::size_t even_k = PackedInt16Matrix::even(k), even_n = PackedInt16Matrix::even(n);
  const std::size_t a_stride = even_k + 2;
  const std::size_t c_stride = (n + run.panel_width - 1) / run.panel_width * run.panel_width;
  const auto a = draw(m * a_stride), b = draw(k * even_n);
  std::vector<std::int16_t> transposed(n * even_k, 0);
  for (std::size_t row = 0; row < k; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      transposed[column * even_k + row] = b[row * even_n + column];
    }
  }
  PackedInt16Matrix by_rows(run), by_columns(run);
  by_rows.pack(b.data(), k, n);
  by_columns.pack_transposed(transposed.data(), k, n);
  for (const PackedInt16Matrix* packed : {&by_rows, &by_columns}) {
    std::vector<std::int32_t> c(m * c_stride);
    run.matmul_int16({.a = a.data(),
                      .a_stride = a_stride,
                      .b = packed->data(0),
                      .panel_stride = packed->panel_stride(),
                      .c = c.data(),
                      .c_stride = c_stride,
                      .m = m,
                      .n = n,
                      .k = even_k});
    bool exact = true;
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        std::int32_t sum = 0;
        for (std::size_t l = 0; l < k; ++l) sum += a[i * a_stride + l] * b[l * even_n + j];
        exact = exact && c[i * c_stride + j] == sum;
      }
    }
    CHECK(exact);
  }
}

}  // namespace

TEST_CASE("products of 16-bit integers are exact", "[kernels]") {
  for (const Kernels* run : available_kernels()) {
    for (std::size_t m : {1u, 2u, 4u, 5u, 12u, 13u, 25u, 48u}) {
      for (std::size_t n : {1u, 8u, 16u, 17u, 70u}) check_matmul_int16(*run, m, n, 15, 8191);
    }
    for (std::size_t k : {1u, 2u, 16u, 256u}) check_matmul_int16(*run, 7, 19, k, 2047);
  }
}

TEST_CASE("rows are quantized with a common factor", "[kernels]") {
  SplitMix64 random(8);
  const std::vector<std::uint32_t> order = {3, 0, 3};
  for (const Kernels* run : available_kernels()) {
    for (std::size_t n = 1; n <= 40; ++n) {
      INFO(run->name << ", n = " << n);
      const std::size_t stride = n + 1, even = PackedInt16Matrix::even(n);
      const auto x = random_values(4 * stride, random, 3.0f);
      const GatheredRows chosen = {x.data(), stride, order.data(), 3, n};
      float largest = 0;
      for (std::uint32_t row : order) {
        for (std::size_t i = 0; i < n; ++i) {
          largest = std::max(largest, std::abs(x[row * stride + i]));
        }
      }
      CHECK(run->largest(chosen) == largest);

      std::vector<std::int16_t> integers(3 * even, std::int16_t{77});
      const float factor = 32767.0f / largest;
      run->round_rows(chosen, factor, integers.data());
      bool nearest = true;
      for (std::size_t j = 0; j < 3; ++j) {
        for (std::size_t i = 0; i < n; ++i) {
          const float product = x[order[j] * stride + i] * factor;
          nearest = nearest && integers[j * even + i] == std::nearbyint(product);
        }
        if (even > n) nearest = nearest && integers[j * even + n] == 0;
      }
      CHECK(nearest);
    }
    const std::vector<std::int16_t> integers = {-32768, 5, 0, 32767, 1,  2,  3,  4,  5,
                                                6,      7, 8, 9,     10, 11, 12, 13, 14};
    for (std::size_t n = 0; n <= integers.size(); ++n) {
      std::vector<float> scaled(n + 1, 9.0f);
      run->scale_integers(scaled.data(), integers.data(), n, 0.25f);
      bool right = scaled[n] == 9.0f;
      for (std::size_t i = 0; i < n; ++i) {
        right = right && scaled[i] == static_cast<float>(integers[i]) * 0.25f;
      }
      CHECK(right);
    }
    const float none = 1;
    CHECK(run->largest({&none, 1, nullptr, 0, 1}) == 0);
    CHECK(run->largest({&none, 1, nullptr, 1, 1}) == 1);
  }
}

TEST_CASE("weights in whole units are off by at most a ten-thousandth plus half a unit",
          "[kernels]") {
  const Kernels& reference = *available_kernels().front();
  SplitMix64 random(9);
  for (std::size_t n = 1; n <= 70; ++n) {
    std::vector<std::int32_t> scores(n);
    for (auto& score : scores) score = static_cast<std::int32_t>(random.next() >> 34) - (1 << 29);
    const std::int32_t highest = *std::max_element(scores.begin(), scores.end());
    for (const float factor : {0.0f, 1e-9f, 1e-8f, 1e-6f, 1e6f}) {
      std::vector<std::int16_t> expected(n);
      const std::int32_t sum = reference.weigh(scores.data(), n, factor, expected.data());
      CHECK(sum == std::accumulate(expected.begin(), expected.end(), 0));
      double worst = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double x = static_cast<double>(factor) * (scores[i] - highest);
        worst = std::max(worst, std::abs(expected[i] - Kernels::weight_unit * std::exp2(x)));
        if (scores[i] == highest) CHECK(expected[i] == Kernels::weight_unit);
      }
      CHECK(worst <= 1e-4 * Kernels::weight_unit + 0.51);
      for (const Kernels* run : available_kernels()) {
        INFO(run->name << ", n = " << n << ", factor " << factor);
        std::vector<std::int16_t> weights(n);
        CHECK(run->weigh(scores.data(), n, factor, weights.data()) == sum);
        CHECK(weights == expected);
      }
    }
  }
}

TEST_CASE("all instruction sets give the same floats, except in products", "[kernels]") {
  const Kernels& reference = *available_kernels().front();
  for (const Kernels* run : available_kernels()) {
    INFO(run->name);
    SplitMix64 random(6);
    for (std::size_t n = 1; n <= 70; ++n) {
      const auto x = random_values(n, random, 9.0f);
      const auto weight = random_values(n, random), bias = random_values(n, random);
      const auto by = [&](const Kernels& kernel) {
        std::vector<std::vector<float>> results(6, std::vector<float>(n));
        const NormArgs norm = {.x = x.data(),
                               .y = results[0].data(),
                               .rows = 1,
                               .columns = n,
                               .weight = weight.data(),
                               .bias = bias.data(),
                               .eps = 1e-5f};
        kernel.layer_norm(norm);
        results[1] = x;
        softmax(kernel, results[1].data(), n, 0.3f);
        kernel.elu_plus_one(results[2].data(), x.data(), n);
        results[3] = bias;
        kernel.add_scaled(results[3].data(), x.data(), n, 0.7f);
        const std::vector<std::uint32_t> two = {0, 0};
        const GatheredRows rows = {
            .data = x.data(), .stride = n, .rows = two.data(), .count = 2, .columns = n};
        const std::vector<float> shares = {weight[0], bias[0]};
        writing_kernels(kernel).sum_rows(rows, shares.data(), results[4].data());
        results[5] = bias;
        std::vector<std::int32_t> integers(n);
        for (std::size_t i = 0; i < n; ++i) integers[i] = static_cast<std::int32_t>(x[i] * 1e8f);
        kernel.add_scaled_integers(results[5].data(), integers.data(), n, 1e-8f);
        for (const Activation activation :
             {Activation::gelu, Activation::gelu_tanh, Activation::quick_gelu, Activation::silu,
              Activation::tanh}) {
          results.push_back(x);
          kernel.activate(activation, results.back().data(), n);
        }
        results.push_back(x);
        kernel.multiply(results.back().data(), weight.data(), n);
        results.push_back(x);
        kernel.rms_norm({.x = x.data(),
                         .y = results.back().data(),
                         .rows = 1,
                         .columns = n,
                         .weight = weight.data(),
                         .eps = 1e-5f});
        float products[2];
        writing_kernels(kernel).dot_rows(rows, weight.data(), products);
        results.push_back({products[0], products[1]});
        return results;
      };
      CHECK(by(*run) == by(reference));
    }
  }
}

#if defined(__x86_64__) && defined(__linux__)
TEST_CASE("the fastest instruction set of this machine is in use", "[kernels]") {
  // The kernel's description of the processor, independent of the query in dispatch.cpp.
  std::ifstream file("/proc/cpuinfo");
  std::string line, flags;
  while (std::getline(file, line)) {
    if (line.starts_with("flags")) flags = line + ' ';
  }
  const auto has = [&](const std::string& flag) {
    return flags.find(' ' + flag + ' ') != std::string::npos;
  };
  std::string expected = "baseline";
  if (has("avx2") && has("fma")) expected = "avx2";
  if (has("avx512f") && has("avx512cd") && has("avx512bw") && has("avx512dq") && has("avx512vl")) {
    expected = has("avx512_vnni") ? "avx512vnni" : "avx512";
  }
  WARN("kernels in use: " << kernels().name);
  CHECK(kernels().name == expected);
}
#endif

}  // namespace glassformer
