#include "models/runner.hpp"

#include <algorithm>
#include <vector>

namespace glassformer {

DecodingState WriterRunner::read(const Seq2Seq::Encoded* sources, std::span<const std::int32_t> ids,
                                 const TraceRequest& request, std::size_t more) const {
  constexpr std::size_t most_rows = 256;  // per step
  const std::size_t tokens = ids.size() + more;
  DecodingState state =
      begin(sources, {.nodes = tokens, .positions = tokens, .rows = std::min(tokens, most_rows)},
            request);
  std::vector<Extension> step;
  for (std::size_t first = 0; first < ids.size(); first += step.size()) {
    step.clear();
    for (std::size_t i = first; i < std::min(ids.size(), first + most_rows); ++i) {
      step.push_back(next_in_line(i, ids[i]));
    }
    const View hidden = model.decode(state, step);
    if (request.touches("logits")) model.project(const_view(hidden), state);
  }
  return state;
}

}  // namespace glassformer
