#pragma once

#include <memory>

#include "models/stack.hpp"
#include "models/text_embeddings.hpp"
#include "run/trace.hpp"

namespace glassformer {

/// A stack that reads whole sequences, and its input.
class Encoder {
 public:
  Encoder(const StackConfig& config, Compute compute, std::unique_ptr<Embedding> embed_tokens)
      : embeddings_(config, std::move(embed_tokens)),
        stack_(Stack::Kind::encoder, config, compute) {}

  void declare(const ParameterScope& scope);

  /// x [N, D] = the vectors of the batch's tokens.
  void operator()(const Batch& batch, View<2> x, const Run& run) const;

  /// x [N, D], the rows that enter block `first`, becomes the vectors of the run's sequences. If
  /// there are only `first` blocks, only the final norm is applied.
  void resume(std::size_t first, View<2> x, const Run& run) const;

  /// Passes no rows by a tracer, which gets every tensor's name. `then(states, run)` follows.
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

/// The tracer of a run over whole sequences; null if the request asks for nothing.
std::unique_ptr<SequenceTracer> make_tracer(const TraceRequest& request, const Sequences& sequences,
                                            const StackConfig& config);

}  // namespace glassformer
