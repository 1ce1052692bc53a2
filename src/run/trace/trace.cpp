#include "run/trace/trace.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <ranges>

#include "base/strings/wildcard.hpp"

namespace glassformer {

TracedTensor to_tensor(std::string name, AttentionMap map) {
  return {std::move(name), {map.layers, map.heads, map.queries, map.keys}, std::move(map.data)};
}

TracedTensor layer_of(const AttentionMap& map, std::size_t layer, std::string name) {
  const std::size_t size = map.heads * map.queries * map.keys;
  const auto from = map.data.begin() + static_cast<std::ptrdiff_t>(layer * size);
  return {std::move(name),
          {map.heads, map.queries, map.keys},
          {from, from + static_cast<std::ptrdiff_t>(size)}};
}

bool TraceRequest::asks_for(std::string_view name) const { return matches_any(names, name); }

bool TraceRequest::asks_for_any(std::string_view name) const {
  return asks_for(name) || (matches_any(gradients, name));
}

bool TraceRequest::touches(std::string_view name) const {
  return asks_for(name) || std::ranges::find(patches, name, &Patch::name) != patches.end();
}

bool matches(std::string_view pattern, std::string_view name) {
  return fits_wildcards(pattern, name, '.');
}

bool matches_any(std::span<const std::string> patterns, std::string_view name) {
  return std::ranges::any_of(patterns,
                             [&](const std::string& pattern) { return matches(pattern, name); });
}

void NamingTracer::enter(std::size_t index) {
  layer_ = index;
  path_.enter(std::to_string(index));
}

NamingTracer::NamingTracer(const TraceRequest& request)
    : request_(request), scores_(*this), weights_(*this) {}

bool NamingTracer::replaces(std::string_view full_name) const {
  return std::ranges::find(request_.patches, full_name, &Patch::name) != request_.patches.end();
}

bool NamingTracer::wants(std::string_view name) const {
  if (!request_.names_any()) return false;
  const std::string full = path_.name(name);
  return request_.asks_for(full) || replaces(full);
}

void NamingTracer::done(std::string_view name, const CompleteRows& rows) {
  std::string full = path_.name(name);
  for (const Patch& patch : request_.patches) {
    if (patch.name != full) continue;
    for (std::size_t i = 0; i < rows.count; ++i) {
      apply_to_row(patch, rows, i, position(rows.of, rows.first + i));
    }
  }
  if (request_.asks_for(full)) keep(std::move(full), rows);
}

MapOutput NamingTracer::map(MapKind kind, std::size_t index, const MapShape& shape) {
  MapOutput map = {.shape = shape, .unseen = unseen(kind)};
  const MapPlace place = {index, shape};
  if (kind == MapKind::weights) map.data = keep_attention(place);
  if (!request_.names_any()) return map;
  std::string name = path_.name(kind == MapKind::scores ? "scores" : "weights");
  if (!map.data && request_.asks_for(name)) map.data = keep_map(name, kind, place);
  if (!replaces(name)) return map;
  PatchedMap& patched = kind == MapKind::scores ? scores_ : weights_;
  patched.begin(std::move(name), index);
  if (!map.data) {
    patched.room.assign(shape.size(), map.unseen);
    map.data = patched.room.data();
  }
  map.patch = &patched;
  return map;
}

void NamingTracer::PatchedMap::begin(std::string name, std::size_t index) {
  name_ = std::move(name);
  index_ = index;
}

bool NamingTracer::PatchedMap::replace(std::size_t head, std::size_t query, std::span<float> row) {
  bool changed = false;
  const std::size_t at = tracer_.query_position(index_, query);
  for (const Patch& patch : tracer_.request_.patches) {
    if (patch.name != name_) continue;
    for (std::size_t key = 0; key < row.size(); ++key) {
      const float* value = find_value(patch, {at, head, tracer_.key_position(index_, key)});
      if (!value || *value == row[key]) continue;
      row[key] = *value;
      changed = true;
    }
  }
  return changed;
}

float unseen(MapKind kind) {
  return kind == MapKind::scores ? -std::numeric_limits<float>::infinity() : 0.0f;
}

SequenceTracer::SequenceTracer(const TraceRequest& request, const Sequences& sequences,
                               std::size_t layers, std::size_t heads)
    : NamingTracer(request), sequences_(sequences), tensors_(sequences.size()) {
  for (std::size_t i = 0; !request.patches.empty() && i < sequences.size(); ++i) {
    for (std::size_t j = 0; j < sequences.length(i); ++j) positions_.push_back(j);
  }
  if (!request.attention) return;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const std::size_t length = sequences.length(i);
    weights_.push_back({.layers = layers, .heads = heads, .queries = length, .keys = length});
  }
}

