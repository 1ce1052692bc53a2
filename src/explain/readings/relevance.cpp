#include "explain/readings/relevance.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace glassformer {
namespace {

// Ā of a layer, [T, T].
std::vector<float> positive_mean(const AttentionMap& weights, const AttentionMap& gradients,
                                 std::size_t layer) {
  std::vector<float> mean(weights.queries * weights.keys);
  for (std::size_t head = 0; head < weights.heads; ++head) {
    const std::span<const float> a = weights.at(layer, head), g = gradients.at(layer, head);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += std::max(0.0f, a[i] * g[i]) / static_cast<float>(weights.heads);
    }
  }
  return mean;
}

// sum [rows, columns] += a [rows, inner] · b [inner, columns].
void add_product(std::span<const float> a, std::span<const float> b, std::size_t inner,
                 std::span<float> sum) {
  const std::size_t rows = a.size() / inner, columns = b.size() / inner;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < inner; ++j) {
      const float share = a[i * inner + j];
      if (share == 0.0f) continue;
      for (std::size_t c = 0; c < columns; ++c) sum[i * columns + c] += share * b[j * columns + c];
    }
  }
}

// Divides each row of R - I by its sum, and adds I. Returns R̄, [tokens, tokens].
std::vector<float> normalized(std::vector<float> more, std::size_t tokens) {
  for (std::size_t i = 0; i < tokens; ++i) {
    const std::span<float> row = std::span(more).subspan(i * tokens, tokens);
    const float sum = std::accumulate(row.begin(), row.end(), 0.0f);
    if (sum != 0.0f) {
      for (float& share : row) share /= sum;
    }
    row[i] += 1.0f;
  }
  return more;
}

std::vector<float> transposed(std::span<const float> matrix, std::size_t tokens) {
  std::vector<float> result(matrix.size());
  for (std::size_t i = 0; i < tokens; ++i) {
    for (std::size_t j = 0; j < tokens; ++j) result[j * tokens + i] = matrix[i * tokens + j];
  }
  return result;
}

// R - I [tokens, tokens] of a layer's input becomes that of its output: R += Ā R.
void pass_layer(std::span<const float> mean, std::size_t tokens, std::vector<float>& more) {
  const std::vector<float> before = more;
  for (std::size_t i = 0; i < mean.size(); ++i) more[i] += mean[i];  // Ā I
  add_product(mean, before, tokens, more);
}

}  // namespace

void expect_relevance(const StackConfig& config) {
  expect_residuals(config, "relevance");
  if (config.layers.front().mixer != Mixer::linear) return;
  throw_error(ErrorCode::unsupported,
              "relevance: expected attention with a softmax, got linear attention");
}

std::vector<float> relevance(const AttentionMap& weights, const AttentionMap& gradients) {
  const std::size_t tokens = weights.queries;
  std::vector<float> more(tokens * tokens);  // R - I
  for (std::size_t layer = 0; layer < weights.layers; ++layer) {
    pass_layer(positive_mean(weights, gradients, layer), tokens, more);
  }
  return more;
}

std::vector<float> relevance(const TranslationAttention& weights,
                             const TranslationAttention& gradients) {
  const std::size_t targets = weights.decoder.queries, sources = weights.encoder.queries;
  const std::vector<float> of_source =
      normalized(relevance(weights.encoder, gradients.encoder), sources);
  std::vector<float> own(targets * targets), source(targets * sources);  // R_tt - I, R_ts
  for (std::size_t layer = 0; layer < weights.decoder.layers; ++layer) {
    const std::vector<float> mean = positive_mean(weights.decoder, gradients.decoder, layer);
    const std::vector<float> before = source;
    add_product(mean, before, targets, source);
    pass_layer(mean, targets, own);
    std::vector<float> read(targets * sources);  // Ā_c R̄_ss
    add_product(positive_mean(weights.cross, gradients.cross, layer), of_source, sources, read);
    add_product(transposed(normalized(own, targets), targets), read, targets, source);
  }
  std::vector<float> result;
  for (std::size_t t = 0; t < targets; ++t) {
    const auto row = [&](const std::vector<float>& matrix, std::size_t columns) {
      const auto from = matrix.begin() + static_cast<std::ptrdiff_t>(t * columns);
      result.insert(result.end(), from, from + static_cast<std::ptrdiff_t>(columns));
    };
    row(own, targets);
    row(source, sources);
  }
  return result;
}

}  // namespace glassformer
