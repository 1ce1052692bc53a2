#pragma once

#include <memory>

#include "models/stack/stack.hpp"
#include "models/stack/text_embeddings.hpp"
#include "run/trace/trace.hpp"

namespace glassformer {

/// A stack that reads whole sequences, and its input.
class Encoder {
 public:
  Encoder(const StackConfig& config, Compute compute, std::unique_ptr<Embedding> embed_tokens)
      : embeddings_(config, std::move(embed_tokens)),
        stack_(Stack::Kind::encoder, config, compute) {}

  void declare(const ParameterScope& scope);

  /// Computes the vectors of the batch's tokens: x [N, D].
  void operator()(const Batch& batch, View<2> x, const Run& run) const;

  /// Turns x [N, D], the input of block `first`, into the vectors of the run's sequences. If
  /// `first` is the number of blocks, only the final norm is applied.
  void resume(std::size_t first, View<2> x, const Run& run) const;

  /// Passes a run without rows to a tracer, which gets every tensor's name. Then calls then(states,
  /// run).
  template <class Then>
  void list(Tracer& tracer, Session& session, const Then& then) const {
    const Batch nothing;
    const RowSegment segment = {};
    Run run(session, &tracer);
    run.sequences = &nothing;
    run.segments = std::span(&segment, 1);
    const Arena::Scope memory(run.arena());
    View<2> states = run.make(0, stack_.config().d_model);
    (*this)(nothing, states, run);
    then(states, run);
  }

  const Stack& stack() const { return stack_; }
  const TextEmbeddings& embeddings() const { return embeddings_; }

 private:
  TextEmbeddings embeddings_;
  Stack stack_;
};

/// Returns the tracer of a run over whole sequences, or null if the request is empty.
std::unique_ptr<SequenceTracer> make_tracer(const TraceRequest& request, const Sequences& sequences,
                                            const StackConfig& config);

}  // namespace glassformer
