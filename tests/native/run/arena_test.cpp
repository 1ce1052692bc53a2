// Memory that forward passes take from an arena and return to it.

#include "run/arena.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <new>

#include "support/allocations.hpp"
#include "support/error_of.hpp"

namespace glassformer::test {
namespace {

std::size_t allocations_of(const std::function<void()>& action) {
  const std::size_t before = allocations();
  action();
  return allocations() - before;
}

// Takes tensors of different widths with `rows` rows, as layers do.
void pass(Arena& arena, std::size_t rows) {
  const Arena::Scope memory(arena);
  {
    const Arena::Scope wider_and_wider(arena);
    for (const std::size_t columns : {100u, 200u, 1000u, 3000u}) arena.make(rows, columns);
  }
  arena.make(rows, 100);
  for (int layer = 0; layer < 2; ++layer) {
    {
      const Arena::Scope attention(arena);
      arena.make(rows, 200);
      arena.make(rows, 100);
    }
    const Arena::Scope feed_forward(arena);
    arena.make_block(rows, 300, 32);
    arena.make_bytes(50);
  }
}

bool all_are(const View& tensor, float value) {
  return std::all_of(tensor.data(), tensor.data() + tensor.size(),
                     [&](float element) { return element == value; });
}

}  // namespace

TEST_CASE("a scope returns the memory taken within it, and no other", "[arena]") {
  Arena arena;
  View outer = arena.make(3, 5);
  std::fill_n(outer.data(), outer.size(), 1.0f);
  const float* first = nullptr;
  for (int time = 0; time < 2; ++time) {
    const Arena::Scope scope(arena);
    View inner = arena.make(2, 4);
    std::fill_n(inner.data(), inner.size(), 2.0f);
    if (time == 0) first = inner.data();
    CHECK(inner.data() == first);
    for (const std::size_t rows : {10u, 10'000u}) {  // the second needs new memory
      const Arena::Scope nested(arena);
      View large = arena.make(rows, 7);
      std::fill_n(large.data(), large.size(), 3.0f);
      const View beside = arena.make(rows, 7);
      std::fill_n(beside.data(), beside.size(), 4.0f);
      CHECK(all_are(large, 3.0f));
    }
    CHECK(all_are(inner, 2.0f));
  }
  CHECK(all_are(outer, 1.0f));
  CHECK(arena.make(2, 4).data() == first);
  arena.clear();
  CHECK(arena.make(3, 5).data() == outer.data());
}

TEST_CASE("tensors have the requested shapes and are aligned for the widest vectors", "[arena]") {
  Arena arena;
  for (const std::size_t rows : {0u, 1u, 7u, 500u}) {
    const View tensor = arena.make(rows, 9), block = arena.make_block(rows, 9, 64);
    CHECK((tensor.shape(0) == rows && tensor.shape(1) == 9));
    CHECK((block.shape(0) == std::min<std::size_t>(rows, 64) && block.shape(1) == 9));
    CHECK(reinterpret_cast<std::uintptr_t>(tensor.data()) % alignment == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(block.data()) % alignment == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(arena.make_bytes(3)) % alignment == 0);
  }
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK(error_of([&] { arena.make(most, 8); }).code() == ErrorCode::too_large);
}

TEST_CASE("a pass with the shapes of an earlier one, or with fewer rows, allocates nothing",
          "[arena]") {
  Arena arena;
  CHECK(allocations_of([&] { pass(arena, 60); }) > 0);
  for (const std::size_t rows : {60u, 59u, 20u, 19u, 1u, 0u, 60u}) {
    INFO(rows << " rows");
    CHECK(allocations_of([&] { pass(arena, rows); }) == 0);
  }
  CHECK(allocations_of([&] { pass(arena, 200); }) > 0);
}

TEST_CASE("later passes allocate nothing after a reservation", "[arena]") {
  Arena arena;
  {
    const Arena::Reservation reservation(arena, 60);
    CHECK(arena.make(0, 5).shape(0) == 0);
    arena.clear();
    pass(arena, 0);
  }
  for (const std::size_t rows : {60u, 59u, 20u, 19u, 1u, 0u, 60u}) {
    INFO(rows << " rows");
    CHECK(allocations_of([&] { pass(arena, rows); }) == 0);
  }
  CHECK(allocations_of([&] { pass(arena, 200); }) > 0);
}

TEST_CASE("an arena that has run out of memory serves the next pass", "[arena]") {
  Arena arena;
  const View kept = arena.make(3, 5);
  std::fill_n(kept.data(), kept.size(), 1.0f);
  for (const std::size_t rows : {60u, 200u}) {
    CHECK_THROWS_AS(with_blocks_up_to(20'000, [&] { pass(arena, rows); }), std::bad_alloc);
    CHECK_NOTHROW(pass(arena, rows));
  }
  CHECK(all_are(kept, 1.0f));
}

}  // namespace glassformer::test
