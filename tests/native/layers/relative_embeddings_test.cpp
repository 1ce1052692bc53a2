// The rows of distances of disentangled attention.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "layers/attention/disentangled/relative_embeddings.hpp"

namespace glassformer::test {
namespace {

using Firsts = std::vector<std::size_t>;

// Returns the smallest distance of each bucket above `span` / 2.
Firsts firsts_of(const DisentangledConfig& config) {
  Firsts firsts;
  std::size_t last = config.span / 2;
  for (std::size_t distance = 0; distance < 1000; ++distance) {
    const std::size_t bucket = RelativeEmbeddings::bucket(config, distance);
    if (bucket > last) firsts.push_back(distance);
    last = std::max(bucket, last);
  }
  return firsts;
}

}  // namespace

// The values that transformers 5.12 computes for distances below 1000. The first are DeBERTa-v3's.
TEST_CASE("disentangled distances are assigned to the original library's buckets", "[layers]") {
  CHECK(firsts_of({.span = 256, .distance = 512}) ==
        Firsts{129, 130, 131, 133, 134, 136, 137, 139, 140, 142, 143, 145, 146, 148, 150, 151,
               153, 155, 156, 158, 160, 161, 163, 165, 167, 169, 170, 172, 174, 176, 178, 180,
               182, 184, 186, 188, 190, 192, 194, 196, 198, 201, 203, 205, 207, 210, 212, 214,
               216, 219, 221, 224, 226, 229, 231, 234, 236, 239, 241, 244, 247, 249, 252, 255,
               258, 260, 263, 266, 269, 272, 275, 278, 281, 284, 287, 290, 294, 297, 300, 303,
               307, 310, 313, 317, 320, 324, 327, 331, 335, 338, 342, 346, 349, 353, 357, 361,
               365, 369, 373, 377, 381, 385, 390, 394, 398, 403, 407, 411, 416, 420, 425, 430,
               434, 439, 444, 449, 454, 459, 464, 469, 474, 479, 484, 490, 495, 500, 506, 512});
  CHECK(firsts_of({.span = 32, .distance = 128}) ==
        Firsts{17, 19, 22, 25, 28, 32, 37, 43, 49, 56, 64, 74, 84, 97, 111, 128});
  CHECK(firsts_of({.span = 8, .distance = 20}) == Firsts{5, 7, 12, 20});
  CHECK(firsts_of({.span = 7, .distance = 20}) == Firsts{4, 8, 20, 48});
  CHECK(firsts_of({.span = 6}) == Firsts{4, 5, 6});
}

TEST_CASE("a table of distances has rows for both directions", "[layers]") {
  const RelativeEmbeddings table({.span = 8, .distance = 20}, 4, 100, {});
  CHECK(table.row(0) == 8);
  CHECK(table.row(4) == 12);
  CHECK(table.row(-4) == 4);
  CHECK(table.row(19) == 15);
  CHECK(table.row(99) == 15);  // the last row
  CHECK(table.row(-19) == 1);
  CHECK(table.row(-99) == 0);
  const auto [first, count] = table.range(3);
  CHECK(first == 6);
  CHECK(count == 5);
  CHECK(table.range(1).count == 1);
  CHECK(table.range(100).count == 16);
}

}  // namespace glassformer::test
