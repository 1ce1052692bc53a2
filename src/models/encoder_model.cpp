#include "models/encoder_model.hpp"

#include <algorithm>

#include "layers/elementwise/elementwise.hpp"
#include "models/stack/text_embeddings.hpp"

namespace glassformer {

namespace {

std::unique_ptr<StackInput> make_text_input(const StackConfig& stack, const Head* head,
                                            Compute compute) {
  const Linear* tied = head ? head->tied() : nullptr;
  return std::make_unique<TextEmbeddings>(
      stack, tied ? make_embedding(stack, *tied) : make_embedding(stack, compute));
}

}  // namespace

EncoderModel::EncoderModel(const Architecture& architecture, Compute compute)
    : head_config_(architecture.head),
      compute_(compute),
      head_(make_head(architecture, compute)),
      encoder_(*architecture.encoder, compute,
               make_text_input(*architecture.encoder, head_.get(), compute)),
      modules_(architecture.head.modules) {}

EncoderModel::EncoderModel(const Architecture& architecture, Compute compute,
                           std::unique_ptr<StackInput> input)
    : head_config_(architecture.head),
      compute_(compute),
      head_(make_head(architecture, compute)),
      encoder_(*architecture.encoder, compute, std::move(input)),
      modules_(architecture.head.modules) {}

std::vector<NamedParameter> EncoderModel::parameters() {
  std::vector<NamedParameter> parameters;
  const ParameterScope root(parameters);
  encoder_.declare(root.scope("encoder"));
  if (head_) head_->declare(root);
  modules_.declare(root.scope("modules"));
  return parameters;
}

EncoderModel::Output EncoderModel::operator()(const Batch& batch, const TraceRequest& request,
                                              Session& session,
                                              std::span<const std::size_t> rows) const {
  return run(batch, request, session, rows);
}

EncoderModel::Output EncoderModel::operator()(const Pictures& pictures, const TraceRequest& request,
                                              Session& session) const {
  return run(pictures, request, session, {});
}

template <class AnyBatch>
View EncoderModel::states_of(const AnyBatch& batch, const Run& run) const {
  View states = run.make(batch.tokens(), encoder_.stack().config().d_model);  // [N, D]
  encoder_(batch, states, run);
  return states;
}

View EncoderModel::forward(const Batch& batch, std::span<const std::size_t> rows, Run& run) const {
  const View states = states_of(batch, run);
  return head_ ? answer(states, rows, run) : states;
}

View EncoderModel::answer(const View& states, std::span<const std::size_t> rows,
                          const Run& run) const {
  if (rows.empty()) return (*head_)(const_view(states), run);
  const View chosen = run.make(rows.size(), states.shape(1));
  take_rows(const_view(states), rows, chosen, run);
  return (*head_)(const_view(chosen), run);
}

View EncoderModel::forward(const Pictures& pictures, Run& run) const {
  const View states = states_of(pictures, run);
  return head_ ? (*head_)(const_view(states), run) : states;
}

template <class AnyBatch>
EncoderModel::Output EncoderModel::run(const AnyBatch& batch, const TraceRequest& request,
                                       Session& session, std::span<const std::size_t> rows) const {
  const auto tracer = make_tracer(request, batch, encoder_.stack().config());
  const std::vector<RowSegment> segments = segments_of(batch);
  Run run(session, tracer.get());
  run.sequences = &batch;
  run.segments = segments;
  run.positions = batch.positions();
  const Arena::Scope memory(run.arena());
  const View states = states_of(batch, run);

  Output output;
  if (head_) {
    output.logits = copy_of(answer(states, rows, run));
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

Tensor EncoderModel::resume(const Sequences& sequences, std::size_t first, const ConstView& states,
                            Session& session, Tracer* tracer) const {
  const std::size_t width = encoder_.stack().config().d_model;
  expect_shape("states of an encoder", states, {sequences.tokens(), width});
  const std::vector<RowSegment> segments = segments_of(sequences);
  Run run(session, tracer);
  run.sequences = &sequences;
  run.segments = segments;
  run.positions = sequences.positions();
  const Arena::Scope memory(run.arena());
  View x = run.make(states.shape(0), width);
  std::copy_n(states.data(), states.size(), x.data());
  encoder_.resume(first, x, run);
  return copy_of(head_ ? (*head_)(const_view(x), run) : x);
}

std::vector<ModelTensor> EncoderModel::tensors(Session& session) const {
  TensorList list;
  list.set_rows(ModelTensor::Axis::source);
  encoder_.list(list, session, [&](const View& states, const Run& run) {
    if (head_) (*head_)(const_view(states), run);
  });
  return list.take();
}

}  // namespace glassformer
