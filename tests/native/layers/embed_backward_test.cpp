// The backward of embeddings and positions, compared with central differences of their formulas.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "layers/elementwise/elementwise.hpp"
#include "layers/embed/embedding.hpp"
#include "layers/embed/patch_embedding.hpp"
#include "layers/embed/positional_encoding.hpp"
#include "support/layer_check.hpp"

namespace glassformer::test {
namespace {

using scalar_reference::Inputs;
using scalar_reference::Matrix;

const std::vector<std::int32_t> repeated_ids = {3, 0, 3, 5, 3, 0};

}  // namespace

TEST_CASE("an embedding's gradients are those of all tokens with its id", "[backward]") {
  LayerCheck check;
  TableEmbedding embedding(7, 5, 1.75f);
  embedding.declare(check.parameters());
  check.start();
  const View x = check.run().make(repeated_ids.size(), 5);
  embedding(repeated_ids, x, check.run());
  check.compare(x, [](const Inputs& in) {
    return scalar_reference::embed(in.at("weight"), repeated_ids, 1.75);
  });
}

TEST_CASE("a tied table's gradient is the sum of both of its uses", "[backward]") {
  LayerCheck check;
  Linear lm_head(5, 7, Compute::f32);
  lm_head.declare(check.parameters(), Bias::present);
  const TiedEmbedding tied(lm_head, 0.5f);
  const SharedEmbedding shared(tied, 2.0f);
  check.start();
  const View x = check.run().make(6, 5), y = check.run().make(6, 5);
  const View logits = check.run().make(6, 7);
  const std::vector<std::int32_t> others = {6, 6, 1, 0, 2, 3};
  tied(repeated_ids, x, check.run());
  shared(others, y, check.run());
  add(x, const_view(y), check.run());
  lm_head(const_view(x), logits, check.run());
  check.compare(logits, [&](const Inputs& in) {
    const Matrix& table = in.at("weight");
    const Matrix sum = scalar_reference::sum(scalar_reference::embed(table, repeated_ids, 0.5),
                                             scalar_reference::embed(table, others, 2));
    return scalar_reference::linear(sum, table, in.at("bias"));
  });
}

TEST_CASE("a type embedding's gradients match its formula", "[backward]") {
  LayerCheck check;
  TypeEmbedding embedding(3, 5);
  embedding.declare(check.parameters());
  check.start();
  const std::vector<std::int32_t> types = {0, 0, 1, 0, 1};
  const View x = check.input("x", 5, 5);
  embedding.add_to(x, types, check.run());
  check.compare(x, [&](const Inputs& in) {
    return scalar_reference::sum(in.at("x"), scalar_reference::embed(in.at("weight"), types, 1));
  });
}

TEST_CASE("the gradients of learned positions match their formula", "[backward]") {
  const bool by_sequence = GENERATE(true, false);
  LayerCheck check;
  LearnedPositions positions(4, 5, 2);
  positions.declare(check.parameters());
  check.start();
  Sequences sequences;
  sequences.add(3);
  sequences.add(1);
  sequences.add(2);
  const View x = check.input("x", 6, 5);
  // The row before the first token's is that of no position.
  const std::vector<std::size_t> own = {3, PositionalEncoding::none, 0, 3, 1, 3};
  if (by_sequence) {
    positions.add_to(x, sequences, check.run());
  } else {
    positions.add_to(x, own, check.run());
  }
  const std::vector<std::int32_t> rows = by_sequence ? std::vector<std::int32_t>{2, 3, 4, 2, 2, 3}
                                                     : std::vector<std::int32_t>{5, 1, 2, 5, 3, 5};
  check.compare(x, [&](const Inputs& in) {
    return scalar_reference::sum(in.at("x"), scalar_reference::embed(in.at("weight"), rows, 1));
  });
}

TEST_CASE("positions that are not learned pass gradients on", "[backward]") {
  LayerCheck check;
  const SinusoidalEncoding positions(4, 2);
  check.start();
  Sequences sequences;
  sequences.add(3);
  const View x = check.input("x", 3, 2);
  positions.add_to(x, sequences, check.run());
  check.compare(x, [](const Inputs& in) {
    Matrix table(3, 2);
    for (std::size_t i = 0; i < 3; ++i) {
      table.row(i)[0] = std::sin(static_cast<double>(i));
      table.row(i)[1] = std::cos(static_cast<double>(i));
    }
    return scalar_reference::sum(in.at("x"), table);
  });
}

TEST_CASE("the gradients of a picture's patches match their formula", "[backward]") {
  LayerCheck check;
  PatchEmbedding embedding(
      {.height = 4, .width = 6, .channels = 2, .patch_height = 2, .patch_width = 2}, 3,
      Compute::f32);
  embedding.declare(check.parameters());
  check.start();
  std::vector<float> pixels(2 * 4 * 6);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i % 7) / 7;
  const View x = check.run().make(6, 3);
  embedding(pixels, 6, x, check.run());
  check.compare(x, [&](const Inputs& in) {
    Matrix patches(6, 8);
    for (std::size_t patch = 0; patch < 6; ++patch) {
      for (std::size_t i = 0; i < 8; ++i) {
        const std::size_t row = patch / 3 * 2 + i / 2 % 2, column = patch % 3 * 2 + i % 2;
        patches.row(patch)[i] = static_cast<double>(pixels[(i / 4 * 4 + row) * 6 + column]);
      }
    }
    return scalar_reference::linear(patches, in.at("weight"), in.at("bias"));
  });
}

}  // namespace glassformer::test
