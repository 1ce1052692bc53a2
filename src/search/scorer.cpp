#include "search/scorer.hpp"

#include <algorithm>

#include "tensor/sizes.hpp"

namespace glassformer {

std::optional<float> NextTokens::logit_of(std::int32_t token) const {
  if (ids.empty()) return logits[static_cast<std::size_t>(token)];
  const auto place = std::ranges::lower_bound(ids, token);
  if (place == ids.end() || *place != token) return std::nullopt;
  return logits[static_cast<std::size_t>(place - ids.begin())];
}

DecodingScorer::DecodingScorer(const LanguageModel& model, DecodingState state,
                               std::vector<std::vector<std::int32_t>> choices)
    : model_(model), state_(std::move(state)) {
  for (std::vector<std::int32_t>& ids : choices) {
    widest_ = std::max(widest_, ids.size());
    selections_.emplace_back(model_, std::move(ids));
  }
  const std::size_t rows = state_.limits().rows;
  logits_.resize(checked_product("logits", {rows, widest_}));
  next_.reserve(rows);
}

std::span<const NextTokens> DecodingScorer::feed(std::span<const Extension> extensions) {
  View hidden = model_.decode(state_, extensions);
  const std::size_t n = extensions.size();
  next_.clear();
  if (selections_.empty()) {
    const View logits = model_.project(const_view(hidden), state_);
    for (std::size_t row = 0; row < n; ++row) {
      next_.push_back({{&logits(row, 0), logits.shape(1)}, {}});
    }
    return next_;
  }
  const auto source = [&, first_node = state_.tree().size() - n](std::size_t row) {
    return state_.tree()[static_cast<NodeIndex>(first_node + row)].source;
  };
  for (std::size_t first = 0, end; first < n; first = end) {
    for (end = first + 1; end < n && source(end) == source(first);) ++end;
    project(hidden, first, end - first, selections_[source(first)]);
  }
  return next_;
}

void DecodingScorer::project(View& hidden, std::size_t first, std::size_t count,
                             const Selection& selection) {
  const std::size_t width = selection.ids.size();
  const View logits = view(logits_.data() + first * widest_, {count, width});
  model_.project(const_view(rows(hidden, first, count)), selection.projection, logits,
                 state_.session());
  for (std::size_t row = 0; row < count; ++row) {
    next_.push_back({{&logits(row, 0), width}, selection.ids});
  }
}

}  // namespace glassformer
