#include "explain/circuits/stream_catcher.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace glassformer {

const StreamCatcher::Entry* StreamCatcher::find(const std::string& name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? nullptr : &*found;
}

StreamCatcher::Entry& StreamCatcher::entry(const std::string& name) {
  if (!find(name)) entries_.push_back({.name = name});
  return *std::ranges::find(entries_, name, &Entry::name);
}

const CaughtRows& StreamCatcher::of(const std::string& name) const {
  const Entry* const found = find(name);
  if (!found || found->caught.data.empty()) {
    throw_error(ErrorCode::internal, {"circuit: no tensor {}", {name}});
  }
  return found->caught;
}

void StreamCatcher::done(std::string_view name, const CompleteRows& rows) {
  Entry& of = entry(full_name(name));
  if (of.change) of.change(rows);
  if (!of.copies) return;
  of.caught.columns = rows.columns;
  copy_rows(rows, of.caught.data);
}

}  // namespace glassformer
