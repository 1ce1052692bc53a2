#include "explain/interventions/circuit.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/heap_sort.hpp"
#include "explain/traced.hpp"

namespace glassformer {
namespace {

// The maximum number of tries to cut more of the edges that bisection leaves.
constexpr std::size_t most_tries = 64;

}  // namespace

CircuitSearch::CircuitSearch(const EncoderRunner& model, const ExplainedText& text, float least)
    : model_(model),
      stream_{.layers = 0},
      least_(least),
      kept_edges_(model->encoder().stack().config(), text.tokens()) {
  const StackConfig& config = model->encoder().stack().config();
  if (model->head_config().kind != HeadKind::sequence_classes) {
    throw_error(ErrorCode::unsupported, "circuit: expected a model that classifies texts");
  }
  expect_cuttable(model.model, Cut::weights);
  std::vector<std::string> names = stream_tensors(config.layers.size());
  names.emplace_back("logits");
  for (std::string& name : value_norm_tensors()) names.push_back(std::move(name));
  const std::vector<TracedTensor> traced = trace(model, text, std::move(names));
  stream_ = stream_of(traced, config.layers.size());
  norms_ = value_norms(explained_stack(model->encoder(), "encoder"), traced).heads;
  const std::vector<float>& logits = find_traced(traced, "logits").data;
  expect_finite(logits);
  contrast_ = contrast_for(largest(logits), logits.size());
  full_ = kept_ = static_cast<float>(contrast_.of(logits.data()));
  for (std::size_t layer = 0; layer < config.layers.size(); ++layer) {
    for (std::size_t head = 0; head < config.n_heads(); ++head) heads_.emplace_back(layer, head);
  }
  head_kept_.assign(heads_.size(), true);
  EdgeSet none(config, text.tokens());
  for (const auto& [layer, head] : heads_) none.cut_head(layer, head);
  const EdgeSet* const one = &none;
  nothing_ = static_cast<float>(
      contrast_.of(logits_with(model, stream_, std::span(&one, 1), Cut::weights).data()));
}

std::optional<float> CircuitSearch::number_with(const EdgeSet& set) {
  const EdgeSet* const one = &set;
  const std::vector<float> logits = logits_with(model_, stream_, std::span(&one, 1), Cut::weights);
  if (largest(logits) != contrast_.label) return std::nullopt;
  return static_cast<float>(contrast_.of(logits.data()));
}

// Returns the share that is left of the explained number. If that is 0, none of it can be lost.
float CircuitSearch::share_of(float number) const {
  return number == full_ ? 1.0f : number / full_;
}

bool CircuitSearch::try_keep(const EdgeSet& set) {
  const std::optional<float> number = number_with(set);
  if (!number) return false;
  const float share = share_of(*number);
  if (!(share >= least_ && share <= 2 - least_)) return false;
  kept_edges_ = set;
  kept_ = *number;
  return true;
}

void CircuitSearch::start_edges() {
  std::vector<AttentionEdge> edges;
  std::vector<float> strengths;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    if (!head_kept_[i]) continue;
    const auto [layer, head] = heads_[i];
    for (std::size_t query = 0; query < stream_.tokens; ++query) {
      for (std::size_t key = 0; key < stream_.tokens; ++key) {
        edges.push_back({layer, head, query, key});
        strengths.push_back(norms_.at(layer, head)[query * stream_.tokens + key]);
      }
    }
  }
  for (const std::size_t i : sorted_order(strengths)) order_.push_back(edges[i]);
  high_ = order_.size();
  phase_ = Phase::bisection;
}

EdgeSet CircuitSearch::without(std::size_t first, std::size_t count) const {
  EdgeSet set = kept_edges_;
  for (std::size_t i = first; i < first + count; ++i) set.cut(order_[i]);
  return set;
}

bool CircuitSearch::step() {
  switch (phase_) {
    case Phase::heads_alone: {
      const auto [layer, head] = heads_[next_];
      EdgeSet set = kept_edges_;
      set.cut_head(layer, head);
      const EdgeSet* const one = &set;
      losses_.push_back(
          full_ -
          static_cast<float>(contrast_.of(
              logits_with(model_, stream_, std::span(&one, 1), Cut::weights, layer).data())));
      if (++next_ < heads_.size()) break;
      // The heads whose removal loses least, or even gains, are tried first.
      std::vector<std::pair<std::size_t, std::size_t>> sorted;
      for (const std::size_t i : sorted_order(losses_)) sorted.push_back(heads_[i]);
      heads_ = std::move(sorted);
      next_ = 0;
      phase_ = Phase::heads;
      break;
    }
    case Phase::heads: {
      EdgeSet set = kept_edges_;
      set.cut_head(heads_[next_].first, heads_[next_].second);
      head_kept_[next_] = !try_keep(set);
      if (++next_ == heads_.size()) start_edges();
      break;
    }
    case Phase::bisection: {  // the weakest low_ are cut; at most high_ can be
      if (high_ == low_) {
        order_.erase(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(low_));
        next_ = 0;
        chunk_ = (order_.size() + most_tries - 1) / most_tries;
        phase_ = order_.empty() ? Phase::done : Phase::chunks;
        break;
      }
      const std::size_t middle = low_ + (high_ - low_ + 1) / 2;
      if (try_keep(without(0, middle))) {
        low_ = middle;
      } else {
        high_ = middle - 1;
      }
      break;
    }
    case Phase::chunks: {
      const std::size_t count = std::min(chunk_, order_.size() - next_);
      try_keep(without(next_, count));
      next_ += count;
      if (next_ == order_.size()) phase_ = Phase::done;
      break;
    }
    case Phase::done:
      break;
  }
  return phase_ != Phase::done;
}

Circuit CircuitSearch::circuit() const {
  Circuit circuit = {.label = contrast_.label,
                     .full = full_,
                     .kept = kept_,
                     .nothing = nothing_,
                     .faithfulness = share_of(kept_),
                     .heads = {},
                     .edges = {}};
  for (std::size_t layer = 0; layer < norms_.layers; ++layer) {
    for (std::size_t head = 0; head < norms_.heads; ++head) {
      const std::size_t before = circuit.edges.size();
      for (std::size_t query = 0; query < stream_.tokens; ++query) {
        for (std::size_t key = 0; key < stream_.tokens; ++key) {
          const AttentionEdge edge = {layer, head, query, key};
          if (kept_edges_.has(edge)) circuit.edges.push_back(edge);
        }
      }
      if (circuit.edges.size() > before) circuit.heads.emplace_back(layer, head);
    }
  }
  return circuit;
}

}  // namespace glassformer
