// The backward of every layer, compared with central differences of its formula in double
// precision.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "layers/elementwise/elementwise.hpp"
#include "layers/feed_forward/feed_forward.hpp"
#include "layers/linear/linear.hpp"
#include "layers/norm/norm.hpp"
#include "layers/norm/residual.hpp"
#include "layers/pooling/pooling.hpp"
#include "support/layer_check.hpp"

namespace glassformer::test {
namespace {

using scalar_reference::input_or_empty;
using scalar_reference::Inputs;
using scalar_reference::Matrix;

constexpr Activation every_activation[] = {
    Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::quick_gelu,
    Activation::silu, Activation::tanh, Activation::linear};

// The layer of this name, of some input.
Matrix linear_of(const Inputs& in, const Matrix& x, const std::string& name = "") {
  const std::string prefix = name.empty() ? "" : name + ".";
  return scalar_reference::linear(x, in.at(prefix + "weight"), input_or_empty(in, prefix + "bias"));
}

}  // namespace

TEST_CASE("a linear layer's gradients match its formula", "[backward]") {
  struct Sizes {
    std::size_t n, in, out;
  };
  const auto [n, in, out] = GENERATE(
      from_range(std::vector<Sizes>{{1, 1, 1}, {5, 7, 3}, {17, 33, 20}, {300, 3, 5}, {2, 64, 16}}));
  const Bias bias = GENERATE(Bias::none, Bias::present);
  INFO(n << " rows, " << in << " to " << out);
  LayerCheck check;
  Linear layer(in, out, Compute::f32);
  layer.declare(check.parameters(), bias);
  check.start();
  const View x = check.input("x", n, in), y = check.run().make(n, out);
  layer(const_view(x), y, check.run());
  check.compare(
      y, [](const Inputs& inputs) { return linear_of(inputs, inputs.at("x")); }, n == 17 ? 3 : 1);
}

TEST_CASE("a linear layer with relu passes gradients only of positive results", "[backward]") {
  LayerCheck check;
  Linear layer(9, 19, Compute::f32);
  layer.declare(check.parameters(), Bias::present);
  check.start();
  const View x = check.input("x", 6, 9), y = check.run().make(6, 19);
  layer(const_view(x), y, check.run(), Activation::relu);
  check.compare(y, [](const Inputs& in) {
    return scalar_reference::activate(Activation::relu, linear_of(in, in.at("x")));
  });
}

TEST_CASE("a linear layer that adds to a sum keeps the sum's gradient", "[backward]") {
  const bool by_name = GENERATE(false, true);
  LayerCheck check;
  Linear layer(7, 5, Compute::f32);
  layer.declare(check.parameters(), Bias::present);
  check.start();
  const View x = check.input("x", 4, 7), y = check.input("y", 4, 5);
  if (by_name) {
    layer.add_to(y, const_view(x), check.run(), "output");
  } else {
    layer(const_view(x), y, check.run(), Epilogue::accumulate);
  }
  check.compare(y, [](const Inputs& in) {
    return scalar_reference::sum(in.at("y"), linear_of(in, in.at("x")));
  });
}

TEST_CASE("two names that share one linear layer have gradients of their own", "[backward]") {
  LayerCheck check;
  Linear layer(6, 3 + 8, Compute::f32);
  layer.declare(check.parameters("first"), 0, 3, Bias::present);
  layer.declare(check.parameters("second"), 3, 8, Bias::present);
  check.start();
  const View x = check.input("x", 5, 6), y = check.run().make(5, 11);
  layer(const_view(x), y, check.run());
  check.compare(y, [](const Inputs& in) {
    const Matrix first = linear_of(in, in.at("x"), "first"),
                 second = linear_of(in, in.at("x"), "second");
    Matrix both(5, 11);
    for (std::size_t i = 0; i < 5; ++i) {
      std::copy_n(first.row(i), 3, both.row(i));
      std::copy_n(second.row(i), 8, both.row(i) + 3);
    }
    return both;
  });
}

TEST_CASE("layers without rows have no gradients", "[backward]") {
  LayerCheck check;
  Linear layer(3, 2, Compute::f32);
  layer.declare(check.parameters(), Bias::present);
  check.start();
  const View x = check.input("x", 0, 3), y = check.run().make(0, 2);
  layer(const_view(x), y, check.run());
  check.rewind(y);
  for (std::size_t slot = 1; slot <= check.gradients().size(); ++slot) {
    CHECK(std::ranges::all_of(check.gradients().of(slot), [](float g) { return g == 0; }));
  }
}

TEST_CASE("a norm's gradients match its formula", "[backward]") {
  const NormKind kind = GENERATE(NormKind::standard, NormKind::unbiased, NormKind::rms);
  const std::size_t columns = GENERATE(2, 7, 33, 64);
  const bool in_place = GENERATE(false, true), bias = GENERATE(false, true);
  const NormConfig config = {.kind = kind, .eps = 1e-5f, .bias = bias};
  INFO("kind " << static_cast<int>(kind) << ", " << columns << " columns");
  LayerCheck check;
  const std::unique_ptr<Norm> norm = make_norm(config, columns);
  norm->declare(check.parameters());
  check.start();
  const View x = check.input("x", 5, columns), y = in_place ? x : check.run().make(5, columns);
  (*norm)(const_view(x), y, check.run());
  check.compare(y, [&](const Inputs& in) {
    return scalar_reference::norm(config, in.at("x"), in.at("weight"), input_or_empty(in, "bias"));
  });
}

TEST_CASE("a norm's gradients do not replace those of another use of its input", "[backward]") {
  const NormConfig config = {.kind = NormKind::standard, .eps = 1e-5f};
  LayerCheck check;
  StandardLayerNorm norm(11, config);
  norm.declare(check.parameters());
  check.start();
  const View x = check.input("x", 3, 11), y = check.run().make(3, 11);
  norm(const_view(x), y, check.run());
  add(y, const_view(x), check.run());
  check.compare(y, [&](const Inputs& in) {
    return scalar_reference::sum(
        scalar_reference::norm(config, in.at("x"), in.at("weight"), input_or_empty(in, "bias")),
        in.at("x"));
  });
}

// At t = 0, c / (t + eps) has the slope (1 - 1/n) / eps of c alone. Differences need an eps that is
// large compared to their step.
TEST_CASE("the unbiased norm of equal numbers has gradients", "[backward]") {
  const float eps = GENERATE(0.5f, 1e-6f);
  LayerCheck check;
  UnbiasedLayerNorm norm(8, {.kind = NormKind::unbiased, .eps = eps});
  norm.declare(check.parameters());
  check.start();
  Matrix equal(3, 8);
  std::fill_n(equal.row(0), 8, 1.5);
  std::fill_n(equal.row(2), 8, -3.0);
  const View x = check.input("x", equal), y = check.run().make(3, 8);
  norm(const_view(x), y, check.run());
  check.rewind(y);
  const std::vector<float> got = check.gradient("x");
  for (std::size_t i = 0; i < 3; ++i) {
    double mean = 0;
    const auto weighted = [&](std::size_t j) {
      return check.values("weight").values[j] *
             static_cast<double>(*check.tape().gradient(&y(i, j)));
    };
    for (std::size_t j = 0; j < 8; ++j) mean += weighted(j) / 8;
    double largest = 0, worst = 0;
    for (std::size_t j = 0; j < 8; ++j) {
      const double expected = (weighted(j) - mean) / static_cast<double>(eps);
      largest = std::max(largest, std::abs(expected));
      worst = std::max(worst, std::abs(static_cast<double>(got[i * 8 + j]) - expected));
    }
    CHECK(worst <= 1e-6 * largest);
  }
}

TEST_CASE("an activation's gradients match its formula", "[backward]") {
  const Activation activation = GENERATE(from_range(every_activation));
  INFO("activation " << static_cast<int>(activation));
  LayerCheck check;
  check.start();
  Matrix values = check.random_matrix(3, 37);
  for (double& value : values.values) value *= 4;
  const View x = check.input("x", values);
  activate(activation, x, check.run());
  check.compare(
      x, [&](const Inputs& in) { return scalar_reference::activate(activation, in.at("x")); });
}

TEST_CASE("a gate's gradients match its formula", "[backward]") {
  const Activation activation = GENERATE(from_range(every_activation));
  INFO("activation " << static_cast<int>(activation));
  constexpr std::size_t columns = 19;
  LayerCheck check;
  check.start();
  const View both = check.input("both", 4, 2 * columns), y = check.run().make(4, columns);
  gate(activation, both.data(), both.data() + columns, 2 * columns, y, check.run());
  check.compare(y, [&](const Inputs& in) {
    return scalar_reference::gate(activation,
                                  scalar_reference::columns_of(in.at("both"), 0, columns),
                                  scalar_reference::columns_of(in.at("both"), columns, columns));
  });
}

TEST_CASE("a feed-forward block's gradients match its formula", "[backward]") {
  struct Case {
    Activation activation;
    bool gated, bias;
  };
  const auto [activation, gated, bias] =
      GENERATE(from_range(std::vector<Case>{{Activation::relu, false, true},
                                            {Activation::gelu, false, true},
                                            {Activation::silu, true, false},
                                            {Activation::gelu_tanh, true, true}}));
  INFO("activation " << static_cast<int>(activation));
  LayerCheck check;
  const auto block = make_feed_forward(
      {.d_ff = 13, .activation = activation, .gated = gated, .bias = bias}, 6, Compute::f32);
  block->declare(check.parameters());
  check.start();
  const View input = check.input("input", 5, 6), x = check.input("x", 5, 6);
  block->add_to(x, const_view(input), check.run());
  check.compare(x, [&, activation = activation, gated = gated](const Inputs& in) {
    const Matrix fc1 = linear_of(in, in.at("input"), "fc1");
    const Matrix hidden =
        gated ? scalar_reference::gate(activation, linear_of(in, in.at("input"), "fc1_gate"), fc1)
              : scalar_reference::activate(activation, fc1);
    return scalar_reference::sum(in.at("x"), linear_of(in, hidden, "fc2"));
  });
}

TEST_CASE("a residual connection's gradients match its formula", "[backward]") {
  enum class Order { pre, post, no_norm };
  const Order order = GENERATE(Order::pre, Order::post, Order::no_norm);
  const bool connected = GENERATE(true, false), normed_output = GENERATE(false, true);
  INFO("order " << static_cast<int>(order) << (connected ? "" : ", without the connection")
                << (normed_output ? ", with a norm on the output" : ""));
  const NormConfig config = {.kind = NormKind::standard, .eps = 1e-5f};
  LayerCheck check;
  Linear layer(6, 6, Compute::f32);
  layer.declare(check.parameters("layer"), Bias::present);
  Residual::NamedNorm norm = {"norm"}, output_norm = {"output_norm"};
  if (order != Order::no_norm) norm.norm = make_norm(config, 6);
  if (normed_output) output_norm.norm = make_norm(config, 6);
  Residual residual(std::move(norm), std::move(output_norm),
                    order == Order::pre ? NormPlacement::pre : NormPlacement::post, connected);
  residual.declare(check.parameters());
  check.start();
  const View x = check.input("x", 4, 6);
  residual(x, check.run(), "residual", [&](View sum, const ConstView& input) {
    layer(input, sum, check.run(), Epilogue::accumulate);
  });
  check.compare(x, [&](const Inputs& in) {
    const auto normed = [&](const Matrix& of, const std::string& name) {
      return scalar_reference::norm(config, of, in.at(name + ".weight"), in.at(name + ".bias"));
    };
    const auto layer_norm = [&](const Matrix& of) { return normed(of, "norm"); };
    const Matrix& before = in.at("x");
    const Matrix read = order == Order::pre ? layer_norm(before) : before;
    const Matrix output = linear_of(in, read, "layer");
    const Matrix added = normed_output ? normed(output, "output_norm") : output;
    const Matrix sum = connected ? scalar_reference::sum(before, added) : added;
    return order == Order::post ? layer_norm(sum) : sum;
  });
}

TEST_CASE("gradients of sums, multiples and zeros match their formulas", "[backward]") {
  LayerCheck check;
  check.start();
  const View a = check.input("a", 3, 7), b = check.input("b", 3, 7), c = check.input("c", 3, 7);
  const View copy = check.run().make(3, 7);
  scale(const_view(a), -1.5f, copy, check.run());
  scale(const_view(copy), 0.25f, copy, check.run());
  add(copy, const_view(b), check.run());
  add(copy, const_view(a), check.run());
  set_to_zero(c, check.run());
  add(copy, const_view(c), check.run());
  add(c, const_view(b), check.run());
  add(copy, const_view(c), check.run());
  check.compare(copy, [](const Inputs& in) {
    return scalar_reference::sum(scalar_reference::scaled(in.at("a"), 1 - 1.5 * 0.25),
                                 scalar_reference::scaled(in.at("b"), 2));
  });
}

TEST_CASE("a pooling's gradients match its formula", "[backward]") {
  const Pooling kind = GENERATE(Pooling::mean, Pooling::first);
  LayerCheck check;
  check.start();
  Sequences sequences;
  sequences.add(4, std::vector<std::size_t>{1, 3});
  sequences.add(1);
  sequences.add(3);
  sequences.add(2, std::vector<std::size_t>{0, 1});
  const View x = check.input("x", 10, 9), pooled = check.run().make(4, 9);
  const auto pooling = make_pooling(kind);
  (*pooling)(const_view(x), sequences, pooled, check.run());
  const std::vector<std::vector<std::size_t>> rows =
      kind == Pooling::mean ? std::vector<std::vector<std::size_t>>{{0, 2}, {4}, {5, 6, 7}, {}}
                            : std::vector<std::vector<std::size_t>>{{0}, {4}, {5}, {8}};
  check.compare(pooled, [&](const Inputs& in) {
    Matrix means(4, 9);
    for (std::size_t s = 0; s < 4; ++s) {
      for (const std::size_t row : rows[s]) {
        for (std::size_t j = 0; j < 9; ++j) {
          means.row(s)[j] += in.at("x").row(row)[j] / static_cast<double>(rows[s].size());
        }
      }
    }
    return means;
  });
}

}  // namespace glassformer::test
