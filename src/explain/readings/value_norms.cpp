#include "explain/readings/value_norms.hpp"

#include <algorithm>
#include <cmath>

namespace glassformer {
namespace {

// Returns f(x_j) of every token and head, [T, H, D]: row (j, h) is head h's columns of W_O times
// v_jh.
std::vector<float> transform_values(const TracedTensor& v, const Linear& out_proj) {
  const std::size_t tokens = v.shape[0], kv_heads = v.shape[1], d_head = v.shape[2];
  const std::size_t heads = out_proj.in() / d_head, shared = heads / kv_heads;
  const std::size_t d_model = out_proj.out();
  std::vector<float> weights(out_proj.in()), transformed(tokens * heads * d_model);
  for (std::size_t c = 0; c < d_model; ++c) {
    out_proj.copy_output(c, weights);
    for (std::size_t j = 0; j < tokens * heads; ++j) {
      transformed[j * d_model + c] = static_cast<float>(
          dot(v.data.data() + (j / heads * kv_heads + j % heads / shared) * d_head,
              weights.data() + j % heads * d_head, d_head));
    }
  }
  return transformed;
}

// Returns the products of one token's transformed values with each other, [H, H].
std::vector<double> products_of(const float* values, std::size_t heads, std::size_t d_model) {
  std::vector<double> products(heads * heads);
  for (std::size_t g = 0; g < heads; ++g) {
    for (std::size_t h = 0; h < heads; ++h) {
      products[g * heads + h] = dot(values + g * d_model, values + h * d_model, d_model);
    }
  }
  return products;
}

}  // namespace

std::vector<std::string> value_norm_tensors(std::string_view stack) {
  const std::string layers = std::string(stack) + ".layers.*.";
  return {layers + "self_attn.v", layers + "self_attn.weights"};
}

ValueNorms value_norms(const ExplainedStack& of, std::span<const TracedTensor> trace) {
  const StackConfig& config = of.stack.config();
  const std::size_t heads = config.n_heads(), layers = config.layers.size();
  ValueNorms norms;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const TracedTensor& v = find_traced(trace, layer_name(of.name, layer, "self_attn.v"));
    const TracedTensor& weights =
        find_traced(trace, layer_name(of.name, layer, "self_attn.weights"));
    const std::size_t tokens = v.shape[0];
    if (layer == 0) {
      norms.heads = {.layers = layers, .heads = heads, .queries = tokens, .keys = tokens};
      norms.layers = {.layers = layers, .heads = 1, .queries = tokens, .keys = tokens};
    }
    const std::vector<float> values =
        transform_values(v, of.stack.block(layer).self_attn().out_proj());
    for (std::size_t j = 0; j < tokens; ++j) {
      // ‖Σ_h α_h f_h‖² = Σ_g Σ_h α_g α_h f_g · f_h, and ‖α_h f_h‖² is its term with g = h.
      const std::vector<double> products =
          products_of(values.data() + j * heads * config.d_model, heads, config.d_model);
      for (std::size_t i = 0; i < tokens; ++i) {
        const float* alpha = weights.data.data() + i * tokens + j;
        double all = 0;
        for (std::size_t g = 0; g < heads; ++g) {
          const double a = static_cast<double>(alpha[g * tokens * tokens]);
          for (std::size_t h = 0; h < heads; ++h) {
            all += a * static_cast<double>(alpha[h * tokens * tokens]) * products[g * heads + h];
          }
          norms.heads.at(layer, g)[i * tokens + j] =
              static_cast<float>(std::abs(a) * std::sqrt(products[g * heads + g]));
        }
        norms.layers.at(layer, 0)[i * tokens + j] =
            static_cast<float>(std::sqrt(std::max(all, 0.0)));
      }
    }
  }
  return norms;
}

}  // namespace glassformer
