#include "explain/next_token.hpp"

#include <algorithm>

namespace glassformer {

NextTokenRun run_to_next_token(const WriterRunner& model, const DecodedText& text,
                               const TraceRequest& request) {
  constexpr std::size_t most_rows = 256;  // per step
  const auto& [ids, source] = text;
  const std::size_t tokens = ids.size();
  const DecodingLimits limits = {
      .nodes = tokens, .positions = tokens, .rows = std::min(tokens, most_rows)};
  DecodingState state = model.begin(source, limits, request);
  NextTokenRun run;
  std::vector<Extension> step;
  for (std::size_t first = 0; first < tokens; first += step.size()) {
    step.clear();
    for (std::size_t i = first; i < std::min(tokens, first + most_rows); ++i) {
      const NodeIndex parent = i == 0 ? no_parent : static_cast<NodeIndex>(i - 1);
      step.push_back({.parent = parent, .source = 0, .id = ids[i]});
    }
    const View<2> hidden = model->decode(state, step);
    if (first + step.size() < tokens) continue;
    const View<2> logits =
        model->project(const_view(rows(hidden, step.size() - 1, 1)), model.session);
    run.logits.assign(logits.data(), logits.data() + logits.size());
  }
  const NodeIndex last = static_cast<NodeIndex>(tokens - 1);
  if (!request.names.empty()) run.trace = state.trace(last);
  if (request.attention) run.attention = state.self_attention(last);
  return run;
}

}  // namespace glassformer
