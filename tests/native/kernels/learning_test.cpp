// The kernels of gradients and learning, of every instruction set, compared with their formulas in
// double precision, for all tails and for pointers that are not aligned.

#include "kernels/learning.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <string>

#include "base/split_mix.hpp"
#include "support/scalar_reference.hpp"

namespace glassformer::test {
namespace {

using scalar_reference::Numbers;

constexpr std::size_t tail_lengths[] = {1, 7, 16, 33, 100};

// Floats at an address that is not aligned, between two that must not change.
class Guarded {
 public:
  explicit Guarded(std::size_t n) : values_(n + 2, guard) { std::fill_n(data(), n, 0.0f); }
  Guarded(std::size_t n, SplitMix64& random, float bound = 1) : Guarded(n) {
    for (std::size_t i = 0; i < n; ++i) data()[i] = (2 * random.uniform() - 1) * bound;
  }

  float* data() { return values_.data() + 1; }
  const float* data() const { return values_.data() + 1; }
  std::size_t size() const { return values_.size() - 2; }
  double operator[](std::size_t i) const { return static_cast<double>(values_[i + 1]); }
  Numbers numbers() const { return {values_.begin() + 1, values_.end() - 1}; }
  bool is_intact() const { return values_.front() == guard && values_.back() == guard; }
  bool operator==(const Guarded&) const = default;

 private:
  static constexpr float guard = 1234.5f;
  std::vector<float> values_;
};

// Checks |got - expected| <= tolerance · the largest expected number (at least 1).
void check_near(const Guarded& got, const Numbers& expected, double tolerance) {
  double worst = 0, largest = 1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(got[i] - expected[i]);
    if (!(error <= worst)) worst = error;
    largest = std::max(largest, std::abs(expected[i]));
  }
  CHECK(worst <= tolerance * largest);
  CHECK(got.is_intact());
}

// Calls test(kernels of an instruction set, length) for all of both.
template <typename Test>
void for_each_kernel(const Test& test) {
  for (const Kernels* kernels : available_kernels()) {
    for (const std::size_t n : tail_lengths) {
      INFO(kernels->name << ", length " << n);
      test(learning_kernels(*kernels), n);
    }
  }
}

double slope_by_differences(Activation activation, double x) {
  constexpr double step = 1e-6;
  return (scalar_reference::activation(activation, x + step) -
          scalar_reference::activation(activation, x - step)) /
         (2 * step);
}

// From -12 to 12, around zero, and where the series of gelu's derivative begins and ends.
std::vector<float> activation_grid() {
  std::vector<float> grid = {0.0f,  -0.0f,  1e-30f,   -1e-30f,   1e-6f,    -1e-6f,
                             0.02f, -0.02f, 0.02001f, -0.02001f, 0.01999f, -0.01999f};
  for (int i = -1200; i <= 1200; ++i) grid.push_back(static_cast<float>(i) * 0.01f + 0.003f);
  for (int i = -60; i <= 60; ++i) grid.push_back(static_cast<float>(i) * 0.0005f);
  return grid;
}

}  // namespace

TEST_CASE("the slopes of activations match differences of their formulas", "[backward]") {
  const auto activation = static_cast<Activation>(GENERATE(range(0, 7)));
  INFO("activation " << static_cast<int>(activation));
  for (const float at : activation_grid()) {
    const auto x = static_cast<double>(at);
    if (activation == Activation::relu && std::abs(x) < 1e-5) continue;  // its kink
    const double slope = scalar_reference::activation_slope(activation, x);
    REQUIRE(std::abs(slope - slope_by_differences(activation, x)) < 1e-8);
  }
}

