#include "models/decoding/decoding_state.hpp"

#include <algorithm>
#include <ranges>
#include <string>

#include "base/error.hpp"
#include "layers/attention/row_attention.hpp"

namespace glassformer {
namespace {

void expect_at_most(const char* what, std::size_t limit, std::size_t got) {
  if (got > limit) {
    throw_error(ErrorCode::internal, {"{}: expected at most {}, got {}", {what, limit, got}});
  }
}

std::size_t node_columns(const StackConfig& decoder, std::size_t layer) {
  if (decoder.recurrent()) return decoder.d_model;
  return 2 * decoder.layers[layer].attention.d_kv_heads();
}

std::size_t source_columns(const StackConfig& decoder, std::size_t layer) {
  return 2 * decoder.layers[layer].attention.d_kv_heads();
}

}  // namespace

DecodingState::DecodingState(const StackConfig& decoder, const Sequences& sources,
                             const DecodingLimits& limits, const TraceRequest& request,
                             Session& session)
    : session_(&session),
      layers_(decoder.layers.size()),
      heads_(decoder.n_heads()),
      own_heads_(decoder.recurrent() ? 0 : heads_),
      request_(request),
      limits_(limits),
      tree_(std::min(limits.nodes, likely_nodes)),
      source_keys_starts_({0}) {
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    cache_.add(std::min(limits.nodes, likely_nodes), node_columns(decoder, layer), sources.tokens(),
               source_columns(decoder, layer));
  }
  expect_at_most("positions", decoder.max_length, limits.positions);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    source_starts_.push_back(sources.start(i));
    source_lengths_.push_back(sources.length(i));
    for (std::size_t position : sources.visible(i)) {
      source_keys_.push_back(static_cast<std::uint32_t>(sources.start(i) + position));
    }
    source_keys_starts_.push_back(source_keys_.size());
    for (std::size_t j = 0; request.names_any() && j < sources.length(i); ++j) {
      source_positions_.push_back(j);
    }
  }
  ids_.reserve(limits.rows);
  positions_.reserve(limits.rows);
  const std::size_t nodes = std::min(limits.nodes, likely_nodes);
  const std::size_t positions = std::min(limits.positions, likely_positions);
  paths_.reserve(limits.rows * positions);
  self_.reserve(limits.rows);
  cross_.reserve(limits.rows);
  if (request.attention) {
    // If all hypotheses grow by one token in each step, they have (positions + 1) / 2 keys on
    // average.
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

void DecodingState::keep_first(std::size_t nodes, const DecodingLimits& limits) {
  tree_.keep_first(nodes);
  if (has_attention() && nodes < weights_starts_.size()) {
    weights_.resize(weights_starts_[nodes]);
    weights_starts_.resize(nodes);
  }
  limits_ = limits;
  begin_step();
}

void DecodingState::begin_step() {
  ids_.clear();
  positions_.clear();
  self_.clear();
  cross_.clear();
}

void DecodingState::append(std::span<const Extension> extensions) {
  expect_at_most("rows", limits_.rows, extensions.size());
  const std::size_t nodes = tree_.size() + extensions.size();
  expect_at_most("nodes", limits_.nodes, nodes);
  if (!cache_.self.empty() && nodes > cache_.self[0].shape(0)) {
    cache_.grow(std::min(std::max(nodes, 2 * tree_.size()), limits_.nodes), tree_.size());
  }
  begin_step();
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
    const std::size_t source = tree_[index].source;
    self_.push_back({.first = i,
                     .count = 1,
                     .position = positions_[i],
                     .keys = path,
                     .key_positions = path.size()});
    cross_.push_back({.first = i,
                      .count = 1,
                      .keys = source_keys(source),
                      .key_positions = source_keys(source).size()});
    most_keys_ = std::max({most_keys_, path.size(), cross_.back().keys.size()});
  }
  if (!request_.attention) return;

  std::size_t size = weights_.size();
  for (std::size_t i = 0; i < self_.size(); ++i) {
    weights_starts_.push_back(size);
    size += checked_product("attention weights", {layers_, own_heads_ * self_[i].keys.size() +
                                                               heads_ * cross_[i].keys.size()});
  }
  weights_.resize(size);
}

float* DecodingState::attention_of(std::size_t row, std::size_t layer, bool cross) {
  if (!request_.attention) return nullptr;
  float* weights = weights_.data() + weights_starts_[weights_starts_.size() - self_.size() + row];
  const std::size_t own = own_heads_ * self_[row].keys.size();
  if (!cross) return weights + layer * own;
  return weights + layers_ * own + layer * heads_ * cross_[row].keys.size();
}

std::optional<StepTracer> DecodingState::trace_step() {
  if (!request_.names_any() && !request_.attention) return std::nullopt;
  const StepRows rows = {.base = tree_.size() - ids_.size(),
                         .count = ids_.size(),
                         .positions = positions_,
                         .cross = cross_,
                         .source_positions = source_positions_};
  const auto attention = [this](std::size_t row, std::size_t layer, bool cross) {
    return attention_of(row, layer, cross);
  };
  return std::make_optional<StepTracer>(request_, rows,
                                        StepRecord{traced_nodes_, &traced_maps_, attention});
}

std::optional<StepTracer> DecodingState::trace_sources() {
  if (!request_.names_any()) return std::nullopt;
  const StepRows rows = {
      .base = 0, .count = source_positions_.size(), .positions = source_positions_};
  return std::make_optional<StepTracer>(request_, rows, StepRecord{traced_sources_, nullptr, {}});
}

