#include "layers/feed_forward/feed_forward.hpp"

#include <algorithm>

namespace glassformer {

void FeedForward::declare(const ParameterScope& scope) {
  fc2_.declare(scope.scope("fc2"), shape_.bias);
}

void FeedForward::add_to(View<2> x, const ConstView<2>& input, const Run& run) const {
  // A block of rows at a time: its d_ff-wide middle stays in the cache between the two products.
  const std::size_t n = x.shape(0), d_model = shape_.d_model;
  for (std::size_t first = 0; first < n; first += Workspace::feed_forward_rows) {
    const std::size_t count = std::min(Workspace::feed_forward_rows, n - first);
    View<2> middle =  // [count, F]
        hidden(const_view<2>(input.data() + first * d_model, {count, d_model}), run.workspace);
    run.see("fc1", middle, first);
    fc2_.add_to(rows(x, first, count), const_view(middle), run, "fc2", first);
  }
}

void PlainFeedForward::declare(const ParameterScope& scope) {
  fc1_.declare(scope.scope("fc1"), shape().bias);
  FeedForward::declare(scope);
}

View<2> PlainFeedForward::hidden(const ConstView<2>& input, Workspace& workspace) const {
  View<2> hidden = view<2>(workspace.hidden.data(), {input.shape(0), shape().d_ff});
  if (shape().activation == Activation::relu) {
    fc1_(input, hidden, workspace, Epilogue::relu);
  } else {
    fc1_(input, hidden, workspace);
    kernels().activate(shape().activation, hidden.data(), hidden.size());
  }
  return hidden;
}

void GatedFeedForward::declare(const ParameterScope& scope) {
  const std::size_t d_ff = shape().d_ff;
  gate_and_fc1_.declare(scope.scope("fc1_gate"), 0, d_ff, shape().bias);
  gate_and_fc1_.declare(scope.scope("fc1"), d_ff, d_ff, shape().bias);
  FeedForward::declare(scope);
}

View<2> GatedFeedForward::hidden(const ConstView<2>& input, Workspace& workspace) const {
  const std::size_t n = input.shape(0), d_ff = shape().d_ff;
  View<2> both = view<2>(workspace.hidden.data(), {n, 2 * shape().d_ff});
  gate_and_fc1_(input, both, workspace);
  for (std::size_t i = 0; i < n; ++i) {
    float* gate = &both(i, 0);
    kernels().activate(shape().activation, gate, d_ff);
    kernels().multiply(gate, gate + d_ff, d_ff);
    std::copy_n(gate, d_ff, both.data() + i * d_ff);  // rows of F from here on
  }
  return view<2>(both.data(), {n, d_ff});
}

std::unique_ptr<FeedForward> make_feed_forward(bool gated, const FeedForwardShape& shape,
                                               Compute compute) {
  if (gated) return std::make_unique<GatedFeedForward>(shape, compute);
  return std::make_unique<PlainFeedForward>(shape, compute);
}

}  // namespace glassformer
