#include "explain/interventions/row_edits.hpp"

#include <algorithm>

namespace glassformer {

void RowEditor::done(std::string_view, const CompleteRows& rows) {
  for (const RowEdit& edit : edits_) {
    const std::size_t start = sequences_.start(edit.sequence);
    const std::size_t first = start + edit.token.value_or(0);
    const std::size_t end = edit.token ? first + 1 : start + sequences_.length(edit.sequence);
    const std::size_t columns = edit.head ? rows.columns / rows.heads : rows.columns;
    // A tensor may come in several blocks of rows.
    const std::size_t stop = std::min(end, rows.first + rows.count);
    for (std::size_t row = std::max(first, rows.first); row < stop; ++row) {
      float* const to =
          rows.data + (row - rows.first) * rows.stride + edit.head.value_or(0) * columns;
      if (edit.values) {
        std::copy_n(edit.values, columns, to);
      } else {
        std::fill_n(to, columns, 0.0f);
      }
    }
  }
}

}  // namespace glassformer
