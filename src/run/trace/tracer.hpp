#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "run/trace/map_output.hpp"

namespace glassformer {

/// The unit of the rows of a tensor: the tokens of a run, its sequences, or the entries of a table
/// that all sequences share.
enum class RowsOf { tokens, sequences, table };

/// A tensor that a layer has just completed: `count` rows from the run's row `first` on, `columns`
/// floats each, `stride` floats apart. A tracer may read them, or replace them before anything else
/// reads them.
struct CompleteRows {
  float* data;
  std::size_t first, count, columns, stride;
  std::size_t heads = 0;  ///< a row is [heads, columns / heads]; 0: it has no heads
  RowsOf of = RowsOf::tokens;
};

/// Copies rows to their places in a tensor of a run [N, columns], which grows as needed.
inline void copy_rows(const CompleteRows& rows, std::vector<float>& to) {
  to.resize((rows.first + rows.count) * rows.columns);
  for (std::size_t i = 0; i < rows.count; ++i) {
    std::copy_n(rows.data + i * rows.stride, rows.columns,
                to.begin() + static_cast<std::ptrdiff_t>((rows.first + i) * rows.columns));
  }
}

/// Observes the tensors of a run by their names, or replaces them. Model::tensors lists the names.
class Tracer {
 public:
  virtual ~Tracer() = default;
  /// Until `leave`, the names of tensors get "<scope>." in front.
  virtual void enter(std::string_view scope) = 0;
  virtual void enter(std::size_t index) = 0;
  virtual void leave() = 0;
  /// Whether the tensor of this name is to be observed or replaced.
  virtual bool wants(std::string_view name) const = 0;
  virtual void done(std::string_view name, const CompleteRows& rows) = 0;
  /// A second name of the tensor that was completed last.
  virtual void renamed(std::string_view name, const CompleteRows& rows) { done(name, rows); }
  /// Returns the buffer for the scores or weights of segment `index` of an attention.
  virtual MapOutput map(MapKind kind, std::size_t index, const MapShape& shape) = 0;
  /// The same for their gradients. They are set when the run's tape is rewound.
  virtual MapOutput gradient_map(MapKind, std::size_t, const MapShape&) { return {}; }
};

}  // namespace glassformer
