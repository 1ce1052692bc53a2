#pragma once

#include <memory>
#include <vector>

#include "models/stack.hpp"
#include "run/trace.hpp"

namespace glassformer {

/// Token ids to contextual vectors.
class Encoder {
 public:
  Encoder(const StackConfig& config, Compute compute, std::unique_ptr<Embedding> embed_tokens)
      : stack_(Stack::Kind::alone, config, compute, std::move(embed_tokens)) {}

  void declare(const ParameterScope& scope) { stack_.declare(scope); }

  /// The vectors [N, D] of the batch's tokens: a window on workspace.states.
  View<2> operator()(const Batch& batch, const Run& run) const;
  /// The same from block `first` on, of what enters it, [N, D]; of no block where there are only
  /// `first`.
  View<2> resume(std::size_t first, const ConstView<2>& states, const Run& run) const;

  const Stack& stack() const { return stack_; }

 private:
  View<2> run_blocks(std::size_t first, View<2> x, const Run& run) const;

  Stack stack_;
};

/// What a run of an encoder shows, where the request asks for it; null where it does not.
std::unique_ptr<SequenceTracer> make_tracer(const TraceRequest& request, const Sequences& sequences,
                                            const StackConfig& config);

}  // namespace glassformer
