// Products of a layer whose rows share a place of the cache.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "layers/linear/linear.hpp"
#include "run/session.hpp"

namespace glassformer::test {
namespace {

std::vector<float> numbers(std::size_t count, std::size_t period) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = 0.125f * (static_cast<float>(i * 7 % period) - static_cast<float>(period / 2));
  }
  return values;
}

TEST_CASE("rows are multiplied alike, many or one at a time", "[layers]") {
  const std::size_t in = GENERATE(1024, 4096), out = 136, rows = 150;
  const Compute compute = GENERATE(Compute::f32, Compute::int8);
  const bool holds = GENERATE(false, true);
  Linear layer(in, out, compute);
  std::vector<NamedParameter> parameters;
  layer.declare(ParameterScope(parameters), 0, out, Bias::none);
  if (compute == Compute::f32) {
    parameters[0].set(numbers(out * in, 61), 0);
  } else {
    std::vector<std::int8_t> integers(out * in);
    for (std::size_t i = 0; i < integers.size(); ++i) {
      integers[i] = static_cast<std::int8_t>(static_cast<int>(i * 7 % 201) - 100);
    }
    parameters[0].set_integers(integers, numbers(out, 31), 0);
  }

  const std::vector<float> x = numbers(rows * in, 53);
  std::vector<float> each(rows * out), all(rows * out);
  Session alone;
  for (std::size_t row = 0; row < rows; ++row) {
    layer.multiply(const_view(x.data() + row * in, {1, in}),
                   View(each.data() + row * out, {1, out}), alone);
  }
  Pool pool;
  pool.resize(GENERATE(1u, 3u));
  Session session(pool);
  session.arena.hold(holds);
  for (const std::size_t count : {std::size_t{0}, rows}) {
    layer.multiply(const_view(x.data(), {count, in}), View(all.data(), {count, out}), session);
  }
  CHECK(all == each);
}

}  // namespace
}  // namespace glassformer::test
