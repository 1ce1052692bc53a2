// Weights that a layer keeps in 16 bits, as the file has them.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <numeric>

#include "kernels/kernels.hpp"
#include "layers/linear/linear.hpp"
#include "run/session.hpp"

namespace glassformer::test {
namespace {

constexpr std::size_t in = 5, out = 40;

std::uint16_t number(std::size_t i) {  // bfloat16
  return static_cast<std::uint16_t>((i % 3 == 0 ? 0xBF00 : 0x3E80) + i % 64);
}

// A layer of two names, such as queries and keys.
struct TwoNames {
  TwoNames() : layer(in, 2 * out, Compute::f32) {
    const ParameterScope scope(parameters);
    layer.declare(scope.scope("one"), 0, out, Bias::none);
    layer.declare(scope.scope("two"), out, out, Bias::none);
  }

  // Sets the weights of a name, as floats or as they are.
  void set_floats(std::size_t name) {
    std::vector<float> floats;
    for (const std::uint16_t half : halves(name)) floats.push_back(bfloat_to_float(half));
    parameters[name].set(floats, 0);
  }
  bool set_halves(std::size_t name, Half format = Half::bf16) {
    const std::vector<std::uint16_t> values = halves(name);
    const std::span<const std::uint16_t> all = values;
    return parameters[name].set_halves(all.first(3 * in), format, 0) &&
           parameters[name].set_halves(all.subspan(3 * in), format, 3);
  }
  std::vector<float> output(const Linear& of, std::size_t rows) const {
    std::vector<float> x(rows * in);
    std::iota(x.begin(), x.end(), 0.5f);
    std::vector<float> y(rows * of.out());
    Session session;
    of.multiply(const_view(x.data(), {rows, in}), View(y.data(), {rows, of.out()}), session);
    return y;
  }
  std::vector<float> output(std::size_t rows) const { return output(layer, rows); }

  std::vector<NamedParameter> parameters;
  Linear layer;

 private:
  static std::vector<std::uint16_t> halves(std::size_t name) {
    std::vector<std::uint16_t> values(out * in);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = number(i + 17 * name);
    return values;
  }
};

bool keeps(Half format) {
  return (format == Half::f16 ? kernels().matmul_f16 : kernels().matmul_bf16) != nullptr;
}

TEST_CASE("a layer keeps weights in 16 bits and gives the same output", "[layers]") {
  TwoNames floats, halves;
  for (const std::size_t name : {0, 1}) {
    floats.set_floats(name);
    REQUIRE(halves.set_halves(name) == keeps(Half::bf16));
  }
  if (!keeps(Half::bf16)) return;
  for (const std::size_t rows : {1, 30}) CHECK(halves.output(rows) == floats.output(rows));
  std::vector<float> weights(in);
  for (const std::size_t row : {0, 39}) {
    halves.parameters[1].get(row, weights);
    CHECK(weights[2] == bfloat_to_float(number(row * in + 2 + 17)));
  }
  const std::vector<std::int32_t> some = {71, 3, 40};
  const Linear few = halves.layer.select(some);
  const std::vector<float> all = halves.output(1), chosen = halves.output(few, 1);
  for (std::size_t i = 0; i < some.size(); ++i) {
    CHECK(chosen[i] == all[static_cast<std::size_t>(some[i])]);
  }
}

TEST_CASE("a layer with weights of several formats keeps floats", "[layers]") {
  TwoNames floats, first_halves, first_floats, both;
  for (const std::size_t name : {0, 1}) floats.set_floats(name);
  first_halves.set_halves(0);
  first_halves.set_floats(1);
  if (!keeps(Half::bf16)) first_halves.set_floats(0);
  CHECK(first_halves.output(2) == floats.output(2));
  first_floats.set_floats(0);
  CHECK_FALSE(first_floats.set_halves(1));
  first_floats.set_floats(1);
  CHECK(first_floats.output(2) == floats.output(2));
  both.set_halves(0);
  CHECK_FALSE((keeps(Half::bf16) && both.set_halves(1, Half::f16)));
}

}  // namespace
}  // namespace glassformer::test
