// The tape itself: passes one after the other, and dropout.

#include "run/tape.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "kernels/pool.hpp"
#include "layers/feed_forward/feed_forward.hpp"
#include "layers/norm/residual.hpp"
#include "support/layer_check.hpp"

namespace glassformer::test {
namespace {

using scalar_reference::Matrix;

// A small network that keeps values, changes others in place and has several parameters.
struct SmallNetwork {
  SmallNetwork() {
    residual.declare(check.parameters());
    block->declare(check.parameters());
    check.start();
  }

  // Runs a pass and takes it back with this gradient of every result.
  void pass(const Matrix& input, float of_result) {
    const View x = check.input("x", input);
    residual(x, check.run(), "residual",
             [&](View sum, const ConstView& of) { block->add_to(sum, of, check.run()); });
    check.tape().turn();
    std::fill_n(check.tape().gradient(x.data()), x.size(), of_result);
    check.tape().rewind();
  }

  std::vector<std::vector<float>> parameter_gradients() {
    std::vector<std::vector<float>> all;
    for (std::size_t slot = 1; slot <= check.gradients().size(); ++slot) {
      const auto gradient = check.gradients().of(slot);
      all.emplace_back(gradient.begin(), gradient.end());
    }
    return all;
  }

  LayerCheck check;
  Residual residual{
      {"norm", make_norm({.eps = 1e-5f}, 24)}, {"output_norm"}, NormPlacement::post, true};
  std::unique_ptr<FeedForward> block =
      make_feed_forward({.d_ff = 70, .activation = Activation::gelu}, 24, Compute::f32);
};

std::vector<float> dropped(LayerCheck& check, std::uint64_t seed, float share,
                           const Matrix& values) {
  check.start_again();
  check.tape().random = SplitMix64(seed);
  check.tape().dropout = share;
  const View x = check.input("x", values);
  check.run().drop(x);
  return {x.begin(), x.end()};
}

}  // namespace

TEST_CASE("a second pass on a tape gives the same gradients, bit for bit", "[tape]") {
  SmallNetwork network;
  const Matrix input = network.check.random_matrix(60, 24);
  network.pass(input, 0.5f);
  const auto parameters = network.parameter_gradients();
  const auto of_input = network.check.gradient("x");
  CHECK(std::ranges::any_of(of_input, [](float g) { return g != 0; }));

  network.check.start_again();  // a longer pass between them, which grows the arena
  network.pass(network.check.random_matrix(200, 24), 1.0f);
  network.check.gradients().set_to_zero();
  network.check.start_again();
  network.pass(input, 0.5f);
  CHECK(network.parameter_gradients() == parameters);
  CHECK(network.check.gradient("x") == of_input);
}

TEST_CASE("the gradients of parameters add up over passes", "[tape]") {
  SmallNetwork network;
  const Matrix first = network.check.random_matrix(9, 24);
  const Matrix second = network.check.random_matrix(13, 24);
  network.pass(first, 0.5f);
  const auto of_first = network.parameter_gradients();
  network.check.gradients().set_to_zero();
  network.check.start_again();
  network.pass(second, 0.5f);
  const auto of_second = network.parameter_gradients();
  network.check.start_again();
  network.pass(first, 0.5f);
  const auto of_both = network.parameter_gradients();

  for (std::size_t i = 0; i < of_both.size(); ++i) {
    float largest = 0, worst = 0;
    for (std::size_t j = 0; j < of_both[i].size(); ++j) {
      const float sum = of_first[i][j] + of_second[i][j];
      largest = std::max(largest, std::abs(sum));
      worst = std::max(worst, std::abs(of_both[i][j] - sum));
    }
    CHECK(worst <= 1e-6f * largest + 1e-6f);  // only the order of the sums differs
  }
}

TEST_CASE("gradients of parameters add up buffer by buffer", "[tape]") {
  const std::vector<std::size_t> sizes = {3, 20};
  ParameterGradients a(sizes), b(sizes);
  std::ranges::fill(a.of(1), 1.0f);
  std::ranges::fill(b.of(1), 2.0f);
  std::ranges::fill(b.of(2), 4.0f);
  Pool pool;
  a.add(b, pool);
  CHECK(std::ranges::all_of(a.of(1), [](float value) { return value == 3.0f; }));
  CHECK(std::ranges::all_of(a.of(2), [](float value) { return value == 4.0f; }));
  a.set_to_zero();
  CHECK(std::ranges::all_of(a.of(2), [](float value) { return value == 0.0f; }));
}

TEST_CASE("a parameter that is not learned has no gradient", "[tape]") {
  Session session;
  Tape tape(session.arena);
  Linear layer(4, 3, Compute::f32);
  std::vector<NamedParameter> parameters;
  layer.declare(ParameterScope(parameters), Bias::present);
  for (const NamedParameter& parameter : parameters) {
    parameter.set(std::vector<float>(parameter.shape.size() == 2 ? 12 : 3, 0.5f), 0);
  }
  tape.start(nullptr);
  Run run(session);
  run.record(tape);
  const View x = run.make(2, 4), y = run.make(2, 3);
  std::fill_n(x.data(), x.size(), 1.0f);
  layer(const_view(x), y, run);
  tape.turn();
  std::fill_n(tape.gradient(y.data()), y.size(), 1.0f);
  tape.rewind();
  CHECK(tape.gradient(layer.weight_parameter()) == nullptr);
  CHECK(*tape.gradient(x.data()) == 1.5f);
}

TEST_CASE("dropout sets a share of numbers to zero and enlarges the others", "[tape]") {
  const float share = GENERATE(0.1f, 0.5f);
  constexpr std::size_t size = 100001;  // not a multiple of the numbers per random draw
  LayerCheck check;
  check.start();
  const Matrix values = check.random_matrix(1, size);
  const std::vector<float> result = dropped(check, 3, share, values);
  std::size_t zeros = 0, wrong = 0;
  for (std::size_t i = 0; i < size; ++i) {
    zeros += result[i] == 0 ? 1 : 0;
    const double expected = values.values[i] / (1 - static_cast<double>(share));
    const double error = std::abs(static_cast<double>(result[i]) - expected);
    wrong += result[i] != 0 && error > 3e-7 * std::abs(expected) ? 1 : 0;
  }
  CHECK(wrong == 0);
  // Four standard deviations are 0.4 % and 0.6 %.
  CHECK(std::abs(static_cast<double>(zeros) / size - static_cast<double>(share)) < 0.01);
}

TEST_CASE("gradients pass dropout where numbers did", "[tape]") {
  LayerCheck check;
  check.start();
  const std::vector<float> result = dropped(check, 3, 0.25f, Matrix(1, 1003));
  CHECK(std::ranges::all_of(result, [](float value) { return value == 0; }));
  Matrix ones(1, 1003);
  std::ranges::fill(ones.values, 1.0);
  const std::vector<float> mask = dropped(check, 3, 0.25f, ones);
  check.tape().turn();
  std::fill_n(check.tape().gradient(check.input("x").data()), 1003, 1.0f);
  check.tape().rewind();
  CHECK(check.gradient("x") == mask);
}

TEST_CASE("the same seed drops the same numbers", "[tape]") {
  LayerCheck check;
  check.start();
  Matrix ones(3, 57);
  std::ranges::fill(ones.values, 1.0);
  const std::vector<float> mask = dropped(check, 5, 0.5f, ones);
  CHECK(dropped(check, 5, 0.5f, ones) == mask);
  CHECK(dropped(check, 6, 0.5f, ones) != mask);
  const View second = check.input("y", ones);  // a second dropout of the same pass
  check.run().drop(second);
  CHECK(std::vector<float>(second.begin(), second.end()) != mask);
  CHECK(dropped(check, 5, 0.0f, ones) == std::vector<float>(3 * 57, 1.0f));
}

TEST_CASE("a layer that adds to a sum drops only what it adds", "[tape]") {
  LayerCheck check;
  Linear layer(4, 6, Compute::f32);
  layer.declare(check.parameters(), Bias::present);
  check.start();
  check.tape().dropout = 0.5f;
  check.tape().random = SplitMix64(9);
  const View x = check.input("x", 5, 4), sum = check.input("sum", 5, 6);
  const Matrix before = check.values("sum");
  layer.add_to(sum, const_view(x), check.run(), "output");
  // The mask, found from the result.
  Matrix mask(5, 6);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    mask.values[i] = static_cast<double>(sum.data()[i]) == before.values[i] ? 0 : 2;
  }
  check.compare(sum, [&](const scalar_reference::Inputs& in) {
    Matrix added = scalar_reference::linear(in.at("x"), in.at("weight"), in.at("bias"));
    for (std::size_t i = 0; i < added.size(); ++i) added.values[i] *= mask.values[i];
    return scalar_reference::sum(in.at("sum"), added);
  });
}

}  // namespace glassformer::test