// The largest error is 2e-6, of gelu_tanh. Near 0.02, gelu's own error of 3.3e-8 is divided by x.
TEST_CASE("gradients of activations match their formulas", "[kernels]") {
  const auto activation = static_cast<Activation>(GENERATE(range(0, 7)));
  INFO("activation " << static_cast<int>(activation));
  const std::vector<float> grid = activation_grid();
  for (const Kernels* kernels : available_kernels()) {
    INFO(kernels->name);
    Guarded gradient(grid.size());
    std::fill_n(gradient.data(), grid.size(), 1.0f);
    learning_kernels(*kernels).activate_backward(activation, grid.data(), gradient.data(),
                                                 grid.size());
    double worst = 0;
    for (std::size_t i = 0; i < grid.size(); ++i) {
      const auto x = static_cast<double>(grid[i]);
      const double error =
          std::abs(gradient[i] - scalar_reference::activation_slope(activation, x));
      if (!(error <= worst)) worst = error;
    }
    CHECK(worst <= 3e-6);
    CHECK(gradient.is_intact());
  }
}

TEST_CASE("gradients of activations multiply those of results, for all tails", "[kernels]") {
  const auto activation = static_cast<Activation>(GENERATE(range(0, 7)));
  INFO("activation " << static_cast<int>(activation));
  for_each_kernel([&](const LearningKernels& run, std::size_t n) {
    SplitMix64 random(n);
    const Guarded x(n, random, 4);
    Guarded gradient(n, random, 2);
    Numbers expected = gradient.numbers();
    for (std::size_t i = 0; i < n; ++i) {
      expected[i] *= scalar_reference::activation_slope(activation, x[i]);
    }
    run.activate_backward(activation, x.data(), gradient.data(), n);
    check_near(gradient, expected, 3e-6);
  });
}

TEST_CASE("gradients of activations are finite and right far from zero", "[kernels]") {
  const auto activation = static_cast<Activation>(GENERATE(range(0, 7)));
  INFO("activation " << static_cast<int>(activation));
  const std::vector<float> far = {100, -100, 1e4f, -1e4f, 15, -15, 88, -88, 127, -127};
  for (const Kernels* kernels : available_kernels()) {
    INFO(kernels->name);
    Guarded gradient(far.size());
    std::fill_n(gradient.data(), far.size(), 1.0f);
    learning_kernels(*kernels).activate_backward(activation, far.data(), gradient.data(),
                                                 far.size());
    Numbers expected;
    for (const float x : far) {
      expected.push_back(scalar_reference::activation_slope(activation, static_cast<double>(x)));
    }
    check_near(gradient, expected, 1e-6);
  }
}

namespace {

struct NormCase {
  NormKind kind;
  bool replaces, of_parameters;
};

auto norm_kernel(const LearningKernels& run, NormKind kind) {
  switch (kind) {
    case NormKind::standard:
      return run.layer_norm_backward;
    case NormKind::unbiased:
      return run.layer_norm_unbiased_backward;
    case NormKind::rms:
      break;
  }
  return run.rms_norm_backward;
}

// A norm's backward on three rows, two floats further apart than they are long.
class NormGradients {
 public:
  NormGradients(const NormCase& test, std::size_t columns)
      : test_(test),
        columns_(columns),
        random_(columns),
        x_(rows * stride(), random_, 2),
        weight_(columns, random_),
        of_result_(rows * stride(), random_),
        of_x_(test.replaces ? of_result_ : Guarded(rows * stride(), random_)),
        of_weight_(columns, random_),
        of_bias_(columns, random_) {}

  void check(const LearningKernels& run) {
    const Numbers expected = expected_of_x();
    const Numbers expected_weight = expected_of("weight", of_weight_);
    const Numbers expected_bias = expected_of("bias", of_bias_);
    compute(run);
    check_near(of_x_, expected, 1e-6);  // includes the floats between the rows, which stay
    check_near(of_weight_, expected_weight, 1e-6);
    check_near(of_bias_, expected_bias, 1e-6);
  }

 private:
  static constexpr std::size_t rows = 3;
  std::size_t stride() const { return columns_ + 2; }
  NormConfig config() const { return {.kind = test_.kind, .eps = 0.01f}; }

