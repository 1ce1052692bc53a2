#include "explain/explained_text.hpp"

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

std::vector<std::string> embeddings_names(const EncoderModel& model) {
  if (model.decoder()) return {"decoder.embed_tokens", "encoder.embed_tokens"};
  return {reads_pictures(model.encoder().stack().config()) ? "encoder.embed_patches"
                                                           : "encoder.embed_tokens"};
}

ExplainedStack last_stack(const EncoderModel& model) {
  return model.decoder() ? explained_stack(*model.decoder(), "decoder")
                         : explained_stack(model.encoder(), "encoder");
}

std::vector<std::string> stream_tensors(std::size_t layers, std::string_view stack) {
  return {std::string(stack) + ".layers.*.input", layer_name(stack, layers - 1, "output")};
}

Stream stream_of(std::span<const TracedTensor> trace, std::size_t layers, std::string_view stack) {
  Stream stream = {.layers = layers};
  for (std::size_t layer = 0; layer <= layers; ++layer) {
    const bool last = layer == layers;
    const TracedTensor& states =
        find_traced(trace, layer_name(stack, last ? layer - 1 : layer, last ? "output" : "input"));
    stream.tokens = states.shape[0];
    stream.d_model = states.shape[1];
    stream.states.insert(stream.states.end(), states.data.begin(), states.data.end());
  }
  return stream;
}

}  // namespace glassformer
