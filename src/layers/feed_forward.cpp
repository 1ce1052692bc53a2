#include "layers/feed_forward.hpp"

#include <algorithm>

namespace glassformer {

void FeedForward::declare(const ParameterScope& scope) {
  fc1_.declare(scope.scope("fc1"), Bias::present);
  fc2_.declare(scope.scope("fc2"), Bias::present);
}

void FeedForward::add_to(View<2> x, const ConstView<2>& input, Workspace& workspace) const {
  // A block of rows at a time: its d_ff-wide middle stays in the cache between the two products.
  const std::size_t n = x.shape(0);
  for (std::size_t first = 0; first < n; first += Workspace::feed_forward_rows) {
    const std::size_t count = std::min(Workspace::feed_forward_rows, n - first);
    View<2> hidden = rows(workspace.hidden, 0, count);  // [count, F]
    fc1_(const_view<2>(input.data() + first * fc1_.in(), {count, fc1_.in()}), hidden, workspace,
         activation_);
    fc2_(const_view(hidden), rows(x, first, count), workspace, Epilogue::accumulate);
  }
}

}  // namespace glassformer