  scalar_reference::Inputs inputs() const {
    scalar_reference::Matrix x(rows, columns_), weight(1, columns_);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x.values[i] = x_[i / columns_ * stride() + i % columns_];
    }
    weight.values = weight_.numbers();
    return {{"x", x}, {"weight", weight}, {"bias", scalar_reference::Matrix(1, columns_)}};
  }

  // Differences of Σ r · norm(x), with r the gradient of the result.
  Numbers differences(const std::string& name) const {
    std::vector<float> r;
    for (std::size_t i = 0; i < rows; ++i) {
      const float* const row = of_result_.data() + i * stride();
      r.insert(r.end(), row, row + columns_);
    }
    const auto norm = [this](const scalar_reference::Inputs& in) {
      return scalar_reference::norm(config(), in.at("x"), in.at("weight"), in.at("bias"));
    };
    return scalar_reference::central_differences(norm, inputs(), name, r).values;
  }

  Numbers expected_of_x() const {
    Numbers expected = of_x_.numbers();
    const Numbers added = differences("x");
    for (std::size_t i = 0; i < added.size(); ++i) {
      double& to = expected[i / columns_ * stride() + i % columns_];
      to = added[i] + (test_.replaces ? 0 : to);
    }
    return expected;
  }

  Numbers expected_of(const std::string& name, const Guarded& before) const {
    Numbers expected = before.numbers();
    if (!test_.of_parameters) return expected;
    const Numbers added = differences(name);
    for (std::size_t i = 0; i < added.size(); ++i) expected[i] += added[i];
    return expected;
  }

  void compute(const LearningKernels& run) {
    norm_kernel(run, test_.kind)({.x = x_.data(),
                                  .of_result = test_.replaces ? of_x_.data() : of_result_.data(),
                                  .of_x = of_x_.data(),
                                  .replaces = test_.replaces,
                                  .rows = rows,
                                  .columns = columns_,
                                  .stride = stride(),
                                  .weight = weight_.data(),
                                  .of_weight = test_.of_parameters ? of_weight_.data() : nullptr,
                                  .of_bias = test_.of_parameters ? of_bias_.data() : nullptr,
                                  .eps = config().eps});
  }

  NormCase test_;
  std::size_t columns_;
  SplitMix64 random_;
  Guarded x_, weight_, of_result_, of_x_, of_weight_, of_bias_;
};

}  // namespace

TEST_CASE("gradients of norms match differences of their formulas", "[kernels]") {
  const NormKind kind = GENERATE(NormKind::standard, NormKind::unbiased, NormKind::rms);
  const bool replaces = GENERATE(false, true), of_parameters = GENERATE(false, true);
  INFO("kind " << static_cast<int>(kind) << (replaces ? ", replaces" : ", adds"));
  for_each_kernel([&](const LearningKernels& run, std::size_t n) {
    if (kind == NormKind::unbiased && n == 1) return;  // has no deviation over n - 1
    NormGradients({kind, replaces, of_parameters}, n).check(run);
  });
}

TEST_CASE("gradients of the norm of a row of zeros are finite", "[kernels]") {
  const NormKind kind = GENERATE(NormKind::standard, NormKind::unbiased, NormKind::rms);
  for_each_kernel([&](const LearningKernels& run, std::size_t n) {
    if (kind == NormKind::unbiased && n == 1) return;
    SplitMix64 random(n);
    const Guarded x(n), weight(n, random), of_result(n, random);
    Guarded of_x(n), of_weight(n);
    norm_kernel(run, kind)({.x = x.data(),
                            .of_result = of_result.data(),
                            .of_x = of_x.data(),
                            .rows = 1,
                            .columns = n,
                            .stride = n,
                            .weight = weight.data(),
                            .of_weight = of_weight.data(),
                            .eps = 0.25f});
    Numbers expected(n);
    double mean = 0;
    for (std::size_t j = 0; j < n; ++j) mean += weight[j] * of_result[j] / static_cast<double>(n);
    for (std::size_t j = 0; j < n; ++j) {
      const double centered = weight[j] * of_result[j] - (kind == NormKind::rms ? 0 : mean);
      expected[j] = centered / (kind == NormKind::unbiased ? 0.25 : 0.5);
    }
    check_near(of_x, expected, 1e-6);
    check_near(of_weight, Numbers(n), 0);
  });
}

