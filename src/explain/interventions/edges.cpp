#include "explain/interventions/edges.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace glassformer {
namespace {

// Cuts edges in a run of several sequences, different ones in each.
class EdgeCutter final : public Tracer, public MapPatch {
 public:
  EdgeCutter(std::span<const EdgeSet* const> sets, Cut cut) : sets_(sets), cut_(cut) {}

  // The last index that is entered before an attention is that of its layer.
  void enter(std::string_view) override {}
  void enter(std::size_t index) override { layer_ = index; }
  void leave() override {}
  bool wants(std::string_view) const override { return false; }
  void done(std::string_view, const CompleteRows&) override {}

  MapOutput map(MapKind kind, std::size_t index, const MapShape& shape) override {
    const bool cuts = kind == (cut_ == Cut::scores ? MapKind::scores : MapKind::weights);
    if (!cuts) return {};
    set_ = sets_[index];
    const float unseen = cut_ == Cut::scores ? -std::numeric_limits<float>::infinity() : 0.0f;
    room_.assign(shape.size(), unseen);
    return {.data = room_.data(), .shape = shape, .unseen = unseen, .patch = this};
  }

  bool replace(std::size_t head, std::size_t query, std::span<float> row) override {
    const float none = cut_ == Cut::scores ? -std::numeric_limits<float>::infinity() : 0.0f;
    bool changed = false;
    for (std::size_t key = 0; key < row.size(); ++key) {
      if (set_->has({layer_, head, query, key})) continue;
      row[key] = none;
      changed = true;
    }
    return changed;
  }

 private:
  std::span<const EdgeSet* const> sets_;
  Cut cut_;
  std::size_t layer_ = 0;
  const EdgeSet* set_ = nullptr;
  std::vector<float> room_;
};

bool has_linear_layers(const StackConfig& config) {
  return std::ranges::any_of(config.layers,
                             [](const LayerConfig& layer) { return layer.mixer == Mixer::linear; });
}

void expect_there(const AttentionEdge& edge, const StackConfig& config, std::size_t tokens) {
  if (edge.layer < config.layers.size() && edge.head < config.n_heads() && edge.query < tokens &&
      edge.key < tokens) {
    return;
  }
  throw_error(ErrorCode::invalid_option,
              {"edges: expected layers below {}, heads below {}, queries and keys below {}, got "
               "layer {}, head {}, query {}, key {}",
               {config.layers.size(), config.n_heads(), tokens, edge.layer, edge.head, edge.query,
                edge.key}});
}

}  // namespace

void EdgeSet::cut_head(std::size_t layer, std::size_t head) {
  const auto first = there_.begin() + static_cast<std::ptrdiff_t>(index_of({layer, head, 0, 0}));
  std::fill(first, first + static_cast<std::ptrdiff_t>(tokens_ * tokens_), false);
}

std::size_t EdgeSet::size() const {
  return static_cast<std::size_t>(std::count(there_.begin(), there_.end(), true));
}

void expect_replaceable(Compute compute, const char* method) {
  if (compute == Compute::f32) return;
  throw_error(ErrorCode::unsupported,
              {"{}: expected compute f32, as attention in integers does not read the numbers that "
               "would be replaced",
               {method}});
}

void expect_cuttable(const EncoderModel& model, Cut cut) {
  expect_replaceable(model.compute(), "edges");
  if (cut == Cut::scores && has_linear_layers(model.encoder().stack().config())) {
    throw_error(ErrorCode::unsupported, "edges: expected attention with scores, got linear");
  }
}

std::vector<float> logits_with(const EncoderRunner& model, const Stream& stream,
                               std::span<const EdgeSet* const> sets, Cut cut, std::size_t first) {
  expect_cuttable(model.model, cut);
  Sequences sequences;
  std::vector<float> states;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const float* from = stream.row(first, 0).data();
    states.insert(states.end(), from, from + stream.tokens * stream.d_model);
    sequences.add(stream.tokens);
  }
  EdgeCutter cutter(sets, cut);
  const Tensor logits = model.resume(
      sequences, first, const_view(states.data(), {sequences.tokens(), stream.d_model}), &cutter);
  return {logits.data(), logits.data() + logits.size()};
}

CutEffects cut_edges(const EncoderRunner& model, const Stream& stream,
                     std::span<const AttentionEdge> edges, Cut cut, const Contrast& contrast) {
  const StackConfig& config = model->encoder().stack().config();
  const EdgeSet all(config, stream.tokens);
  EdgeSet rest = all;
  const auto number_with = [&](const EdgeSet& set, std::size_t first) {
    const EdgeSet* const one = &set;
    return static_cast<float>(
        contrast.of(logits_with(model, stream, std::span(&one, 1), cut, first).data()));
  };
  CutEffects effects;
  effects.full = number_with(all, config.layers.size());
  for (const AttentionEdge& edge : edges) {
    expect_there(edge, config, stream.tokens);
    rest.cut(edge);
    EdgeSet but_one = all;
    but_one.cut(edge);
    effects.alone.push_back(effects.full - number_with(but_one, edge.layer));
  }
  effects.without = number_with(rest, 0);
  return effects;
}

}  // namespace glassformer
