#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "run/segments.hpp"
#include "run/trace/trace.hpp"

namespace glassformer {

/// The traced rows of one name in a decoding: one row per node, or one per token of the sources.
struct TracedRows {
  std::string name;
  std::size_t heads, columns;
  std::vector<float> data;  ///< [rows, columns]

  /// Returns these rows as a tensor: [count, columns], or [count, heads, columns / heads].
  template <class Rows>
  TracedTensor gather(const Rows& rows) const {
    TracedTensor tensor = {name, {rows.size(), columns}, {}};
    if (heads > 0) tensor.shape = {rows.size(), heads, columns / heads};
    tensor.data.reserve(rows.size() * columns);
    for (const std::size_t row : rows) {
      const auto from = data.begin() + static_cast<std::ptrdiff_t>(row * columns);
      tensor.data.insert(tensor.data.end(), from, from + static_cast<std::ptrdiff_t>(columns));
    }
    return tensor;
  }
};

/// The traced scores or weights of one name in a decoding.
struct TracedMaps {
  std::string name;
  MapKind kind;
  bool cross;                       ///< whether attention is over the source
  std::vector<std::size_t> starts;  ///< per node
  std::vector<float> data;          ///< per node [H, keys]
};

/// Traced rows by name, in the order in which the names first occurred.
class RowRecorder {
 public:
  /// Copies rows to their positions after the first `base` of `total` rows.
  void keep(std::string name, const CompleteRows& rows, std::size_t base, std::size_t total);
  const std::vector<TracedRows>& all() const { return all_; }

 private:
  std::vector<TracedRows> all_;
};

/// The rows of one step of a decoding, or those of its sources.
struct StepRows {
  std::size_t base, count;                 ///< number of rows before these; number of these
  std::span<const std::size_t> positions;  ///< position of each row in its sequence
  std::span<const RowSegment> cross = {};  ///< the source rows that each row attends to
  std::span<const std::size_t> source_positions = {};  ///< position of each row of the sources
};

/// The buffers for a decoding's traces.
struct StepRecord {
  RowRecorder& rows;
  std::vector<TracedMaps>* maps;  ///< null for the sources, which have no maps
  /// The buffer for a row's weights in one layer, if all of them are asked for.
  std::function<float*(std::size_t row, std::size_t layer, bool cross)> attention;
};

/// Traces one step of a decoding, or the sources' keys and values.
class StepTracer final : public NamingTracer {
 public:
  /// All arguments must outlive this object.
  StepTracer(const TraceRequest& request, const StepRows& rows, const StepRecord& record)
      : NamingTracer(request), rows_(rows), record_(record) {}

 protected:
  void keep(std::string name, const CompleteRows& rows) override {
    record_.rows.keep(std::move(name), rows, rows_.base, rows_.base + rows_.count);
  }
  float* keep_map(std::string name, MapKind kind, const MapPlace& place) override;
  float* keep_attention(const MapPlace& place) override {
    return record_.attention ? record_.attention(place.index, layer(), reads_sources()) : nullptr;
  }
  std::size_t position(RowsOf, std::size_t row) const override { return rows_.positions[row]; }
  std::size_t query_position(std::size_t index, std::size_t) const override {
    return rows_.positions[index];
  }
  std::size_t key_position(std::size_t index, std::size_t key) const override {
    return reads_sources() ? rows_.source_positions[rows_.cross[index].keys[key]] : key;
  }

 private:
  bool reads_sources() const { return path().ends_with("encoder_attn."); }

  StepRows rows_;
  StepRecord record_;
};

}  // namespace glassformer