TEST_CASE("gradients of softmax match differences of its formula", "[kernels]") {
  const float spread = GENERATE(1.0f, 20.0f);
  for_each_kernel([&](const LearningKernels& run, std::size_t n) {
    SplitMix64 random(n);
    const Guarded scores(n, random, spread);
    Guarded row(n, random), weights(n);
    const auto softmax = [](const scalar_reference::Inputs& in) {
      scalar_reference::Matrix shares = in.at("scores");
      double total = 0;
      for (double& share : shares.values) total += share = std::exp(share);
      return scalar_reference::scaled(shares, 1 / total);
    };
    scalar_reference::Matrix matrix(1, n);
    matrix.values = scores.numbers();
    const scalar_reference::Inputs inputs = {{"scores", matrix}};
    const Numbers shares = softmax(inputs).values;
    std::ranges::transform(shares, weights.data(), [](double w) { return static_cast<float>(w); });
    const Numbers expected =
        scalar_reference::central_differences(softmax, inputs, "scores", {row.data(), row.size()})
            .values;
    run.softmax_backward(weights.data(), row.data(), n);
    check_near(row, expected, 5e-7);
  });
}

TEST_CASE("all instruction sets compute the same gradients, bit for bit", "[kernels]") {
  const auto activation = static_cast<Activation>(GENERATE(range(0, 7)));
  for (const std::size_t n : tail_lengths) {
    std::vector<Guarded> results;
    for (const Kernels* kernels : available_kernels()) {
      const LearningKernels& run = learning_kernels(*kernels);
      SplitMix64 random(n);
      const Guarded x(n, random, 4), weight(n, random);
      Guarded gradient(n, random);
      run.activate_backward(activation, x.data(), gradient.data(), n);
      run.softmax_backward(weight.data(), gradient.data(), n);
      run.layer_norm_backward({.x = x.data(),
                               .of_result = gradient.data(),
                               .of_x = gradient.data(),
                               .replaces = true,
                               .rows = 1,
                               .columns = n,
                               .stride = n,
                               .weight = weight.data(),
                               .eps = 1e-5f});
      gradient.data()[0] += run.dot(x.data(), gradient.data(), n);
      results.push_back(gradient);
      CHECK(gradient == results.front());
    }
  }
}

TEST_CASE("a sum of rows is added to what was there", "[kernels]") {
  const std::size_t rows = GENERATE(0, 1, 5, 40);
  for_each_kernel([&](const LearningKernels& run, std::size_t n) {
    SplitMix64 random(n);
    const std::size_t stride = n + 3;
    const Guarded x(std::max<std::size_t>(rows, 1) * stride, random);
    Guarded sums(n, random);
    Numbers expected = sums.numbers();
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < n; ++j) expected[j] += x[i * stride + j];
    }
    run.add_rows(x.data(), stride, rows, n, sums.data());
    check_near(sums, expected, 1e-6);
  });
}

TEST_CASE("a transposed matrix has the same numbers", "[kernels]") {
  const std::size_t rows = GENERATE(0, 1, 7, 16, 17, 35);
  for_each_kernel([&](const LearningKernels& run, std::size_t columns) {
    SplitMix64 random(rows);
    const std::size_t x_stride = columns + 3, y_stride = rows + 2;
    const Guarded x(std::max<std::size_t>(rows, 1) * x_stride, random);
    Guarded y(columns * y_stride, random);
    Numbers expected = y.numbers();  // the floats between the rows stay
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) expected[j * y_stride + i] = x[i * x_stride + j];
    }
    run.transpose(x.data(), x_stride, rows, columns, y.data(), y_stride);
    check_near(y, expected, 0);
  });
}

