#include "explain/next_token.hpp"

namespace glassformer {

WholePass DecodedText::pass(std::span<const std::vector<std::size_t>> masked) const {
  Batch sources, targets;
  std::vector<std::size_t> rows;
  for (const std::vector<std::size_t>& tokens : masked) {
    std::vector<std::size_t> of_source, of_target;
    for (const std::size_t token : tokens) {
      if (token < ids.size()) {
        of_target.push_back(token);
      } else {
        of_source.push_back(token - ids.size());
      }
    }
    targets.add(ids, of_target);
    if (source) sources.add(source->sources.ids(), of_source, source->sources.types());
    rows.push_back(targets.tokens() - 1);
  }
  return {std::move(sources), std::move(targets), std::move(rows)};
}

View run_pass(const WriterRunner& model, const DecodedText& text, const WholePass& pass, Run& run) {
  return text.source ? pass(model.translator(), run) : pass(model.model, run);
}

NextTokenRun run_to_next_token(const WriterRunner& model, const DecodedText& text,
                               const TraceRequest& request) {
  const auto& [ids, source] = text;
  DecodingState state = model.read(source, ids.first(ids.size() - 1), request, 1);
  const NodeIndex last = static_cast<NodeIndex>(ids.size() - 1);
  const Extension step = next_in_line(ids.size() - 1, ids.back());
  const View hidden = model->decode(state, std::span(&step, 1));
  const View logits = model->project(const_view(hidden), model.session);
  NextTokenRun run;
  run.logits.assign(logits.data(), logits.data() + logits.size());
  if (!request.names.empty()) run.trace = state.trace(last);
  if (request.attention) run.attention = state.self_attention(last);
  return run;
}

}  // namespace glassformer
