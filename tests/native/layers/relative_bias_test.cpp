// Positions as a bias added to attention scores.

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "layers/attention/relative_bias.hpp"

namespace glassformer::test {
namespace {

// Returns the smallest distance of each bucket, in ascending order; `behind`: for keys before their
// queries.
std::vector<std::ptrdiff_t> first_of_buckets(const RelativeBiasShape& shape, bool behind) {
  std::vector<std::ptrdiff_t> first;
  std::size_t last = shape.buckets;
  for (std::ptrdiff_t distance = behind ? 1 : 0; distance < 1000; ++distance) {
    const std::size_t bucket = RelativeBias::bucket(shape, behind ? distance : -distance);
    if (bucket != last) first.push_back(distance);
    last = bucket;
  }
  return first;
}

}  // namespace

// The values that transformers 5.12 computes for distances below 1000.
TEST_CASE("distances are assigned to the original library's buckets", "[layers]") {
  using Firsts = std::vector<std::ptrdiff_t>;
  const RelativeBiasShape both = {1, 32, 128, Distances::both_ways};
  CHECK(first_of_buckets(both, false) ==
        Firsts{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91});
  CHECK(first_of_buckets(both, true) == Firsts{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91});
  CHECK(RelativeBias::bucket(both, 1) == 17);
  CHECK(RelativeBias::bucket(both, -1) == 1);
  CHECK(RelativeBias::bucket(both, 500) == 31);
  CHECK(RelativeBias::bucket(both, -500) == 15);
  const RelativeBiasShape before = {1, 32, 128, Distances::before};
  CHECK(first_of_buckets(before, false) == Firsts{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                  11, 12, 13, 14, 15, 16, 19, 21, 24, 27, 31,
                                                  35, 40, 46, 52, 59, 67, 77, 87, 99, 113});
  CHECK(RelativeBias::bucket(before, 3) == 0);  // a key that is not visible
}

TEST_CASE("the bias of a distance does not depend on the text's length", "[layers]") {
  RelativeBias bias(
      {.n_heads = 2, .buckets = 8, .distance = 16, .distances = Distances::both_ways});
  std::vector<NamedParameter> parameters;
  bias.declare(ParameterScope(parameters).scope("relative_bias"));
  REQUIRE(parameters.size() == 1);
  CHECK(parameters[0].shape == std::vector<std::size_t>{8, 2});
  std::vector<float> values;
  for (int i = 0; i < 16; ++i) values.push_back(static_cast<float>(i));
  parameters[0].set(values, 0);
  Session session;
  for (const std::size_t head : {std::size_t{0}, std::size_t{1}}) {
    const float* few = bias.of(head, 3, session);
    CHECK(few[0] == static_cast<float>(head));
    CHECK(few[-2] == static_cast<float>(2 * 2 + head));
    CHECK(few[1] == static_cast<float>(2 * 5 + head));
    const float* many = bias.of(head, 700, session);
    CHECK(many[0] == static_cast<float>(head));
    CHECK(many[-699] == static_cast<float>(2 * 3 + head));
    CHECK(many[699] == static_cast<float>(2 * 7 + head));
  }
}

}  // namespace glassformer::test
