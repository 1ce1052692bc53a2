#include "explain/explained_text.hpp"

#include "explain/traced.hpp"

namespace glassformer {

void ExplainedText::add_to(Batch& batch, std::span<const std::size_t> masked) const {
  batch.add(ids, masked, types);
  if (!positions.empty()) batch.set_positions(positions);
}

Batch ExplainedText::batch(std::span<const std::size_t> masked) const {
  Batch batch;
  add_to(batch, masked);
  return batch;
}

void ExplainedText::add_to(Pictures& pictures, std::span<const std::size_t> masked) const {
  pictures.add(pixels, tokens(), masked);
}

WholePass ExplainedText::pass(std::span<const std::size_t> masked) const {
  if (is_picture()) {
    Pictures pictures;
    add_to(pictures, masked);
    return WholePass(std::move(pictures));
  }
  return WholePass(batch(masked));
}

EncoderModel::Output run_input(const EncoderRunner& model, const ExplainedText& text,
                               const TraceRequest& request) {
  if (text.is_picture()) {
    Pictures pictures;
    text.add_to(pictures);
    return model(pictures, request);
  }
  return model(text.batch(), request);
}

std::vector<TracedTensor> trace(const EncoderRunner& model, const ExplainedText& text,
                                std::vector<std::string> names) {
  return std::move(run_input(model, text, {.names = std::move(names)}).traces[0]);
}

const char* embeddings_name(const EncoderRunner& model) {
  return reads_pictures(model->encoder().stack().config()) ? "encoder.embed_patches"
                                                           : "encoder.embed_tokens";
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