LayerCache DecodingState::layer_cache(std::size_t layer, std::size_t count) {
  Tensor& all = cache_.self[layer];
  return {.own = rows(all, tree_.size() - count, count), .rows = all.data(), .attend = attend_rows};
}

KeyValueRows DecodingState::source_keys_values(std::size_t layer) const {
  const Tensor& kv = cache_.cross[layer];
  const std::size_t stride = kv.shape(1);
  return {kv.data(), kv.data() + stride / 2, stride};
}

const float* DecodingState::weights_of(NodeIndex node, Keys keys) const {
  const float* own = weights_.data() + weights_starts_[node];
  return keys == Keys::own ? own : own + layers_ * own_heads_ * (tree_[node].depth + 1);
}

MapShape DecodingState::map_shape(NodeIndex node, Keys keys, std::size_t heads) const {
  const std::size_t length = tree_[node].depth + 1;
  return {heads, length, keys == Keys::own ? length : source_lengths_[tree_[node].source]};
}

void DecodingState::copy_row(const float* kept, std::size_t row, const MapShape& shape,
                             float* map) const {
  for (std::size_t head = 0; head < shape.heads; ++head) {
    std::copy_n(kept + head * (row + 1), row + 1, map + (head * shape.queries + row) * shape.keys);
  }
}

void DecodingState::copy_source_row(const float* kept, std::size_t row, std::size_t source,
                                    const MapShape& shape, float* map) const {
  const std::span<const std::uint32_t> keys = source_keys(source);
  for (std::size_t head = 0; head < shape.heads; ++head) {
    float* to = map + (head * shape.queries + row) * shape.keys;
    for (std::size_t j = 0; j < keys.size(); ++j) {
      to[keys[j] - source_starts_[source]] = kept[head * keys.size() + j];
    }
  }
}

template <class RowOf>
void DecodingState::fill(NodeIndex node, Keys keys, const MapShape& shape, const RowOf& row_of,
                         float* map) const {
  const std::vector<NodeIndex> path = tree_.path(node);
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (keys == Keys::own) {
      copy_row(row_of(path[i]), i, shape, map);
    } else {
      copy_source_row(row_of(path[i]), i, tree_[node].source, shape, map);
    }
  }
}

AttentionMap DecodingState::attention(NodeIndex node, Keys keys) const {
  const MapShape shape = map_shape(node, keys, layers_ * heads_of(keys));
  AttentionMap map = {
      .layers = layers_, .heads = heads_of(keys), .queries = shape.queries, .keys = shape.keys};
  const auto row_of = [&](NodeIndex at) { return weights_of(at, keys); };
  fill(node, keys, shape, row_of, map.data.data());
  return map;
}

AttentionMap DecodingState::self_attention(NodeIndex node) const {
  return attention(node, Keys::own);
}

AttentionMap DecodingState::cross_attention(NodeIndex node) const {
  return attention(node, Keys::source);
}

AttentionMap DecodingState::self_attention_step(NodeIndex node) const {
  AttentionMap map = {
      .layers = layers_, .heads = own_heads_, .queries = 1, .keys = tree_[node].depth + 1};
  std::copy_n(weights_of(node, Keys::own), map.data.size(), map.data.data());
  return map;
}

AttentionMap DecodingState::cross_attention_step(NodeIndex node) const {
  const std::size_t source = tree_[node].source;
  AttentionMap map = {
      .layers = layers_, .heads = heads_, .queries = 1, .keys = source_lengths_[source]};
  copy_source_row(weights_of(node, Keys::source), 0, source, {layers_ * heads_, 1, map.keys},
                  map.data.data());
  return map;
}

void DecodingState::add_weights(NodeIndex node, Keys keys,
                                std::vector<TracedTensor>& tensors) const {
  const AttentionMap map = attention(node, keys);
  if (map.data.empty()) return;  // there is no such attention
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    std::string name = "decoder.layers." + std::to_string(layer);
    name += keys == Keys::own ? ".self_attn.weights" : ".encoder_attn.weights";
    if (request_.asks_for(name)) tensors.push_back(layer_of(map, layer, std::move(name)));
  }
}

std::vector<TracedTensor> DecodingState::trace(NodeIndex node) const {
  const std::size_t source = tree_[node].source, start = source_starts_[source];
  std::vector<TracedTensor> tensors;
  for (const TracedRows& kept : traced_sources_.all()) {
    tensors.push_back(kept.gather(std::views::iota(start, start + source_lengths_[source])));
  }
  const std::vector<NodeIndex> path = tree_.path(node);
  for (const TracedRows& kept : traced_nodes_.all()) tensors.push_back(kept.gather(path));
  for (const TracedMaps& kept : traced_maps_) {
    const Keys keys = kept.cross ? Keys::source : Keys::own;
    const MapShape shape = map_shape(node, keys, heads_);
    TracedTensor& tensor = tensors.emplace_back();
    tensor.name = kept.name;
    tensor.shape = {shape.heads, shape.queries, shape.keys};
    tensor.data.assign(shape.size(), unseen(kept.kind));
    const auto row_of = [&](NodeIndex at) { return kept.data.data() + kept.starts[at]; };
    fill(node, keys, shape, row_of, tensor.data.data());
  }
  if (request_.attention && !request_.names.empty()) {
    add_weights(node, Keys::own, tensors);
    add_weights(node, Keys::source, tensors);
  }
  return tensors;
}

}  // namespace glassformer