TracedTensor& SequenceTracer::tensor(std::size_t sequence, const std::string& name,
                                     const CompleteRows& like) {
  std::vector<TracedTensor>& tensors = tensors_[sequence];
  const auto known = std::ranges::find(tensors, name, &TracedTensor::name);
  if (known != tensors.end()) return *known;
  TracedTensor& made = tensors.emplace_back();
  made.name = name;
  std::size_t rows = like.of == RowsOf::table ? like.count : 1;
  if (like.of == RowsOf::tokens) rows = sequences_.length(sequence);
  if (like.of != RowsOf::sequences) made.shape = {rows};
  if (like.heads > 0) made.shape.push_back(like.heads);
  made.shape.push_back(like.heads > 0 ? like.columns / like.heads : like.columns);
  made.data.resize(checked_product("a trace", {rows, like.columns}));
  return made;
}

void SequenceTracer::keep(std::string name, const CompleteRows& rows) {
  const std::size_t end = rows.first + rows.count;
  for (std::size_t s = 0; s < sequences_.size(); ++s) {
    const bool by_token = rows.of == RowsOf::tokens, table = rows.of == RowsOf::table;
    const std::size_t start = by_token ? sequences_.start(s) : table ? 0 : s;
    const std::size_t stop = start + (by_token ? sequences_.length(s) : table ? rows.count : 1);
    if (stop <= rows.first || start >= end) continue;
    std::vector<float>& data = tensor(s, name, rows).data;
    for (std::size_t row = std::max(start, rows.first); row < std::min(stop, end); ++row) {
      std::copy_n(rows.data + (row - rows.first) * rows.stride, rows.columns,
                  data.data() + (row - start) * rows.columns);
    }
  }
}

float* SequenceTracer::keep_map(std::string name, MapKind kind, const MapPlace& place) {
  const auto& [heads, queries, keys] = place.shape;
  const std::size_t size = checked_product("a trace", {heads, queries, keys});
  std::vector<TracedTensor>& tensors = tensors_[place.index];
  tensors.push_back(
      {std::move(name), {heads, queries, keys}, std::vector<float>(size, unseen(kind))});
  return tensors.back().data.data();
}

float* SequenceTracer::keep_attention(const MapPlace& place) {
  return weights_.empty() ? nullptr : weights_[place.index].at(layer(), 0).data();
}

std::vector<TracedTensor> SequenceTracer::take_tensors(std::size_t sequence) {
  std::vector<TracedTensor> tensors = std::move(tensors_[sequence]);
  if (weights_.empty()) return tensors;
  for (std::size_t layer = 0; layer < weights_[sequence].layers; ++layer) {
    std::string name = "encoder.layers." + std::to_string(layer) + ".self_attn.weights";
    if (!request().asks_for(name)) continue;
    tensors.push_back(layer_of(weights_[sequence], layer, std::move(name)));
  }
  return tensors;
}

AttentionMap SequenceTracer::take_attention(std::size_t sequence) {
  return std::move(weights_[sequence]);
}

}  // namespace glassformer
