#include "explain/traced.hpp"

#include "base/error.hpp"

namespace glassformer {

const TracedTensor& find_traced(std::span<const TracedTensor> tensors, std::string_view name) {
  for (const TracedTensor& tensor : tensors) {
    if (tensor.name == name) return tensor;
  }
  throw_error(ErrorCode::internal, {"trace: expected {}, which was not asked for", {name}});
}

std::string layer_name(std::string_view stack, std::size_t layer, std::string_view name) {
  return std::string(stack) + ".layers." + std::to_string(layer) + "." + std::string(name);
}

AttentionMap map_of_layers(std::span<const TracedTensor> tensors, const ExplainedStack& of,
                           std::string_view tensor) {
  AttentionMap map;
  for (std::size_t layer = 0; layer < of.stack.config().layers.size(); ++layer) {
    const TracedTensor& of_layer = find_traced(tensors, layer_name(of.name, layer, tensor));
    map.heads = of_layer.shape[0];
    map.queries = of_layer.shape[1];
    map.keys = of_layer.shape[2];
    map.data.insert(map.data.end(), of_layer.data.begin(), of_layer.data.end());
    ++map.layers;
  }
  return map;
}

std::vector<float> dense_weights(const Linear& linear) {
  std::vector<float> weights(linear.out() * linear.in());
  for (std::size_t i = 0; i < linear.out(); ++i) {
    linear.copy_output(i, std::span(weights).subspan(i * linear.in(), linear.in()));
  }
  return weights;
}

double dot(const float* a, const float* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

}  // namespace glassformer
