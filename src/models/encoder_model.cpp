#include "models/encoder_model.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "layers/elementwise/elementwise.hpp"
#include "models/stack/text_embeddings.hpp"

namespace glassformer {

namespace {

std::unique_ptr<StackInput> make_text_input(const StackConfig& stack, const Head* head,
                                            const Embedding* table, Compute compute) {
  if (table) {
    return std::make_unique<TextEmbeddings>(stack, make_embedding(stack, *table));
  }
  const Linear* tied = head ? head->tied() : nullptr;
  return std::make_unique<TextEmbeddings>(
      stack, tied ? make_embedding(stack, *tied) : make_embedding(stack, compute));
}

// A decoder's text. Row t reads token t - 1 of the encoder's text; row 0, the start token.
struct ShiftedText {
  ShiftedText(const Batch& texts, std::int32_t start_id) {
    for (std::size_t s = 0; s < texts.size(); ++s) {
      const std::span<const std::int32_t> of = texts.ids(s);
      std::vector<std::int32_t> ids = {start_id};
      ids.insert(ids.end(), of.begin(), of.end() - 1);
      std::vector<std::size_t> masked;
      for (std::size_t row = 1; row < of.size(); ++row) {
        if (!std::ranges::binary_search(texts.visible(s), row - 1)) masked.push_back(row);
      }
      batch.add(ids, masked);
    }
    segments = segments_of(batch);
  }

  Batch batch;
  std::vector<RowSegment> segments;
};

constexpr std::array attention_names = {"encoder.layers.*.self_attn.weights",
                                        "decoder.layers.*.self_attn.weights",
                                        "decoder.layers.*.encoder_attn.weights"};

// Returns the request with attention weights requested by their names, of which a tracer of one
// stack's maps knows nothing.
TraceRequest by_names(TraceRequest request) {
  if (!std::exchange(request.attention, false)) return request;
  request.names.insert(request.names.end(), attention_names.begin(), attention_names.end());
  return request;
}

// Moves the weights with these names, of one sequence, from a trace to a map. Keeps those that the
// request names, too.
AttentionMap take_map(const char* names, const TraceRequest& request,
                      std::vector<TracedTensor>& trace) {
  AttentionMap map;
  for (const TracedTensor& tensor : trace) {
    if (!matches(names, tensor.name)) continue;
    map.heads = tensor.shape[0];
    map.queries = tensor.shape[1];
    map.keys = tensor.shape[2];
    map.data.insert(map.data.end(), tensor.data.begin(), tensor.data.end());
    ++map.layers;
  }
  std::erase_if(trace, [&](const TracedTensor& tensor) {
    return matches(names, tensor.name) && !request.asks_for(tensor.name);
  });
  return map;
}

}  // namespace

EncoderModel::EncoderModel(const Architecture& architecture, Compute compute)
    : head_config_(architecture.head),
      compute_(compute),
      start_id_(architecture.start_id),
      head_(make_head(architecture, compute)),
      embed_tokens_(architecture.decoder ? make_shared_table(*architecture.decoder, compute)
                                         : nullptr),
      encoder_(std::make_shared<Encoder>(
          *architecture.encoder, compute,
          make_text_input(*architecture.encoder, head_.get(), embed_tokens_.get(), compute))),
      modules_(architecture.head.modules) {
  if (!architecture.decoder) return;
  decoder_ =
      std::make_unique<Decoder>(Stack::Kind::decoder_with_encoder, *architecture.decoder, compute,
                                make_embedding(*architecture.decoder, *embed_tokens_));
}

EncoderModel::EncoderModel(const Architecture& architecture, Compute compute,
                           std::unique_ptr<StackInput> input)
    : head_config_(architecture.head),
      compute_(compute),
      head_(make_head(architecture, compute)),
      encoder_(std::make_shared<Encoder>(*architecture.encoder, compute, std::move(input))),
      modules_(architecture.head.modules) {}

EncoderModel::EncoderModel(const EncoderModel& of, const HeadConfig& config,
                           std::unique_ptr<Head> head)
    : head_config_(config),
      compute_(of.compute_),
      head_(std::move(head)),
      encoder_(of.encoder_),
      modules_({}) {}

std::vector<NamedParameter> EncoderModel::parameters() {
  std::vector<NamedParameter> parameters;
  const ParameterScope root(parameters);
  if (decoder_) {
    embed_tokens_->declare(root.scope("embed_tokens"));
    decoder_->declare(root.scope("decoder"));
  }
  encoder_->declare(root.scope("encoder"));
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

View EncoderModel::states_of(const Batch& batch, const Run& run) const {
  View states = run.make(batch.tokens(), encoder_->stack().config().d_model);  // [N, D]
  (*encoder_)(batch, states, run);
  return decoder_ ? decoded(batch, const_view(states), run) : states;
}

View EncoderModel::states_of(const Pictures& pictures, const Run& run) const {
  View states = run.make(pictures.tokens(), encoder_->stack().config().d_model);  // [N, D]
  (*encoder_)(pictures, states, run);
  return states;
}

View EncoderModel::decoded(const Batch& batch, const ConstView& encoded, const Run& run) const {
  const auto shifted = std::make_shared<const ShiftedText>(batch, start_id_);
  // The steps on the tape read the text.
  if (run.tape()) run.tape()->record([shifted](Tape&) {});
  View states = run.make(batch.tokens(), decoder_->stack().config().d_model);  // [N, D]
  Run decoding = run;
  decoding.segments = shifted->segments;
  decoding.source_segments = run.segments;
  decoder_->read(shifted->batch, &encoded, states, decoding);
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
  const bool decodes = decoder_ != nullptr;
  const TraceRequest named = decodes ? by_names(request) : TraceRequest();
  const auto tracer = make_tracer(decodes ? named : request, batch, encoder_->stack().config());
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
    if (decodes || !request.names.empty()) output.traces.push_back(tracer->take_tensors(s));
    if (!request.attention) continue;
    if (!decodes) {
      output.attention.push_back(tracer->take_attention(s));
      continue;
    }
    const std::array maps = {&output.attention, &output.decoder_attention, &output.cross_attention};
    for (std::size_t i = 0; i < maps.size(); ++i) {
      maps[i]->push_back(take_map(attention_names[i], request, output.traces[s]));
    }
  }
  return output;
}

namespace {

// A run that goes on from saved states.
struct SavedRun {
  SavedRun(const Encoder& encoder, const Sequences& sequences, const ConstView& states,
           Session& session, Tracer* tracer)
      : segments(segments_of(sequences)), run(session, tracer), memory(run.arena()) {
    const std::size_t width = encoder.stack().config().d_model;
    expect_shape("states of an encoder", states, {sequences.tokens(), width});
    run.sequences = &sequences;
    run.segments = segments;
    run.positions = sequences.positions();
    x = run.make(states.shape(0), width);
    std::copy_n(states.data(), states.size(), x.data());
  }

