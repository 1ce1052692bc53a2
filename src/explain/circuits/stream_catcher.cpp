#include "explain/circuits/stream_catcher.hpp"

#include <algorithm>

namespace glassformer {

void StreamCatcher::done(std::string_view name, const CompleteRows& rows) {
  const std::string full = path_.name(name);
  if (const auto change = changes_.find(full); change != changes_.end()) change->second(rows);
  const auto found = caught_.find(full);
  if (found == caught_.end()) return;
  CaughtRows& caught = found->second;
  caught.columns = rows.columns;
  caught.data.resize((rows.first + rows.count) * rows.columns);
  for (std::size_t i = 0; i < rows.count; ++i) {
    std::copy_n(rows.data + i * rows.stride, rows.columns,
                caught.data.begin() + static_cast<std::ptrdiff_t>((rows.first + i) * rows.columns));
  }
}

}  // namespace glassformer
