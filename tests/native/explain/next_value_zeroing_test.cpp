// Value zeroing of decoders, compared with whole runs in which a value is patched.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "explain/interventions/value_zeroing.hpp"
#include "explain/traced.hpp"
#include "support/error_of.hpp"
#include "support/golden.hpp"
#include "support/writer_golden.hpp"

namespace glassformer::test {
namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix zeros(std::size_t rows, std::size_t columns) {
  return Matrix(rows, std::vector<double>(columns));
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result = zeros(a.size(), b[0].size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      for (std::size_t j = 0; j < b[0].size(); ++j) result[i][j] += a[i][k] * b[k][j];
    }
  }
  return result;
}

Patch without(std::string tensor, std::size_t token) {
  return {.name = std::move(tensor), .tokens = {{token}}, .value = {0.0f}};
}

// Writes how far each row of a tensor turns away into a column.
void fill(Matrix& layer, std::size_t column, const TracedTensor& plain,
          const TracedTensor& changed) {
  REQUIRE(plain.shape == changed.shape);
  const std::size_t width = plain.shape[1];
  for (std::size_t i = 0; i < layer.size(); ++i) {
    const float *a = plain.data.data() + i * width, *b = changed.data.data() + i * width;
    layer[i][column] =
        std::max(0.0, 1 - dot(a, b, width) / std::sqrt(dot(a, a, width) * dot(b, b, width)));
  }
}

void divide(Matrix& layer) {
  for (std::size_t i = 0; i < layer.size(); ++i) {
    double sum = 0;
    for (const double each : layer[i]) sum += each;
    for (double& each : layer[i]) each /= sum;
  }
}

}  // namespace

TEST_CASE("value zeroing of decoders equals runs with a patched value", "[explain]") {
  const std::string name = any_writer();
  INFO(name);
  WriterGolden golden("circuits.json", name);
  const DecodedText text = golden.text("ids");
  const WriterRunner model = golden.runner();
  NextValueZeroing zeroing(model, text);
  while (zeroing.step(20)) {
  }
  const ZeroedValues found = zeroing.take();

  const std::size_t rows = text.ids.size(), sources = text.tokens() - rows;
  Matrix encoder;
  if (text.source) {
    const Seq2Seq& translator = model.translator();
    const Batch& batch = text.source->sources;
    encoder = zeros(sources, sources);
    for (std::size_t i = 0; i < sources; ++i) encoder[i][i] = 1;
    for (std::size_t l = 0; l < translator.encoder().stack().config().layers.size(); ++l) {
      const std::string output = layer_name("encoder", l, "output");
      const auto run = [&](std::vector<Patch> patches) {
        return translator
            .encode(batch, {.names = {output}, .patches = std::move(patches)}, model.session)
            .traces[0][0];
      };
      const TracedTensor plain = run({});
      Matrix layer = zeros(sources, sources);
      for (std::size_t j = 0; j < sources; ++j) {
        fill(layer, j, plain, run({without(layer_name("encoder", l, "self_attn.v"), j)}));
      }
      divide(layer);
      encoder = product(layer, encoder);
    }
  }
  Matrix expected = zeros(rows, rows + sources);
  for (std::size_t i = 0; i < rows; ++i) expected[i][i] = 1;
  for (std::size_t l = 0; l < found.layers.layers; ++l) {
    const std::string output = layer_name("decoder", l, "output");
    const auto run = [&](std::vector<Patch> patches) {
      return run_to_next_token(model, text, {.names = {output}, .patches = std::move(patches)})
          .trace[0];
    };
    const TracedTensor plain = run({});
    Matrix layer = zeros(rows, rows + sources);
    for (std::size_t j = 0; j < rows + sources; ++j) {
      const bool own = j < rows;
      const std::string values = layer_name("decoder", l, own ? "self_attn.v" : "encoder_attn.v");
      fill(layer, j, plain, run({without(values, own ? j : j - rows)}));
    }
    divide(layer);
    const std::span<const float> got = found.layers.at(l, 0);
    double most = 0;
    Matrix next = zeros(rows, rows + sources);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < rows + sources; ++j) {
        most = std::max(most,
                        std::abs(layer[i][j] - static_cast<double>(got[i * (rows + sources) + j])));
        for (std::size_t k = 0; k < rows; ++k) next[i][j] += layer[i][k] * expected[k][j];
        for (std::size_t k = 0; j >= rows && k < sources; ++k) {
          next[i][j] += layer[i][rows + k] * encoder[k][j - rows];
        }
      }
    }
    CHECK(most < 1e-4);
    expected = std::move(next);
  }
  REQUIRE(found.scores.size() == rows + sources);
  double sum = 0, most = 0;
  for (std::size_t j = 0; j < found.scores.size(); ++j) {
    const double score = static_cast<double>(found.scores[j]);
    most = std::max(most, std::abs(score - expected.back()[j]));
    sum += score;
  }
  CHECK(most < 1e-4);
  CHECK(std::abs(sum - 1) < 1e-4);
}

}  // namespace glassformer::test
