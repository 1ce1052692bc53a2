#pragma once

#include <memory>

#include "models/stack/stack.hpp"
#include "models/stack/stack_input.hpp"
#include "run/trace/trace.hpp"

namespace glassformer {

/// A stack that reads whole sequences, and its input.
class Encoder {
 public:
  Encoder(const StackConfig& config, Compute compute, std::unique_ptr<StackInput> input)
      : input_(std::move(input)), stack_(Stack::Kind::encoder, config, compute) {}

  void declare(const ParameterScope& scope);

  /// Computes the vectors of the batch's rows: x [N, D]. The batch must be of the kind that the
  /// encoder's input reads: a Batch or Pictures.
  template <class AnyBatch>
  void operator()(const AnyBatch& batch, View x, Run run) const {
    const Run::Scope scope = run.scope("encoder");
    const Arena::Scope memory(run.arena());
    run.session().reserve_attention(batch.longest());
    stack_.begin(batch.tokens(), run);
    (*input_)(batch, x, run);
    stack_.run_from(0, x, run);
  }

  /// Turns x [N, D], the input of block `first`, into the vectors of the run's sequences. If
  /// `first` is the number of blocks, only the final norm is applied.
  void resume(std::size_t first, View x, Run run) const;
  /// Turns the input of block `layer` into its output.
  void block(std::size_t layer, View x, Run run) const;

  /// Passes a run without rows to a tracer, which gets every tensor's name. Then calls then(states,
  /// run).
  template <class Then>
  void list(Tracer& tracer, Session& session, const Then& then) const {
    const Sequences nothing;
    const RowSegment segment = {};
    Run run(session, &tracer);
    run.sequences = &nothing;
    run.segments = std::span(&segment, 1);
    const Arena::Scope memory(run.arena());
    View states = run.make(0, stack_.config().d_model);
    list(states, run);
    then(states, run);
  }

  const Stack& stack() const { return stack_; }
  const StackInput& input() const { return *input_; }

 private:
  void list(View x, Run run) const;
  // Prepares a run on vectors that are there already, and does `blocks`.
  template <class Blocks>
  void go_on(View x, Run& run, const Blocks& blocks) const;

  std::unique_ptr<StackInput> input_;
  Stack stack_;
};

/// Returns the tracer of a run over whole sequences, or null if the request is empty.
std::unique_ptr<SequenceTracer> make_tracer(const TraceRequest& request, const Sequences& sequences,
                                            const StackConfig& config);

}  // namespace glassformer
