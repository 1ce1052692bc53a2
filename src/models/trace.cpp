#include "models/trace.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <ranges>

namespace glassformer {

TracedTensor to_tensor(std::string name, AttentionMap map) {
  return {std::move(name), {map.layers, map.heads, map.queries, map.keys}, std::move(map.data)};
}

bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t end = star; end <= name.size(); ++end) {
    if (matches(rest, name.substr(end))) return true;
    if (end < name.size() && name[end] == '.') return false;
  }
  return false;
}

void NamingTracer::enter(std::string_view scope) {
  before_.push_back(path_.size());
  path_.append(scope).append(".");
}

void NamingTracer::enter(std::size_t index) {
  layer_ = index;
  enter(std::to_string(index));
}

void NamingTracer::leave() {
  path_.resize(before_.back());
  before_.pop_back();
}

bool NamingTracer::asked(std::string_view full_name) const {
  return std::ranges::any_of(
      request_.names, [&](const std::string& pattern) { return matches(pattern, full_name); });
}

AttentionSite NamingTracer::site() const {
  if (path_.starts_with("encoder.")) return AttentionSite::encoder;
  return path_.ends_with("encoder_attn.") ? AttentionSite::cross : AttentionSite::decoder;
}

bool NamingTracer::ablates() const {
  return std::ranges::any_of(request_.ablate, [&](const HeadIndex& head) {
    return head.layer == layer_ && head.attention == site();
  });
}

bool NamingTracer::wants(std::string_view name) const {
  if (name == "context" && ablates()) return true;
  return !request_.names.empty() && asked(full_name(name));
}

void NamingTracer::see(std::string_view name, const CompleteRows& rows) {
  if (name == "context") {
    const std::size_t d_head = rows.columns / rows.heads;
    for (const HeadIndex& head : request_.ablate) {
      if (head.layer != layer_ || head.attention != site()) continue;
      for (std::size_t i = 0; i < rows.count; ++i) {
        std::fill_n(rows.data + i * rows.stride + head.head * d_head, d_head, 0.0f);
      }
    }
  }
  std::string full = full_name(name);
  if (asked(full)) keep(std::move(full), rows);
}

void RowRecorder::keep(std::string name, const CompleteRows& rows, std::size_t base,
                       std::size_t total) {
  auto known = std::ranges::find(all_, name, &TracedRows::name);
  if (known == all_.end()) {
    all_.push_back({std::move(name), rows.heads, rows.columns, {}});
    known = all_.end() - 1;
  }
  known->data.resize(checked_product("a trace", {total, rows.columns}));
  for (std::size_t i = 0; i < rows.count; ++i) {
    std::copy_n(rows.data + i * rows.stride, rows.columns,
                known->data.data() + (base + rows.first + i) * rows.columns);
  }
}

SequenceTracer::SequenceTracer(const TraceRequest& request, const Sequences& sequences,
                               std::size_t layers, std::size_t heads)
    : NamingTracer(request), sequences_(sequences) {
  const auto make = [&](std::vector<AttentionMap>& maps, float fill) {
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      maps.push_back({.layers = layers,
                      .heads = heads,
                      .queries = sequences.length(i),
                      .keys = sequences.length(i)});
      if (fill != 0) std::ranges::fill(maps.back().data, fill);
    }
  };
  if (request.attention || asks_for_maps("weights", layers)) make(weights_, 0.0f);
  if (asks_for_maps("scores", layers)) make(scores_, -std::numeric_limits<float>::infinity());
}

bool SequenceTracer::asks_for_maps(std::string_view name, std::size_t layers) const {
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const std::string block = "encoder.layers." + std::to_string(layer) + ".self_attn.";
    if (asked(block + std::string(name))) return true;
  }
  return false;
}

std::span<float> SequenceTracer::map(std::string_view name, std::size_t sequence,
                                     std::size_t head) {
  std::vector<AttentionMap>& maps = name == "weights" ? weights_ : scores_;
  if (maps.empty()) return {};
  return maps[sequence].at(layer(), head);
}

AttentionMap SequenceTracer::take_attention(std::size_t sequence) {
  return std::move(weights_[sequence]);
}

void SequenceTracer::keep(std::string name, const CompleteRows& rows) {
  const bool by_token = rows.of == RowsOf::tokens;
  (by_token ? tokens_ : whole_)
      .keep(std::move(name), rows, 0, by_token ? sequences_.tokens() : sequences_.size());
}

std::vector<TracedTensor> SequenceTracer::tensors(std::size_t sequence) const {
  const std::size_t start = sequences_.start(sequence);
  const auto rows = std::views::iota(start, start + sequences_.length(sequence));
  const auto own = std::views::iota(sequence, sequence + 1);
  std::vector<TracedTensor> tensors;
  for (const TracedRows& kept : tokens_.all()) tensors.push_back(kept.gather(rows));
  for (const TracedRows& kept : whole_.all()) {
    tensors.push_back(kept.gather(own));
    tensors.back().shape.erase(tensors.back().shape.begin());
  }
  if (!weights_.empty()) {
    append_maps(request(), "encoder", "self_attn.weights", weights_[sequence], tensors);
  }
  if (!scores_.empty()) {
    append_maps(request(), "encoder", "self_attn.scores", scores_[sequence], tensors);
  }
  return tensors;
}

void append_maps(const TraceRequest& request, const std::string& stack, const std::string& name,
                 const AttentionMap& map, std::vector<TracedTensor>& tensors) {
  const std::size_t size = map.heads * map.queries * map.keys;
  for (std::size_t layer = 0; layer < map.layers; ++layer) {
    const std::string full = stack + ".layers." + std::to_string(layer) + "." + name;
    const bool asked = std::ranges::any_of(
        request.names, [&](const std::string& pattern) { return matches(pattern, full); });
    if (!asked) continue;
    const auto from = map.data.begin() + static_cast<std::ptrdiff_t>(layer * size);
    tensors.push_back({full,
                       {map.heads, map.queries, map.keys},
                       {from, from + static_cast<std::ptrdiff_t>(size)}});
  }
}

}  // namespace glassformer
