#include "models/decoding_state.hpp"

#include <algorithm>
#include <limits>
#include <ranges>
#include <string>

#include "error.hpp"

namespace glassformer {
namespace {

// Whether maps of this name are asked for in any layer.
bool asks_for(const TraceRequest& request, const char* name, std::size_t layers) {
  std::vector<TracedTensor> found;
  for (const char* site : {"self_attn.", "encoder_attn."}) {
    append_maps(request, "decoder", site + std::string(name), {.layers = layers}, found);
  }
  return !found.empty();
}

void expect_at_most(const char* what, std::size_t limit, std::size_t got) {
  if (got > limit) {
    throw Error(ErrorCode::internal, std::string(what) + ": expected at most " +
                                         std::to_string(limit) + ", got " + std::to_string(got));
  }
}

}  // namespace

DecodingState::DecodingState(const StackConfig& decoder, const Sequences& sources,
                             const DecodingLimits& limits, const TraceRequest& request)
    : layers_(decoder.layers),
      heads_(decoder.n_heads),
      request_(request),
      keeps_weights_(request.attention || asks_for(request, "weights", decoder.layers)),
      keeps_scores_(asks_for(request, "scores", decoder.layers)),
      limits_(limits),
      tree_(std::min(limits.nodes, likely_nodes)),
      cache_(decoder.layers, decoder.n_heads * decoder.d_head, std::min(limits.nodes, likely_nodes),
             sources.tokens()),
      source_keys_starts_({0}) {
  expect_at_most("positions", decoder.max_length, limits.positions);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    source_starts_.push_back(sources.start(i));
    source_lengths_.push_back(sources.length(i));
    for (std::size_t position : sources.visible(i)) {
      source_keys_.push_back(static_cast<std::uint32_t>(sources.start(i) + position));
    }
    source_keys_starts_.push_back(source_keys_.size());
  }
  ids_.reserve(limits.rows);
  positions_.reserve(limits.rows);
  const std::size_t nodes = std::min(limits.nodes, likely_nodes);
  const std::size_t positions = std::min(limits.positions, likely_positions);
  paths_.reserve(limits.rows * positions);
  self_.reserve(limits.rows);
  cross_.reserve(limits.rows);
  if (keeps_weights_) {
    // Hypotheses that grow together, a token a step, have (positions + 1) / 2 keys on average.
    weights_starts_.reserve(nodes);
    weights_.reserve(checked_product(
        "attention weights", {nodes, layers_, heads_, (positions + 1) / 2 + sources.longest()}));
  }
}

std::span<const std::uint32_t> DecodingState::source_keys(std::size_t source) const {
  return std::span(source_keys_)
      .subspan(source_keys_starts_[source],
               source_keys_starts_[source + 1] - source_keys_starts_[source]);
}

void DecodingState::append(std::span<const Extension> extensions) {
  expect_at_most("rows", limits_.rows, extensions.size());
  const std::size_t nodes = tree_.size() + extensions.size();
  expect_at_most("nodes", limits_.nodes, nodes);
  if (!cache_.self.empty() && nodes > cache_.self[0].shape(0)) {
    cache_.grow(std::min(std::max(nodes, 2 * tree_.size()), limits_.nodes), tree_.size());
  }
  ids_.clear();
  positions_.clear();
  self_.clear();
  cross_.clear();
  std::size_t all_positions = 0;
  for (const Extension& extension : extensions) {
    const HypothesisTree::Node& node = tree_[tree_.append(extension)];
    expect_at_most("positions", limits_.positions, node.depth + 1);
    ids_.push_back(node.id);
    positions_.push_back(node.depth);
    all_positions += node.depth + 1;
  }
  paths_.resize(all_positions);
  std::span<NodeIndex> rest = paths_;
  most_keys_ = 0;
  for (std::size_t i = 0; i < extensions.size(); ++i) {
    const auto index = static_cast<NodeIndex>(tree_.size() - extensions.size() + i);
    const std::span<NodeIndex> path = rest.first(positions_[i] + 1);
    rest = rest.subspan(path.size());
    tree_.path(index, path);
    self_.push_back({.keys = path});
    cross_.push_back({.keys = source_keys(tree_[index].source)});
    most_keys_ = std::max({most_keys_, path.size(), cross_.back().keys.size()});
  }
  if (!keeps_weights_ && !keeps_scores_) return;

  const std::size_t all_heads = layers_ * heads_;
  const std::size_t first = std::max(weights_.size(), scores_.size());
  std::size_t size = first;
  for (std::size_t i = 0; i < self_.size(); ++i) {
    weights_starts_.push_back(size);
    size += checked_product("attention weights",
                            {all_heads, self_[i].keys.size() + cross_[i].keys.size()});
  }
  const auto hand_out = [&](std::vector<float>& kept, float* AttentionRow::*place) {
    kept.resize(size);
    float* next = kept.data() + first;
    for (std::size_t i = 0; i < self_.size(); ++i) {
      self_[i].*place = next;
      cross_[i].*place = next + all_heads * self_[i].keys.size();
      next = cross_[i].*place + all_heads * cross_[i].keys.size();
    }
  };
  if (keeps_weights_) hand_out(weights_, &AttentionRow::weights);
  if (keeps_scores_) hand_out(scores_, &AttentionRow::scores);
}

