#include "tensor/tensor.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <cstdint>

#include "base/error.hpp"

namespace glassformer {

TEST_CASE("tensors are row-major and aligned, and windows share their elements", "[tensor]") {
  Tensor x({3, 5}, 0.0f);
  CHECK(reinterpret_cast<std::uintptr_t>(x.data()) % alignment == 0);
  View middle = rows(x, 1, 1);
  middle(0, 2) = 7.0f;
  CHECK(x(1, 2) == 7.0f);
  CHECK(x.data()[7] == 7.0f);
  const ConstView all = const_view(x);
  CHECK(all.data() == x.data());
  CHECK(all(1, 2) == 7.0f);
}

TEST_CASE("a wrong shape is refused by name, with both shapes", "[tensor]") {
  const Tensor x({3, 5}, 0.0f);
  CHECK_NOTHROW(expect_shape("x", x, {3, 5}));
  CHECK_THROWS_MATCHES(expect_shape("x", x, {3, 4}), Error,
                       Catch::Matchers::Message("x: expected shape [3, 4], got [3, 5]"));
  CHECK_THROWS_MATCHES(expect_shape("x", x, {15}), Error,
                       Catch::Matchers::Message("x: expected shape [15], got [3, 5]"));
}

}  // namespace glassformer
