#include "explain/encoder_gradients.hpp"

#include <algorithm>

#include "explain/traced.hpp"
#include "models/whole_pass.hpp"

namespace glassformer {

Gradients encoder_gradients(const EncoderRunner& model, const ExplainedText& text,
                            const Contrast& contrast, const std::vector<std::string>& names,
                            std::vector<Patch> patches) {
  expect_gradients(model->compute());
  const WholePass pass = text.pass();
  TraceRequest request;
  request.patches = std::move(patches);
  const auto patching = make_tracer(request, pass.encoded(), model->encoder().stack().config());
  return gradients_of([&](Run& run) { return pass(model.model, run); },
                      [&](const ConstView&) { return terms_of(contrast, 0); }, names, model.session,
                      patching.get(), request.patches);
}

std::vector<float> gradient_times_input(const EncoderRunner& model, const ExplainedText& text,
                                        const Contrast& contrast) {
  const char* const name = embeddings_name(model);
  const TracedTensor embeddings = std::move(trace(model, text, {name})[0]);
  const Gradients gradients = encoder_gradients(model, text, contrast, {name});
  std::vector<float> scores;
  append_row_products(embeddings, gradients.tensors[0], scores);
  return scores;
}

WeightGradients weight_gradients(const EncoderRunner& model, const ExplainedText& text,
                                 const Contrast& contrast) {
  const StackConfig& config = model->encoder().stack().config();
  WeightGradients result;
  result.weights = std::move(run_input(model, text, {.attention = true}).attention[0]);
  result.gradients = result.weights;
  const Gradients gradients =
      encoder_gradients(model, text, contrast, {"encoder.layers.*.self_attn.weights"});
  for (std::size_t layer = 0; layer < config.layers.size(); ++layer) {
    const TracedTensor& of_layer =
        find_traced(gradients.tensors, encoder_layer_name(layer, "self_attn.weights"));
    std::ranges::copy(of_layer.data, result.gradients.at(layer, 0).data());
  }
  return result;
}

}  // namespace glassformer