DecodingStep DecodingState::step(std::size_t layer, std::size_t first, std::size_t count) {
  return {.layer = layer,
          .own_kv = rows(cache_.self[layer], first, count),
          .self_attn = {.kv = cache_.self[layer].data(), .rows = self_},
          .encoder_attn = {.kv = cache_.cross[layer].data(), .rows = cross_}};
}

AttentionMap DecodingState::self_map(NodeIndex node, const std::vector<float>& kept,
                                     float unseen) const {
  const std::vector<NodeIndex> path = tree_.path(node);
  const std::size_t length = path.size();
  AttentionMap map = {.layers = layers_, .heads = heads_, .queries = length, .keys = length};
  if (unseen != 0) std::ranges::fill(map.data, unseen);
  for (std::size_t i = 0; i < length; ++i) {
    const float* row = kept.data() + weights_starts_[path[i]];  // [L, H, i + 1]
    for (std::size_t head = 0; head < layers_ * heads_; ++head) {
      std::copy_n(row + head * (i + 1), i + 1, &map.data[(head * length + i) * length]);
    }
  }
  return map;
}

AttentionMap DecodingState::cross_map(NodeIndex node, const std::vector<float>& kept,
                                      float unseen) const {
  const std::vector<NodeIndex> path = tree_.path(node);
  AttentionMap map = {.layers = layers_,
                      .heads = heads_,
                      .queries = path.size(),
                      .keys = source_lengths_[tree_[node].source]};
  if (unseen != 0) std::ranges::fill(map.data, unseen);
  for (std::size_t i = 0; i < path.size(); ++i) copy_cross(path[i], i, kept, map);
  return map;
}

void DecodingState::copy_cross(NodeIndex node, std::size_t row, const std::vector<float>& kept,
                               AttentionMap& map) const {
  const auto& [parent, source, depth, id] = tree_[node];
  const std::span<const std::uint32_t> keys = source_keys(source);
  const std::size_t all_heads = layers_ * heads_;
  const float* own = kept.data() + weights_starts_[node] + all_heads * (depth + 1);  // [L, H, keys]
  for (std::size_t head = 0; head < all_heads; ++head) {
    float* to = &map.data[(head * map.queries + row) * map.keys];
    for (std::size_t j = 0; j < keys.size(); ++j) {
      to[keys[j] - source_starts_[source]] = own[head * keys.size() + j];
    }
  }
}

AttentionMap DecodingState::self_attention(NodeIndex node) const {
  return self_map(node, weights_, 0.0f);
}

AttentionMap DecodingState::cross_attention(NodeIndex node) const {
  return cross_map(node, weights_, 0.0f);
}

AttentionMap DecodingState::self_attention_step(NodeIndex node) const {
  AttentionMap map = {
      .layers = layers_, .heads = heads_, .queries = 1, .keys = tree_[node].depth + 1};
  std::copy_n(weights_.data() + weights_starts_[node], map.data.size(), map.data.data());
  return map;
}

AttentionMap DecodingState::cross_attention_step(NodeIndex node) const {
  AttentionMap map = {.layers = layers_,
                      .heads = heads_,
                      .queries = 1,
                      .keys = source_lengths_[tree_[node].source]};
  copy_cross(node, 0, weights_, map);
  return map;
}

std::vector<TracedTensor> DecodingState::trace(NodeIndex node) const {
  const std::size_t source = tree_[node].source, start = source_starts_[source];
  std::vector<TracedTensor> tensors;
  for (const TracedRows& kept : traced_sources_.all()) {
    tensors.push_back(kept.gather(std::views::iota(start, start + source_lengths_[source])));
  }
  for (const TracedRows& kept : traced_nodes_.all())
    tensors.push_back(kept.gather(tree_.path(node)));
  const auto append = [&](const char* name, const std::vector<float>& kept, float unseen) {
    append_maps(request_, "decoder", "self_attn." + std::string(name), self_map(node, kept, unseen),
                tensors);
    append_maps(request_, "decoder", "encoder_attn." + std::string(name),
                cross_map(node, kept, unseen), tensors);
  };
  if (keeps_weights_) append("weights", weights_, 0.0f);
  if (keeps_scores_) append("scores", scores_, -std::numeric_limits<float>::infinity());
  return tensors;
}

}  // namespace glassformer
