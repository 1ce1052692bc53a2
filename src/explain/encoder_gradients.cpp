#include "explain/encoder_gradients.hpp"

#include <utility>

#include "explain/traced.hpp"
#include "models/whole_pass.hpp"

namespace glassformer {

Gradients encoder_gradients(const EncoderRunner& model, const ExplainedText& text,
                            const Contrast& contrast, const std::vector<std::string>& names,
                            std::vector<Patch> patches, BackwardRules rules) {
  expect_gradients(model->compute());
  const WholePass pass = text.pass();
  TraceRequest request;
  request.patches = std::move(patches);
  const auto patching = make_tracer(request, pass.encoded(), model->encoder().stack().config());
  return gradients_of([&](Run& run) { return pass(model.model, run); },
                      [&](const ConstView&) { return terms_of(contrast, 0); }, names, model.session,
                      patching.get(), request.patches, rules);
}

PropagatedRelevance gradient_times_input(const EncoderRunner& model, const ExplainedText& text,
                                         const Contrast& contrast, BackwardRules rules) {
  expect_rules(model->encoder().stack().config(), rules);
  if (model->decoder()) expect_rules(model->decoder()->stack().config(), rules);
  const std::vector<std::string> names = embeddings_names(model.model);
  const std::vector<TracedTensor> embeddings = trace(model, text, names);
  const Gradients gradients = encoder_gradients(model, text, contrast, names, {}, rules);
  PropagatedRelevance result = {.scores = {}, .value = static_cast<float>(gradients.answer)};
  for (const std::string& name : names) {
    append_row_products(find_traced(embeddings, name), find_traced(gradients.tensors, name),
                        result.scores);
  }
  return result;
}

WeightGradients weight_gradients(const EncoderRunner& model, const ExplainedText& text,
                                 const Contrast& contrast) {
  const std::string own = "self_attn.weights", cross = "encoder_attn.weights";
  std::vector<std::string> names = {"encoder.layers.*." + own};
  if (model->decoder()) names.emplace_back("decoder.layers.*.*.weights");
  auto output = run_input(model, text, {.attention = true});
  const std::vector<TracedTensor> gradients =
      encoder_gradients(model, text, contrast, names).tensors;
  const ExplainedStack encoder = explained_stack(model->encoder(), "encoder");
  WeightGradients result = {
      .encoder = {std::move(output.attention[0]), map_of_layers(gradients, encoder, own)}};
  if (!model->decoder()) return result;
  const ExplainedStack decoder = last_stack(model.model);
  result.decoder = {std::move(output.decoder_attention[0]), map_of_layers(gradients, decoder, own)};
  result.cross = {std::move(output.cross_attention[0]), map_of_layers(gradients, decoder, cross)};
  return result;
}

}  // namespace glassformer