TEST_CASE("a dot product matches its formula", "[kernels]") {
  for_each_kernel([&](const LearningKernels& run, std::size_t n) {
    SplitMix64 random(n);
    const Guarded a(n, random), b(n, random);
    const double expected = scalar_reference::dot(a.numbers().data(), b.numbers().data(), n);
    const auto got = static_cast<double>(run.dot(a.data(), b.data(), n));
    CHECK(std::abs(got - expected) <= 1e-6);
    CHECK(run.dot(a.data(), b.data(), 0) == 0.0f);
  });
}

namespace {

// One number that AdamW learns, in double precision.
struct LearnedNumber {
  double value, mean = 0, square = 0;

  void step(const AdamArgs& args, double gradient) {
    const auto number = [](float x) { return static_cast<double>(x); };
    const double beta1 = number(args.beta1), beta2 = number(args.beta2), rate = number(args.rate);
    gradient *= number(args.gradient_scale);
    mean = beta1 * mean + (1 - beta1) * gradient;
    square = beta2 * square + (1 - beta2) * gradient * gradient;
    value -= rate * number(args.decay) * value;
    const double corrected = mean / number(args.correction1);
    value -= rate * corrected / (std::sqrt(square / number(args.correction2)) + number(args.eps));
  }
};

struct AdamCase {
  float rate, decay, beta2, gradient_scale, eps;

  // The arguments of a step, from 1, without its buffers.
  AdamArgs step(int number) const {
    const auto power = static_cast<float>(number);
    return {.gradient_scale = gradient_scale,
            .rate = rate,
            .decay = decay,
            .beta1 = 0.9f,
            .beta2 = beta2,
            .correction1 = 1 - std::pow(0.9f, power),
            .correction2 = 1 - std::pow(beta2, power),
            .eps = eps};
  }
};

// Checks one number of every LearnedNumber.
void check_learned(const Guarded& got, const std::vector<LearnedNumber>& learned,
                   double LearnedNumber::*number) {
  Numbers expected;
  for (const LearnedNumber& one : learned) expected.push_back(one.*number);
  check_near(got, expected, 1e-6);
}

}  // namespace

TEST_CASE("ten steps of AdamW match its formula", "[kernels]") {
  const AdamCase test = GENERATE(from_range(std::vector<AdamCase>{
      {0.01f, 0.0f, 0.999f, 1.0f, 1e-8f},
      {0.1f, 0.5f, 0.98f, 0.25f, 1e-6f},
      {0.001f, 0.01f, 0.999f, 3.0f, 0.1f},
  }));
  for_each_kernel([&](const LearningKernels& run, std::size_t n) {
    SplitMix64 random(n);
    Guarded value(n, random), mean(n), square(n);
    std::vector<LearnedNumber> learned;
    for (std::size_t i = 0; i < n; ++i) learned.push_back({.value = value[i]});
    for (int step = 1; step <= 10; ++step) {
      Guarded gradient(n, random);
      gradient.data()[0] = 0;  // a parameter without a gradient only decays
      AdamArgs args = test.step(step);
      args.value = value.data();
      args.gradient = gradient.data();
      args.mean = mean.data();
      args.square = square.data();
      args.n = n;
      run.adam(args);
      for (std::size_t i = 0; i < n; ++i) learned[i].step(args, gradient[i]);
    }
    check_learned(value, learned, &LearnedNumber::value);
    check_learned(mean, learned, &LearnedNumber::mean);
    check_learned(square, learned, &LearnedNumber::square);
  });
}

}  // namespace glassformer::test
