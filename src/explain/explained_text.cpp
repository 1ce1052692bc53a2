#include "explain/explained_text.hpp"

#include "explain/traced.hpp"

namespace glassformer {

Batch ExplainedText::batch(std::span<const std::size_t> masked) const {
  Batch batch;
  batch.add(ids, masked, types);
  batch.set_positions(positions);
  return batch;
}

std::vector<TracedTensor> trace(const EncoderRunner& model, const ExplainedText& text,
                                std::vector<std::string> names) {
  return std::move(model(text.batch(), {.names = std::move(names)}).traces[0]);
}

std::vector<std::string> stream_tensors(std::size_t layers, std::string_view stack) {
  return {std::string(stack) + ".layers.*.input", layer_name(stack, layers - 1, "output")};
}

Stream stream_of(std::span<const TracedTensor> trace, std::size_t layers) {
  Stream stream = {.layers = layers};
  for (std::size_t layer = 0; layer <= layers; ++layer) {
    const TracedTensor& states = layer < layers
                                     ? find_traced(trace, encoder_layer_name(layer, "input"))
                                     : find_traced(trace, encoder_layer_name(layer - 1, "output"));
    stream.tokens = states.shape[0];
    stream.d_model = states.shape[1];
    stream.states.insert(stream.states.end(), states.data.begin(), states.data.end());
  }
  return stream;
}

}  // namespace glassformer
