#include "models/encoder_model.hpp"

namespace glassformer {

EncoderModel::EncoderModel(const Architecture& architecture, Compute compute)
    : head_config_(architecture.head),
      compute_(compute),
      encoder_(*architecture.encoder, compute, make_embedding(*architecture.encoder, compute)),
      head_(make_head(architecture.head, architecture.encoder->d_model)),
      modules_(architecture.head.modules),
      workspace_(workspace_shape(*architecture.encoder)) {}

std::vector<Parameter> EncoderModel::parameters() {
  std::vector<Parameter> parameters;
  const ParameterScope root(parameters);
  encoder_.declare(root.scope("encoder"));
  if (head_) head_->declare(root);
  modules_.declare(root.scope("modules"));
  return parameters;
}

EncoderModel::Output EncoderModel::operator()(const Batch& batch, const TraceRequest& request) {
  const auto tracer = make_tracer(request, batch, encoder_.stack().config());
  Run run(workspace_, tracer.get());
  run.sequences = &batch;
  Output output;
  const View<2> states = encoder_(batch, run);  // [N, D]
  if (head_) {
    output.logits = (*head_)(const_view(states), run);
    if (request.contributions) output.contributions = head_->contributions(const_view(states), run);
  } else {
    output.states = copy_of(states);
  }
  for (std::size_t s = 0; tracer && s < batch.size(); ++s) {
    if (!request.names.empty()) output.traces.push_back(tracer->take_tensors(s));
    if (request.attention) output.attention.push_back(tracer->take_attention(s));
  }
  return output;
}

Tensor<2> EncoderModel::resume(const Sequences& sequences, std::size_t first,
                               const ConstView<2>& states, Tracer* tracer) {
  Run run(workspace_, tracer);
  run.sequences = &sequences;
  const View<2> last = encoder_.resume(first, states, run);  // [N, D]
  return head_ ? (*head_)(const_view(last), run) : copy_of(last);
}

}  // namespace glassformer