  std::vector<RowSegment> segments;
  Run run;
  Arena::Scope memory;
  View x = view(nullptr, {0, 0});
};

}  // namespace

Tensor EncoderModel::resume(const Sequences& sequences, std::size_t first, const ConstView& states,
                            Session& session, Tracer* tracer) const {
  const Stack* const decoder = decoder_ ? &decoder_->stack() : nullptr;
  if (decoder && first < decoder->config().layers.size()) {
    throw_error(ErrorCode::unsupported, "resume: expected a model without a decoder, got one");
  }
  const SavedRun saved(*encoder_, sequences, states, session, tracer);
  if (decoder) {
    const Run::Scope scope = saved.run.scope("decoder");
    decoder->finish(saved.x, saved.run);
  } else {
    encoder_->resume(first, saved.x, saved.run);
  }
  return copy_of(head_ ? (*head_)(const_view(saved.x), saved.run) : saved.x);
}

Tensor EncoderModel::block(const Sequences& sequences, std::size_t layer, const ConstView& states,
                           Session& session, Tracer* tracer) const {
  const SavedRun saved(*encoder_, sequences, states, session, tracer);
  encoder_->block(layer, saved.x, saved.run);
  return copy_of(saved.x);
}

std::vector<ModelTensor> EncoderModel::tensors(Session& session) const {
  TensorList list;
  list.set_rows(ModelTensor::Axis::source);
  encoder_->list(list, session, [&](const View& states, const Run& run) {
    const ConstView last = const_view(states);
    if (decoder_) {
      Run decoding = run;
      decoding.source_segments = run.segments;
      decoder_->read(Batch(), &last, states, decoding);
    }
    if (head_) (*head_)(last, run);
  });
  return list.take();
}

}  // namespace glassformer
