// Threads that share the work of a call, and kernels on them.

#include "kernels/pool.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstring>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/packed/int4_matrix.hpp"
#include "kernels/packed/int8_matrix.hpp"
#include "kernels/packed/matrix.hpp"
#include "kernels/threaded.hpp"

namespace glassformer::test {
namespace {

std::vector<float> random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float& number : numbers) number = normal(random);
  return numbers;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("a pool does each part of the work once, and no thread two at a time",
          "[pool][threads]") {
  const std::size_t threads = GENERATE(1u, 2u, 3u, 8u);
  Pool pool;
  pool.resize(threads);
  REQUIRE(pool.threads() == threads);
  for (const std::size_t count : {0u, 1u, 2u, 7u, 1000u, 70'000u}) {
    CAPTURE(threads, count);
    std::vector<std::atomic<int>> calls(count);
    std::vector<std::atomic<int>> busy(threads);
    std::atomic<int> wrong = 0;
    pool.each(count, [&](std::size_t i, std::size_t thread) {
      if (thread >= threads || busy[thread].fetch_add(1) != 0) ++wrong;
      ++calls[i];
      busy[thread].fetch_sub(1);
    });
    CHECK(wrong == 0);
    std::size_t once = 0;
    for (const std::atomic<int>& call : calls) once += call == 1 ? 1 : 0;
    CHECK(once == count);
  }
}

TEST_CASE("a pool splits a range into parts without gaps", "[pool][threads]") {
  const std::size_t threads = GENERATE(1u, 2u, 5u);
  const std::size_t unit = GENERATE(1u, 16u);
  Pool pool;
  pool.resize(threads);
  for (const std::size_t count : {0u, 1u, 15u, 16u, 17u, 100u, 1000u}) {
    CAPTURE(threads, unit, count);
    std::vector<std::atomic<int>> calls(count);
    std::atomic<int> wrong = 0;
    pool.split(count, unit, 1, [&](std::size_t first, std::size_t end) {
      if (first >= end || end > count || first % unit != 0) ++wrong;
      for (std::size_t i = first; i < std::min(end, count); ++i) ++calls[i];
    });
    CHECK(wrong == 0);
    std::size_t once = 0;
    for (const std::atomic<int>& call : calls) once += call == 1 ? 1 : 0;
    CHECK(once == count);
  }
}

TEST_CASE("a pool passes an exception on, and goes on working", "[pool][threads]") {
  Pool pool;
  pool.resize(GENERATE(1u, 4u));
  for (int round = 0; round < 20; ++round) {
    const auto fail = [](std::size_t i, std::size_t) {
      if (i % 3 == 1) throw std::runtime_error("part " + std::to_string(i));
    };
    CHECK_THROWS_AS(pool.each(100, fail), std::runtime_error);
    std::atomic<std::size_t> sum = 0;
    pool.each(100, [&](std::size_t i, std::size_t) { sum += i; });
    CHECK(sum == 4950);
  }
}

TEST_CASE("calls from several threads use a pool at the same time", "[pool][threads]") {
  Pool pool;
  pool.resize(3);
  std::atomic<int> wrong = 0;
  const auto call = [&] {
    for (int round = 0; round < 200; ++round) {
      std::atomic<std::size_t> sum = 0;
      pool.each(50, [&](std::size_t i, std::size_t) { sum += i; });
      if (sum != 1225) ++wrong;
    }
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) callers.emplace_back(call);
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("work that uses its own pool is done by one thread", "[pool][threads]") {
  Pool pool;
  pool.resize(4);
  std::atomic<std::size_t> sum = 0;
  pool.each(8, [&](std::size_t, std::size_t) {
    pool.each(10, [&](std::size_t i, std::size_t) { sum += i; });
  });
  CHECK(sum == 8 * 45);
}

TEST_CASE("a pool that has slept wakes up", "[pool][threads]") {
  Pool pool;
  pool.resize(2);
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<std::size_t> sum = 0;
    pool.each(100, [&](std::size_t i, std::size_t) { sum += i; });
    CHECK(sum == 4950);
  }
}

TEST_CASE("threads change no bit of a product", "[pool][threads]") {
  struct Shape {
    std::size_t m, n, k;
  };
  const Shape shape = GENERATE(Shape{1, 5000, 64}, Shape{128, 384, 96}, Shape{200, 20, 400},
                               Shape{67, 333, 130}, Shape{3, 3, 3});
  const auto [m, n, k] = shape;
  CAPTURE(m, n, k);
  const std::vector<float> a = random_numbers(m * k, 1), b = random_numbers(n * k, 2);
  PackedMatrix floats(k, n);
  PackedInt8Matrix integers(k, n);
  PackedInt4Matrix nibbles(k, n);
  const std::vector<float> group_scales(nibbles.groups(), 0.25f);
  std::vector<std::int8_t> column(k);
  for (std::size_t j = 0; j < n; ++j) {
    floats.set_column(j, {b.data() + j * k, k});
    for (std::size_t i = 0; i < k; ++i) column[i] = static_cast<std::int8_t>(20 * b[j * k + i]);
    integers.set_column(j, column, 0.01f);
    for (std::size_t i = 0; i < k; ++i) column[i] = static_cast<std::int8_t>(7 * b[j * k + i]);
    nibbles.set_column(j, column, group_scales);
  }
  const std::size_t stride = kernels().quantized_row_bytes(nibbles.groups() * int4_group);
  const auto products = [&](std::size_t threads, Epilogue epilogue, Activation activation) {
    Pool pool;
    pool.resize(threads);
    std::vector<float> c = random_numbers(3 * m * n, 3);
    matmul({.a = a.data(),
            .a_stride = k,
            .b = floats.data(),
            .panel_stride = floats.panel_stride(),
            .c = c.data(),
            .c_stride = n,
            .m = m,
            .n = n,
            .k = k,
            .epilogue = epilogue,
            .activation = activation},
           pool);
    std::vector<std::byte> rows(m * stride);
    std::vector<float> scales(m);
    std::vector<std::int32_t> zero_points(m);
    matmul_int8(a.data(),
                {.a = {.values = rows.data(),
                       .stride = stride,
                       .scales = scales.data(),
                       .zero_points = zero_points.data()},
                 .b = integers.data(),
                 .panel_stride = integers.panel_stride(),
                 .scales = integers.scales(),
                 .sums = integers.sums(),
                 .c = c.data() + m * n,
                 .c_stride = n,
                 .m = m,
                 .n = n,
                 .k = k,
                 .epilogue = epilogue,
                 .activation = activation},
                pool);
    matmul_int4(a.data(),
                {.a = {.values = rows.data(),
                       .stride = stride,
                       .scales = scales.data(),
                       .zero_points = zero_points.data()},
                 .b = nibbles.data(),
                 .panel_stride = nibbles.panel_stride(),
                 .sums = nibbles.sums(),
                 .c = c.data() + 2 * m * n,
                 .c_stride = n,
                 .m = m,
                 .n = n,
                 .k = k,
                 .epilogue = epilogue,
                 .activation = activation},
                pool);
    activate(Activation::gelu, c.data(), c.size(), pool);
    return c;
  };
  for (const auto& [epilogue, activation] :
       {std::pair{Epilogue::store, Activation::linear},
        std::pair{Epilogue::store, Activation::relu}, std::pair{Epilogue::store, Activation::gelu},
        std::pair{Epilogue::accumulate, Activation::linear}}) {
    const std::vector<float> alone = products(1, epilogue, activation);
    for (const std::size_t threads : {2u, 3u, 16u}) {
      CAPTURE(threads);
      CHECK(same_bits(products(threads, epilogue, activation), alone));
    }
  }
}

}  // namespace glassformer::test
